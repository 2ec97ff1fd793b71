package netstack

import (
	"encoding/binary"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// looksPerYield is after how many looks without success the loop lets others run: they
// take about 4 us.
const looksPerYield = 16

// poll waits for something to do.
func (l *loop) poll() {
	if len(l.reading) > 0 || len(l.dirty) > 0 {
		l.handle(pollNow(l.epfd, l.events[:]))
		return
	}
	began := l.stack.opts.Clock.Now()
	if l.spin(began) {
		l.spinner.idled(l.stack.opts.Clock.Now() - began)
		return
	}
	if l.stopping && l.open == 0 {
		return
	}
	l.asleep.Store(true)
	if l.mail.empty() {
		l.stack.stats.sleeps.Add(1)
		n, err := unix.EpollWait(l.epfd, l.events[:], -1)
		errno, _ := err.(unix.Errno)
		l.awake()
		l.spinner.idled(l.stack.opts.Clock.Now() - began)
		l.handle(n, errno)
		return
	}
	l.awake()
}

// spin looks for something to do for a while, and reports whether there is. Others may
// have the processor now and then.
func (l *loop) spin(began time.Duration) bool {
	limit := l.spinner.limit()
	if fixed := l.stack.opts.tuning.spin; fixed > 0 {
		limit = fixed
	}
	for look := 1; ; look++ {
		if n, errno := pollNow(l.epfd, l.events[:]); n > 0 || !l.mail.empty() {
			l.handle(n, errno)
			return true
		}
		if l.stack.opts.Clock.Now()-began >= limit {
			return false
		}
		if look%looksPerYield == 0 && l.stack.opts.tuning.yield {
			runtime.Gosched()
		}
	}
}

// awake ends the time in which others write to evfd.
func (l *loop) awake() {
	if !l.asleep.CompareAndSwap(true, false) {
		l.wakes++ // somebody is on the way
	}
}

// woken takes the writes that have arrived.
func (l *loop) woken() {
	var count [8]byte
	if n, err := unix.Read(l.evfd, count[:]); err == nil && n == len(count) {
		l.wakes -= binary.NativeEndian.Uint64(count[:])
	}
}

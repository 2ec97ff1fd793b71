package netstack

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

func (l *loop) post(w work) {
	l.mail.post(w)
	l.wake()
}

func (l *loop) queue(w work) { l.mail.post(w) }

// wake makes the loop look at the mailbox if it may not do so by itself.
func (l *loop) wake() {
	if l.asleep.Load() && l.asleep.CompareAndSwap(true, false) {
		var one [8]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		_, _ = unix.Write(l.evfd, one[:]) // cannot fail: the counter has 64 bits
	}
}

// serve takes the loop's turn if that rests: it does the posted work and writes, once for
// each connection. Nothing in it waits. So a subtask that has a little to say says it
// itself, when a loop that would have to be woken, or to be scheduled, has nothing else to do.
//
// What it does not finish is for the loop. Nor does it know, without the lock, whether who
// has it has looked at the mailbox already: it may be a subtask, and the loop asleep.
func (l *loop) serve(here bool) {
	done := false
	if here && l.turn.TryLock() {
		open := l.open
		l.mail.run()
		l.writeAll()
		done = len(l.dirty) == 0 && l.open == open
		l.turn.Unlock()
	}
	if !done {
		l.wake()
	}
}

// rest lets others run, and have the turn.
func (l *loop) rest() {
	l.turn.Unlock()
	runtime.Gosched()
	l.turn.Lock()
}

// sleep waits for events in the kernel. Others may have the turn meanwhile.
func (l *loop) sleep() (n int, errno unix.Errno) {
	l.turn.Unlock()
	n, err := unix.EpollWait(l.epfd, l.events[:], -1)
	l.turn.Lock()
	errno, _ = err.(unix.Errno)
	return n, errno
}

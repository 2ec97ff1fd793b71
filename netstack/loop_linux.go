package netstack

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var defaultTuning = tuning{set: true, yield: true}

// loop is the epoll driver: one goroutine that owns the sockets, edge-triggered.
//
// A turn does the posted work, reads each readable connection once, hands over
// what came, writes each connection that has something to say once or twice, and
// looks for events; it sleeps in the kernel only when there is nothing left of
// all that.
//
// How it runs was measured with BenchmarkExchange: two processes over loopback on
// two CPUs, 32 KiB buffers, throughput and CPU time per byte as multiples of a loop
// of 1 MiB writes and reads, medians of 5 to 9 rounds in turn (differences below
// 0.05 mean nothing):
//
//	1 channel, window 128                        throughput   CPU
//	thread of its own (LockOSThread)                0.79      1.22
//	  and runtime.Gosched after each round          0.64      1.27
//	no thread of its own, no Gosched                0.75      1.17
//	Gosched after a round that did something        0.91      1.11
//	  and 20 looks before it sleeps                 0.85-0.87 1.3   (as 16 x 8: level)
//	  and GOMAXPROCS=1                              1.02      1.19
//	16 channels x 8 credits, 16 sources, 16 sinks
//	thread of its own                               0.71      1.62
//	Gosched, 2 looks                                0.91      1.53
//	Gosched, 20 looks                               0.83-0.87 1.39-1.57
//	  only when idle, or every 4 or 16 rounds       0.84,0.81 1.48,1.60
//	  and GOMAXPROCS=1                              1.05      1.21
//
// Yielding runs the subtasks that a round woke on the same thread, with the data
// still in its cache; a locked thread would have to hand its P to another, through a
// futex. What is left of the cost at GOMAXPROCS=2 is threads that the scheduler
// wakes to help: two processes that share two CPUs do best with one P each.
//
// A subtask that computes without a pause keeps its P for 10 ms. The loop needs one
// to go on when it wakes, so latency wants GOMAXPROCS above the number of such
// subtasks: round trips of 64 bytes, p50/p99, took 44/150 us idle; with one busy
// subtask per process 33/1,250 us at GOMAXPROCS=2; with two of them 24/60 ms at 2 and
// 45 us/14 ms at 3, and 66/105 ms and 0.36/19 ms with a thread of its own.
//
// For how long it looks before it sleeps is the spinner's choice. On a machine that others
// used, round trips took 21 us (p50) with 20 looks, 12 us with up to 50 us of them and
// 120 us where both ends of a connection looked for that long on the same CPU. With a computing
// goroutine on each, p99 was 7.5, 6.3, 3.5 and 2.2 ms with one look and with 2, 5 and up to 50 us:
// a thread that sleeps has to wait for its turn, which the kernel (EEVDF, 250 Hz) may look at
// once in 4 ms only.
type loop struct {
	// constant once started
	stack *Stack
	epfd  int
	evfd  int     // wakes the loop
	socks []*sock // by worker

	mail mailbox

	// loop goroutine
	reading  []*sock // may have bytes
	dirty    []*conn // may have something to write
	open     int     // connections
	stopping bool
	vec      [][]byte
	iov      iovecs
	events   [64]unix.EpollEvent
	spinner  spinner
	wakes    uint64 // eventfd writes that are under way

	// atomic
	asleep atomic.Bool // whoever sets it to false writes to evfd
}

// sock is a connection's socket.
type sock struct {
	conn     *conn
	fd       int
	reading  bool // in loop.reading
	hangup   bool // the peer has closed: read to the end
	writable bool
	shut     bool // our side is closed
}

func newLoop(s *Stack) driver { return &loop{stack: s, socks: make([]*sock, len(s.opts.Peers))} }

func (l *loop) post(w work) {
	l.mail.post(w)
	if l.asleep.Load() && l.asleep.CompareAndSwap(true, false) {
		var one [8]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		_, _ = unix.Write(l.evfd, one[:]) // cannot fail: the counter has 64 bits
	}
}

func (l *loop) kick(c *conn) {
	if !c.kicked {
		c.kicked = true
		l.dirty = append(l.dirty, c)
	}
}

func (l *loop) close() { l.post(loopClose{l}) }
func (l *loop) abort() { l.post(loopAbort{l}) }

type loopClose struct{ l *loop }

func (w loopClose) work() {
	w.l.stopping = true
	closeWork{w.l.stack}.work()
}

type loopAbort struct{ l *loop }

func (w loopAbort) work() {
	for _, s := range w.l.socks {
		if s != nil {
			w.l.drop(s, nil)
		}
	}
}

func (l *loop) start(socks []net.Conn) (err error) {
	if l.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		closeAll(socks)
		return err
	}
	if l.evfd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		closeAll(socks)
		_ = unix.Close(l.epfd)
		return err
	}
	err = l.register(l.evfd, -1, unix.EPOLLIN)
	for peer, nc := range socks {
		if nc != nil && err == nil {
			socks[peer] = nil
			err = l.adopt(peer, nc)
		}
	}
	if err != nil {
		closeAll(socks)
		loopAbort{l}.work()
		l.closeFiles()
		return err
	}
	l.stack.wg.Go(l.run)
	return nil
}

func closeAll(socks []net.Conn) {
	for _, nc := range socks {
		if nc != nil {
			_ = nc.Close()
		}
	}
}

// adopt takes a connection.
func (l *loop) adopt(peer int, nc net.Conn) error {
	tune(nc)
	fd, err := steal(nc)
	if err != nil {
		return err
	}
	s := &sock{conn: l.stack.conns[peer], fd: fd, writable: true}
	s.conn.flow = cookie(fd)
	l.socks[peer] = s
	l.open++
	l.readable(s)
	return l.register(fd, peer, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP)
}

func (l *loop) register(fd, id int, events uint32) error {
	return unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events | unix.EPOLLET, Fd: int32(id)})
}

func (l *loop) run() {
	if l.stack.opts.tuning.lock {
		runtime.LockOSThread() // ends with the goroutine
	}
	for !l.stopping || l.open > 0 {
		worked := l.mail.run()
		worked = l.readAll() || worked
		l.stack.flush()
		worked = l.mail.run() || worked // credit that came makes channels ready
		worked = l.writeAll() || worked
		l.stack.stats.rounds.Add(1)
		if worked && l.stack.opts.tuning.yield {
			runtime.Gosched()
		}
		l.poll()
	}
	l.stack.flush()
	l.closeFiles()
}

// closeFiles waits for those who are about to write to evfd, for its number may
// be another file's the moment it is closed.
func (l *loop) closeFiles() {
	for l.wakes > 0 {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(l.evfd), Events: unix.POLLIN}}, -1)
		l.woken()
	}
	_ = unix.Close(l.evfd)
	_ = unix.Close(l.epfd)
}

func (l *loop) readable(s *sock) {
	if !s.reading {
		s.reading = true
		l.reading = append(l.reading, s)
	}
}

// readAll reads each readable connection once.
func (l *loop) readAll() (worked bool) {
	n := len(l.reading)
	for _, s := range l.reading[:n] {
		s.reading = false
		if s.conn.closed {
			continue
		}
		worked = true
		if again := l.read(s); again && !s.conn.closed {
			l.readable(s)
		}
	}
	l.reading = append(l.reading[:0], l.reading[n:]...)
	return worked
}

// read reports whether there may be more.
func (l *loop) read(s *sock) (again bool) {
	l.vec = s.conn.in.vectors(l.vec[:0], maxPieces+1)
	l.iov.set(l.vec)
	n, errno := l.iov.call(unix.SYS_READV, s.fd, l.stack.opts.tuning.block)
	switch {
	case errno == unix.EINTR:
		return true
	case errno == unix.EAGAIN:
		return false
	case errno != 0:
		l.drop(s, s.conn.lost(errno))
		return false
	case n == 0:
		l.drop(s, s.conn.lost(io.EOF))
		return false
	}
	l.stack.stats.reads.Add(1)
	l.stack.stats.bytesIn.Add(uint64(n))
	if err := s.conn.in.advance(n); err != nil {
		l.drop(s, err)
		return false
	}
	return n == l.iov.bytes || s.hangup
}

// writeAll writes for each connection that has something to write.
func (l *loop) writeAll() (worked bool) {
	n := len(l.dirty)
	for _, c := range l.dirty[:n] {
		c.kicked = false
		s := l.socks[c.peer]
		if c.closed || !s.writable {
			continue // the socket's own event kicks again
		}
		wrote, again := l.write(s)
		worked = worked || wrote
		if again && !c.closed {
			l.kick(c)
		}
	}
	l.dirty = append(l.dirty[:0], l.dirty[n:]...)
	return worked
}

// write reports whether it wrote, and whether it has to be called again.
func (l *loop) write(s *sock) (wrote, again bool) {
	c := s.conn
	c.out.collect()
	l.vec = c.out.vectors(l.vec[:0])
	if len(l.vec) == 0 {
		l.leave(s)
		return false, false
	}
	l.iov.set(l.vec)
	c.out.begin()
	n, errno := l.iov.call(unix.SYS_WRITEV, s.fd, l.stack.opts.tuning.block)
	switch {
	case errno == unix.EINTR:
		return false, true
	case errno == unix.EAGAIN:
		s.writable = false
		return false, false
	case errno != 0:
		l.drop(s, c.lost(errno))
		return false, false
	}
	l.stack.stats.writes.Add(1)
	l.stack.stats.bytesOut.Add(uint64(n))
	c.out.advance(n)
	s.writable = n == l.iov.bytes // else the kernel reports when there is room again
	return true, s.writable
}

// leave closes our side when both ends have said goodbye; the connection goes
// when the peer's side is closed too, so that neither resets the other's last words.
func (l *loop) leave(s *sock) {
	if s.conn.done() && !s.shut {
		s.shut = true
		_ = unix.Shutdown(s.fd, unix.SHUT_WR)
	}
}

// drop ends a connection. err is nil when that is as it should be.
func (l *loop) drop(s *sock, err error) {
	c := s.conn
	if c.closed {
		return
	}
	_ = unix.Close(s.fd)
	l.open--
	c.release()
	if err != nil {
		l.stack.failed(c, err)
	}
}

func (l *loop) handle(n int, errno unix.Errno) {
	if errno != 0 {
		return // EINTR: the next turn looks again
	}
	for i := range l.events[:n] {
		ev := &l.events[i]
		if ev.Fd < 0 {
			l.woken()
			continue
		}
		s := l.socks[ev.Fd]
		if s.conn.closed {
			continue
		}
		if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			s.hangup = s.hangup || ev.Events&^(unix.EPOLLIN|unix.EPOLLOUT) != 0
			l.readable(s)
		}
		if ev.Events&unix.EPOLLOUT != 0 {
			s.writable = true
			l.kick(s.conn)
		}
	}
}

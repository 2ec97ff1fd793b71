package netstack

import "time"

import "net"

// driver runs the protocol of all connections of a Stack and moves the bytes. One
// is an epoll loop in one goroutine (Linux, plain text); the other has a reader
// and a writer goroutine per connection (TLS, other systems).
type driver interface {
	// post has work done where the protocol runs. Any goroutine.
	post(w work)
	// kick says that c may have something to write. Called where the protocol runs.
	kick(c *conn)
	// start takes the connections, by worker, and begins.
	start(socks []net.Conn) error
	// close begins a graceful end, abort a hard one. Any goroutine.
	close()
	abort()
}

// tuning is what measurements vary; the driver's documentation has the figures.
type tuning struct {
	set   bool
	lock  bool          // loop: a thread of its own
	yield bool          // loop: let woken subtasks run after a round that did something
	block bool          // loop: tell the scheduler about system calls that cannot block, too
	spin  time.Duration // loop: for how long it looks at the sockets before it sleeps; 0: as its spinner says
}

// closeWork begins a graceful end of all connections.
type closeWork struct{ s *Stack }

func (w closeWork) work() {
	for _, c := range w.s.conns {
		if c != nil && !c.closed {
			c.closing = true
			c.kick()
		}
	}
}

func newDriver(s *Stack) driver {
	if s.opts.TLS == nil && !s.opts.ForceGoroutines {
		if d := newLoop(s); d != nil {
			return d
		}
	}
	return newGoroutines(s)
}

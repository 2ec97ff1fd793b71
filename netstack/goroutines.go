package netstack

import (
	"crypto/tls"
	"net"
	"sync"
)

// goroutines is the portable driver: a reader and a writer per connection on
// net.Conn, and one more, the shell, for work that subtasks post. The protocol
// runs under mu, never while anybody reads or writes.
type goroutines struct {
	// constant once started
	stack *Stack
	socks []*duplex // by worker

	mail  mailbox
	shell *Parker

	mu struct {
		sync.Mutex
		open     int // connections whose goroutines run
		stopping bool
	}
}

// duplex is a connection and its two goroutines.
type duplex struct {
	// constant
	driver *goroutines
	conn   *conn
	nc     net.Conn
	writer *Parker

	running int // under driver.mu: goroutines that may still use the buffers

	vec net.Buffers // writer goroutine
}

func newGoroutines(s *Stack) *goroutines {
	return &goroutines{stack: s, socks: make([]*duplex, len(s.opts.Peers)), shell: NewParker()}
}

func (g *goroutines) post(w work) {
	g.mail.post(w)
	g.shell.Wake()
}

func (g *goroutines) kick(c *conn) {
	if d := g.socks[c.peer]; d != nil {
		d.writer.Wake()
	}
}

func (g *goroutines) close() { g.post(goroutinesClose{g}) }
func (g *goroutines) abort() { g.post(goroutinesAbort{g}) }

type goroutinesClose struct{ g *goroutines }

func (w goroutinesClose) work() {
	w.g.mu.stopping = true
	closeWork{w.g.stack}.work()
}

type goroutinesAbort struct{ g *goroutines }

func (w goroutinesAbort) work() {
	for _, d := range w.g.socks {
		if d != nil {
			d.drop(nil)
		}
	}
}

func (g *goroutines) start(socks []net.Conn) error {
	for peer, nc := range socks {
		if nc == nil {
			continue
		}
		d := &duplex{driver: g, conn: g.stack.conns[peer], nc: nc, writer: NewParker(), running: 2}
		if tc, ok := nc.(*tls.Conn); ok {
			nc, d.conn.opaque = tc.NetConn(), true
		}
		tune(nc)
		d.conn.flow = cookieOf(nc)
		d.writer.Wake() // the first credit waits
		g.socks[peer] = d
		g.mu.open++
	}
	for _, d := range g.socks {
		if d != nil {
			g.stack.wg.Go(d.read)
			g.stack.wg.Go(d.write)
		}
	}
	g.stack.wg.Go(g.run)
	return nil
}

// run is the shell.
func (g *goroutines) run() {
	for g.turn() {
		g.shell.Park(nil)
	}
}

// turn does posted work and reports whether there can be more.
func (g *goroutines) turn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.mail.run() {
	}
	g.stack.stats.rounds.Add(1)
	return !g.mu.stopping || g.mu.open > 0
}

func (d *duplex) read() {
	defer d.exit()
	var vec [1][]byte
	for d.lend(vec[:0]) {
		n, err := d.nc.Read(vec[0])
		if !d.took(n, err) {
			return
		}
	}
}

// lend fills dst with memory to read into.
func (d *duplex) lend(dst [][]byte) bool {
	d.driver.mu.Lock()
	defer d.driver.mu.Unlock()
	if d.conn.closed {
		return false
	}
	d.conn.in.vectors(dst, 1)
	return true
}

// took takes what was read.
func (d *duplex) took(n int, err error) bool {
	d.driver.mu.Lock()
	defer d.driver.mu.Unlock()
	if d.conn.closed {
		return false
	}
	stack := d.driver.stack
	if n > 0 {
		stack.stats.reads.Add(1)
		stack.stats.bytesIn.Add(uint64(n))
		if bad := d.conn.in.advance(n); bad != nil {
			stack.flush()
			d.drop(bad)
			return false
		}
		stack.flush()
	}
	if err != nil {
		d.drop(d.conn.lost(err))
		return false
	}
	return true
}

func (d *duplex) write() {
	defer d.exit()
	for d.collect() {
		if len(d.vec) == 0 {
			d.writer.Park(nil)
			continue
		}
		batch := d.vec
		n, err := batch.WriteTo(d.nc)
		clear(d.vec)
		d.wrote(int(n), err)
	}
}

// collect fills vec with what is to be written.
func (d *duplex) collect() bool {
	d.driver.mu.Lock()
	defer d.driver.mu.Unlock()
	c := d.conn
	if c.closed {
		return false
	}
	c.out.collect()
	d.vec = c.out.vectors(d.vec[:0])
	c.out.begin()
	if c.done() {
		d.leave()
		return false
	}
	return true
}

// leave closes our side: both ends have said goodbye.
func (d *duplex) leave() {
	if half, ok := d.nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func (d *duplex) wrote(n int, err error) {
	d.driver.mu.Lock()
	defer d.driver.mu.Unlock()
	d.driver.stack.stats.writes.Add(1)
	d.driver.stack.stats.bytesOut.Add(uint64(n))
	if d.conn.closed {
		return
	}
	d.conn.out.advance(n)
	if err != nil {
		d.drop(d.conn.lost(err))
	}
}

// drop ends the connection; its buffers go back when both goroutines are gone.
// Caller holds mu.
func (d *duplex) drop(err error) {
	if d.conn.closed {
		return
	}
	d.conn.closed = true
	_ = d.nc.Close()
	d.writer.Wake()
	if err != nil {
		d.driver.stack.failed(d.conn, err)
	}
}

func (d *duplex) exit() {
	d.driver.mu.Lock()
	defer d.driver.mu.Unlock()
	if d.running--; d.running > 0 {
		return
	}
	d.conn.release()
	d.driver.mu.open--
	d.driver.shell.Wake()
}

package netstack

import "github.com/overtake-stream/overtake/bufferpool"

// gateIn serves the remote channels of one gate: it has the pool that their
// buffers come from, and shares the floating ones among them in turn.
type gateIn struct {
	// constant
	stack    *Stack
	gate     *Gate
	channels int // remote ones
	pool     *bufferpool.Pool

	// protocol
	parked   []bufferpool.Buffer // set aside for any channel's data, LIFO; each channel counts its own
	floating int                 // buffers that channels have beyond their own
	starved  ring[*remoteIn]     // channels that lack buffers of their own
	hungry   ring[*remoteIn]     // channels that want floating ones, in turn
	waiting  bool                // the pool will wake
	staged   []arrival           // to be delivered at the end of the read round
}

// poolOptions promises each channel its own buffers. Without any, one floating
// buffer is promised, so that the gate makes progress however scarce memory is.
func (g *gateIn) poolOptions() bufferpool.PoolOptions {
	own := g.reserved()
	return bufferpool.PoolOptions{
		Name: g.gate.opts.Name + " in",
		Min:  max(1, own),
		Max:  max(1, own) + g.gate.opts.Floating,
	}
}

func (g *gateIn) reserved() int { return g.channels * g.gate.opts.Exclusive }

// feed parks as many buffers for a channel as it wants and can have.
func (g *gateIn) feed(r *remoteIn) {
	if r.conn.closed {
		return
	}
	g.count(r)
	if !r.starved && !g.feedOwn(r) {
		r.starved = true
		g.starved.push(r)
		g.await()
	}
	if !r.hungry && r.recv.WantsFloating() > 0 {
		r.hungry = true
		g.hungry.push(r)
	}
	if g.hungry.len() > 0 {
		g.serve()
	}
}

// feedOwn parks what is missing of a channel's own buffers.
func (g *gateIn) feedOwn(r *remoteIn) bool {
	for r.recv.WantsExclusive() > 0 {
		if !g.park(r) {
			return false
		}
	}
	return true
}

func (g *gateIn) park(r *remoteIn) bool {
	buf, ok := g.pool.Get()
	if !ok {
		return false
	}
	r.park(buf)
	g.count(r)
	return true
}

// unpark returns the parked buffer that was used last, and so is the likeliest in the
// cache: which channel it was set aside for does not matter, only how many were.
func (g *gateIn) unpark() bufferpool.Buffer {
	last := len(g.parked) - 1
	buf := g.parked[last]
	g.parked = g.parked[:last]
	return buf
}

// count keeps the sum of floating buffers.
func (g *gateIn) count(r *remoteIn) {
	now := r.recv.Floating()
	g.floating += now - r.floating
	r.floating = now
}

// serve gives what there is to those who wait, first to those who lack buffers
// of their own, then a floating one in turn.
func (g *gateIn) serve() {
	for g.starved.len() > 0 {
		r := *g.starved.at(0)
		if !r.conn.closed && !g.feedOwn(r) {
			g.await()
			return
		}
		r.starved = false
		g.starved.pop()
	}
	for g.hungry.len() > 0 && g.floating < g.pool.Limit()-g.reserved() {
		r := *g.hungry.at(0)
		wants := !r.conn.closed && r.recv.WantsFloating() > 0
		if wants && !g.park(r) {
			g.await()
			return
		}
		g.hungry.pop()
		r.hungry = wants && r.recv.WantsFloating() > 0
		if r.hungry {
			g.hungry.push(r)
		}
	}
}

// await asks the pool for a wake-up, or tries again soon when a buffer has come
// back meanwhile.
func (g *gateIn) await() {
	if g.waiting {
		return
	}
	g.waiting = true
	if !g.pool.NotifyAvailable(g) {
		g.Wake()
	}
}

// Wake is called by the pool, on any goroutine.
func (g *gateIn) Wake() { g.stack.driver.post(g) }

func (g *gateIn) work() {
	g.waiting = false
	g.serve()
}

// stage keeps an arrival until the round ends.
func (g *gateIn) stage(a arrival) {
	if len(g.staged) == 0 {
		g.stack.staged = append(g.stack.staged, g)
	}
	g.staged = append(g.staged, a)
}

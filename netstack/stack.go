package netstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Stack is one worker's connections to all others, for one attempt of a job. One
// connection per pair of workers carries all channels both ways and the control
// messages. With a single worker there is none.
//
// Bind all channels, Start, run the subtasks, Close. Everything may be called by
// any goroutine.
type Stack struct {
	// constant once started
	opts   StackOptions
	conns  []*conn // by worker; nil at the own index
	gates  []*gateIn
	byGate map[*Gate]*gateIn
	pools  []*bufferpool.Pool
	driver driver
	local  hello

	// protocol
	staged []*gateIn // gates with arrivals of this read round
	turn   turn

	// atomic
	stats   stats
	aborted atomic.Bool

	wg   sync.WaitGroup // acceptor, handshakes, dialers, driver
	meet meeting        // who is connected already

	mu struct {
		sync.Mutex
		state    stackState
		listener net.Listener
		failures []error
		ticker   *time.Timer // nil: nobody is asked for the time
	}
}

type stackState uint8

const (
	stackNew stackState = iota
	stackStarted
	stackClosed
)

// NewStack checks the options. Nothing happens before Start.
func NewStack(o StackOptions) (*Stack, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Stack{opts: o, turn: turn{clock: o.Clock}, byGate: map[*Gate]*gateIn{}, conns: make([]*conn, len(o.Peers))}
	for i := range s.conns {
		if i != o.Index {
			s.conns[i] = newConn(s, i)
		}
	}
	s.local = hello{
		version: protocolVersion, epoch: o.Epoch, index: uint32(o.Index), workers: uint32(len(o.Peers)),
		graph: o.Graph, layout: o.Layout, segment: uint32(o.Arena.SegmentSize()), event: MaxEventPayload, job: o.Job,
	}
	s.meet.init(len(o.Peers))
	s.driver = newDriver(s)
	return s, nil
}

// BindOut makes a channel of subpartition sub of p, towards a gate of a peer that
// binds the same number with BindIn. Numbers start at 1 and are unique per pair of
// workers and direction. All channels are bound before Start.
func (s *Stack) BindOut(peer int, channel uint32, p *Partition, sub int) error {
	c, err := s.bindable(peer, channel)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if c.outs[channel] != nil || sub < 0 || sub >= len(p.subs) || p.subs[sub].link != nil {
		return fmt.Errorf("%w: channel %d to worker %d from %s[%d]: number or subpartition is taken, or there is none",
			ErrBound, channel, peer, p.opts.Name, sub)
	}
	o := &remoteOut{conn: c, id: channel, sub: &p.subs[sub]}
	o.sub.link, c.outs[channel] = o, o
	return nil
}

// BindIn makes channel ch of g the receiving end of a channel of a peer.
func (s *Stack) BindIn(peer int, channel uint32, g *Gate, ch int) error {
	c, err := s.bindable(peer, channel)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if c.ins[channel] != nil || ch < 0 || ch >= len(g.channels) || g.channels[ch].creditor != nil {
		return fmt.Errorf("%w: channel %d from worker %d to %s[%d]: number or gate channel is taken, or there is none",
			ErrBound, channel, peer, g.opts.Name, ch)
	}
	gi := s.byGate[g]
	if gi == nil {
		gi = &gateIn{stack: s, gate: g}
		s.byGate[g] = gi
		s.gates = append(s.gates, gi)
	}
	gi.channels++
	r := newRemoteIn(c, channel, gi, ch)
	g.channels[ch].creditor, c.ins[channel] = r, r
	return nil
}

// bindable returns the connection to a peer, with mu held, unless there is an error.
func (s *Stack) bindable(peer int, channel uint32) (*conn, error) {
	if peer < 0 || peer >= len(s.conns) || s.conns[peer] == nil {
		return nil, fmt.Errorf("%w: %d, this is worker %d of %d", ErrPeerIndex, peer, s.opts.Index, len(s.conns))
	}
	s.mu.Lock()
	if s.mu.state != stackNew || channel == 0 {
		s.mu.Unlock()
		return nil, fmt.Errorf("%w: channel %d: numbers start at 1 and are bound before Start", ErrBound, channel)
	}
	return s.conns[peer], nil
}

// Start reserves the buffers, connects to all peers and begins to carry data. An
// error is a *bufferpool.BudgetError, a *HandshakeError, or says which peers are
// missing. Close must be called in any case.
func (s *Stack) Start(ctx context.Context) error {
	if !s.begin() {
		return ErrClosed
	}
	defer s.wg.Done()
	if err := s.reserve(); err != nil {
		return err
	}
	socks, err := s.connect(ctx)
	if err != nil {
		return err
	}
	for _, c := range s.conns {
		if c != nil {
			c.open()
		}
	}
	if err := s.driver.start(socks); err != nil {
		return err
	}
	for _, c := range s.conns {
		if c != nil {
			c.name.Store(c.flow)
		}
	}
	s.startClocks()
	return nil
}

// begin lets Start be called once, and Close wait for its end.
func (s *Stack) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.state != stackNew {
		return false
	}
	s.mu.state = stackStarted
	s.wg.Add(1)
	return true
}

// reserve makes the pools: one per gate, and a small one per connection for
// reading ahead.
func (s *Stack) reserve() error {
	for _, g := range s.gates {
		pool, err := s.opts.Arena.NewPool(g.poolOptions())
		if err != nil {
			return err
		}
		g.pool = pool
		s.pools = append(s.pools, pool)
	}
	for _, c := range s.conns {
		if c == nil {
			continue
		}
		pool, err := s.opts.Arena.NewPool(bufferpool.PoolOptions{
			Name: fmt.Sprintf("worker %d read-ahead", c.peer), Min: 2, Max: maxPieces,
		})
		if err != nil {
			return err
		}
		c.in.pool = pool
		s.pools = append(s.pools, pool)
	}
	return nil
}

// Control queues a message of at most MaxControl bytes for a peer; messages
// arrive in order. It shares the payload, which must not change any more.
func (s *Stack) Control(peer int, payload []byte) error {
	if peer < 0 || peer >= len(s.conns) || s.conns[peer] == nil {
		return fmt.Errorf("%w: %d, this is worker %d of %d", ErrPeerIndex, peer, s.opts.Index, len(s.conns))
	}
	if len(payload) > MaxControl {
		return fmt.Errorf("%w: control message of %d bytes, at most %d", ErrOversize, len(payload), MaxControl)
	}
	c := s.conns[peer]
	first, err := c.ctl.push(payload)
	if first {
		s.driver.post(c)
	}
	return err
}

// Abort breaks all connections at once and makes Close return err. It does not
// wait, and OnFailure may call it.
func (s *Stack) Abort(err error) {
	if s.aborted.CompareAndSwap(false, true) {
		s.note(err)
	}
	s.meet.cancel(ErrClosed)
	s.driver.abort()
}

// Close sends what is queued, says goodbye, waits for the peers' goodbyes, all
// within CloseTimeout, and gives every buffer back. It returns why connections
// broke, if any did. The subtasks must have stopped writing.
func (s *Stack) Close() error {
	s.mu.Lock()
	before := s.mu.state
	s.mu.state = stackClosed
	listener := s.mu.listener
	if s.mu.ticker != nil {
		s.mu.ticker.Stop()
	}
	s.mu.Unlock()
	if before == stackClosed {
		s.wg.Wait()
		return ErrClosed
	}
	if listener == nil {
		listener = s.opts.Listener
	}
	if listener != nil {
		_ = listener.Close() // the acceptor sees it
	}
	s.meet.cancel(ErrClosed)
	timeout := time.AfterFunc(s.opts.CloseTimeout, func() { s.Abort(ErrTimeout) })
	s.driver.close()
	s.wg.Wait()
	timeout.Stop()
	for _, c := range s.conns {
		if c != nil {
			c.release() // what a failed start left
		}
	}
	for _, p := range s.pools {
		p.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.mu.failures...)
}

// failed reports a broken connection, unless the breaking was ours.
func (s *Stack) failed(c *conn, err error) {
	if c.failed = true; s.aborted.Load() {
		return
	}
	pe := &PeerError{Peer: c.peer, Addr: c.addr, Err: err}
	var edge *edgeError
	if errors.As(err, &edge) {
		pe.Edge, pe.Err = edge.edge, edge.err
	}
	s.note(pe)
	s.opts.OnFailure(pe)
}

func (s *Stack) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.mu.failures = append(s.mu.failures, err)
	}
}

// flush delivers what the round staged: one lock and one wake-up per gate.
func (s *Stack) flush() {
	for i, g := range s.staged {
		g.gate.receive(g.staged, &s.turn)
		clear(g.staged)
		g.staged = g.staged[:0]
		s.staged[i] = nil
	}
	s.staged = s.staged[:0]
}

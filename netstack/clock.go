package netstack

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/netstack/offset"
)

// clockAnswerSize is the payload of an answer: two times, u64.
const clockAnswerSize = 16

// PeerClock is what is known of the clock of a peer, StackOptions.Clock there. Any
// goroutine may ask.
type PeerClock struct {
	// protocol
	asking    bool     // a question is due
	answering bool     // an answer is due: to the last question alone
	question  question // that it is to

	mu struct {
		sync.Mutex
		est offset.Estimator
	}
}

// question is a peer's question for the time.
type question struct {
	asked    uint64 // on the peer's clock; opaque
	received time.Duration
}

// At returns how far the peer's clock is ahead of the own one at a time of the own one,
// and by how much that may be wrong at most. It is not known (ok is not set) before the
// first answer, and never without StackOptions.ClockInterval.
func (c *PeerClock) At(now time.Duration) (ahead, bound time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.mu.est.At(int64(now))
	return time.Duration(e.Offset), time.Duration(e.Error), ok
}

// PeerClock returns what is known of a peer's clock, nil for this worker itself. It
// stays valid, and without news, after Close.
func (s *Stack) PeerClock(peer int) *PeerClock {
	if peer < 0 || peer >= len(s.conns) || s.conns[peer] == nil {
		return nil
	}
	return &s.conns[peer].clock
}

func (c *PeerClock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = c.mu.est.Tick() || c.asking
}

// asked takes a peer's question. If it asks faster than answers leave, it gets the last.
func (c *conn) asked(h *header) {
	c.clock.answering = true
	c.clock.question = question{asked: h.sequence, received: c.stack.opts.Clock.Now()}
	c.kick()
}

// answered takes a peer's answer.
func (c *conn) answered(f *frame) error {
	if len(f.mem) != clockAnswerSize {
		return fmt.Errorf("%w: %v of %d bytes", ErrFrame, f.head.kind, len(f.mem))
	}
	now := c.stack.opts.Clock.Now()
	received, replied := binary.LittleEndian.Uint64(f.mem), binary.LittleEndian.Uint64(f.mem[8:])
	p := &c.clock
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.est.Answer(int64(f.head.sequence), int64(received), int64(replied), int64(now)) {
		p.asking = true
		c.kick()
	}
	return nil
}

// collectClock adds what is due of questions and answers. It looks at the clock here,
// as late as it can be done: what follows until the bytes have left makes the round trip
// longer, and so the error, but nothing wrong.
func (o *outbound) collectClock() {
	p := &o.conn.clock
	if p.answering && o.room() {
		p.answering = false
		b := binary.LittleEndian.AppendUint64(make([]byte, 0, clockAnswerSize), uint64(p.question.received))
		b = binary.LittleEndian.AppendUint64(b, uint64(o.conn.stack.opts.Clock.Now()))
		o.whole(&header{kind: frameAnswer, length: clockAnswerSize, sequence: p.question.asked}, b)
	}
	if p.asking && o.room() {
		p.asking = false
		now := o.conn.stack.opts.Clock.Now()
		p.mu.Lock()
		p.mu.est.Ask(int64(now))
		p.mu.Unlock()
		o.small(&header{kind: frameAsk, sequence: uint64(now)})
	}
}

// clockWork asks all peers for the time, and comes again after the interval.
type clockWork struct{ s *Stack }

func (w clockWork) work() {
	for _, c := range w.s.conns {
		if c != nil && !c.closed && !c.closing {
			c.clock.tick()
			c.kick()
		}
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.s.mu.state == stackStarted {
		w.s.mu.ticker.Reset(w.s.opts.ClockInterval)
	}
}

// startClocks begins to ask at an interval. The first questions leave with the first
// credit.
func (s *Stack) startClocks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.ClockInterval > 0 && s.mu.state == stackStarted {
		s.mu.ticker = time.AfterFunc(s.opts.ClockInterval, func() { s.driver.post(clockWork{s}) })
	}
}

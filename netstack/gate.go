package netstack

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/probe"
)

// Gate is the input of one subtask: it merges the channels of all its inputs.
// Methods are for the subtask's goroutine, except where they say otherwise.
type Gate struct {
	// constant once connected
	opts     GateOptions
	channels []inChannel
	account  *inAccount // nil: none is kept

	// subtask goroutine
	priority ring[Item]  // events that go before all data
	ready    ring[int32] // channels that have items, each once, in turn
	drained  []arrival   // last inbox, kept for its memory
	turns    int         // items to hand out before the inbox is looked at again
	queued   int         // data buffers in channels' queues
	open     int         // channels that have not ended

	// atomic
	urgent atomic.Bool // the inbox holds an event that goes before all data

	inbox struct {
		sync.Mutex
		arrivals []arrival
		data     int // of these, data buffers
		queued   int // data buffers in channels' queues, when the inbox was last emptied
		hasten   func(e *Event) bool
		closed   bool
		read     []read // what was handed out, by input, when the inbox was last emptied
	}
}

// inChannel is one channel's receiving end.
type inChannel struct {
	// constant once connected
	input    int
	creditor creditor

	// subtask goroutine
	queue    ring[item]
	queued   bool // in Gate.ready
	blocked  bool
	ended    bool
	returned uint64 // data buffers given back so far
}

// creditor turns buffers that the consumer gave back into new credit.
type creditor interface {
	// returned is called by the subtask with the number given back since the start.
	returned(total uint64)
	// taken is called by the subtask for each event it was handed.
	taken()
}

type arrival struct {
	item
	channel int32
}

// Item is what a gate hands out: a data buffer, or an event when Event is set.
// The receiver owns Buf and must Release it, then call Done for its channel.
type Item struct {
	Channel int // counted over all inputs
	Input   int // which input the channel belongs to
	Buf     bufferpool.Buffer
	Event   *Event
	Partial bool // Buf ends inside a record that continues in the channel's next buffer

	// At is when the buffer was handed out, on GateOptions.Clock; 0 without one.
	At time.Duration

	dequeued int64 // when it was, if a profiler looks at the buffer, ns; else 0

	// Overtaken, of a priority event or one that Hasten accepted, counts the items of its channel, data buffers
	// and ordered events, that arrived before it and have not been handed out: what it
	// overtook here. They are the first in the channel's queue, for EachQueued, until
	// Next hands out another item that is not a priority event.
	Overtaken int
}

// NewGate makes a gate. Its channels must be connected before it is used.
func NewGate(opts GateOptions) (*Gate, error) {
	opts = opts.withDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	g := &Gate{opts: opts, channels: make([]inChannel, 0, opts.channels()), open: opts.channels()}
	if perf.Enabled && opts.Clock != nil {
		g.account = newInAccount(opts)
		g.inbox.read = make([]read, len(opts.Inputs))
	}
	for input, width := range opts.Inputs {
		for range width {
			g.channels = append(g.channels, inChannel{input: input})
		}
	}
	return g, nil
}

// Channels is the number of channels over all inputs.
func (g *Gate) Channels() int { return len(g.channels) }

// Channel returns the number, over all inputs, of channel i of an input.
func (g *Gate) Channel(input, i int) int {
	for _, width := range g.opts.Inputs[:input] {
		i += width
	}
	return i
}

// Open is the number of channels that have not ended.
func (g *Gate) Open() int { return g.open }

// Next returns the next item, if there is one: priority events first, then the
// channels in turn, one item each. Blocked channels are passed over. It never
// waits; the Waker fires when something arrives after it returned false.
func (g *Gate) Next() (Item, bool) { return g.NextAt(0) }

// NextAt is Next for a caller who has just looked at GateOptions.Clock: it was now. 0: Next
// looks itself.
func (g *Gate) NextAt(now time.Duration) (Item, bool) {
	if g.turns <= 0 || g.urgent.Load() {
		g.drain()
	}
	for {
		if it, ok := g.pop(now); ok {
			g.turns--
			return it, true
		}
		if !g.drain() {
			return Item{}, false
		}
	}
}

// pop returns the next item of those that were drained.
func (g *Gate) pop(now time.Duration) (Item, bool) {
	if g.priority.len() > 0 {
		it := g.priority.pop()
		g.channels[it.Channel].creditor.taken()
		return it, true
	}
	for g.ready.len() > 0 {
		ch := int(g.ready.pop())
		c := &g.channels[ch]
		c.queued = false
		if c.blocked {
			continue // Unblock puts it back
		}
		it := c.queue.pop()
		g.enqueue(ch)
		if it.event != nil {
			g.took(c, it.event)
			return g.hand(ch, it), true
		}
		g.queued--
		handed := g.hand(ch, it)
		if it.trace {
			handed.dequeued = probe.Now()
		}
		if g.account != nil {
			handed.At = g.account.took(c.input, it, now)
		}
		return handed, true
	}
	return Item{}, false
}

func (g *Gate) took(c *inChannel, e *Event) {
	c.creditor.taken()
	if e.Kind == EndOfPartition && !c.ended {
		c.ended = true
		g.open--
	}
}

func (g *Gate) hand(ch int, it item) Item {
	return Item{Channel: ch, Input: g.channels[ch].input, Buf: it.buf, Event: it.event, Partial: it.part}
}

// enqueue lists a channel as ready if it has items and is not listed.
func (g *Gate) enqueue(ch int) {
	c := &g.channels[ch]
	if c.queued || c.blocked || c.queue.len() == 0 {
		return
	}
	c.queued = true
	g.ready.push(int32(ch))
}

// drain moves what has arrived from the inbox to the channels' queues, and reports
// whether there was anything. It is due again after one turn of all that are ready,
// so that a channel whose items have just arrived does not wait until the others
// run dry.
func (g *Gate) drain() bool {
	g.inbox.Lock()
	g.urgent.Store(false)
	arrived := g.inbox.arrivals
	g.inbox.arrivals = g.drained[:0]
	g.queued += g.inbox.data
	g.inbox.data, g.inbox.queued = 0, g.queued
	if g.account != nil {
		g.account.publish(g, arrived)
	}
	hasten := g.inbox.hasten
	g.inbox.Unlock()
	for i := range arrived {
		a := &arrived[i]
		if a.event != nil && a.overtakes(hasten) {
			g.overtake(a)
		} else {
			g.channels[a.channel].queue.push(a.item)
			g.enqueue(int(a.channel))
		}
		*a = arrival{} // drop references
	}
	g.drained = arrived
	g.turns = max(minTurns, g.ready.len())
	return len(arrived) > 0
}

// overtakes reports whether an event goes before all data.
func (a *arrival) overtakes(hasten func(*Event) bool) bool {
	return a.event.Priority || hasten != nil && a.isOrderedUser() && hasten(a.event)
}

// overtake lists an event that goes before all data. What is in its channel's queue
// by now is what it overtakes: it is handed out before any of that, and what arrives
// later is queued behind.
func (g *Gate) overtake(a *arrival) {
	it := g.hand(int(a.channel), a.item)
	it.Overtaken = g.channels[a.channel].queue.len()
	g.priority.push(it)
}

// minTurns, in items, saves a gate of few channels from locking for each of them.
const minTurns = 16

// Done tells that a data buffer of a channel was released (or kept by somebody
// else who counts for it), so that the sender may get new credit.
func (g *Gate) Done(ch int) {
	c := &g.channels[ch]
	c.returned++
	c.creditor.returned(c.returned)
}

// receive adds arrivals of any channels, in order. It takes their buffers and
// lends the slice. Any goroutine may call it, but only one at a time per channel. clock tells
// the time, if an account is kept.
func (g *Gate) receive(arrivals []arrival, clock perf.Clock) {
	if len(arrivals) == 0 {
		return
	}
	g.inbox.Lock()
	if g.inbox.closed {
		g.inbox.Unlock()
		for i := range arrivals {
			arrivals[i].release()
		}
		return
	}
	before := len(g.inbox.arrivals)
	g.inbox.arrivals = append(g.inbox.arrivals, arrivals...)
	if g.account != nil {
		g.arrived(before, clock.Now())
	}
	g.unlockReceived(before)
}

// receiveFrom is receive for items of one channel. now is the time, if the sender
// keeps an account.
func (g *Gate) receiveFrom(channel int32, items []item, now time.Duration) {
	g.inbox.Lock()
	if g.inbox.closed {
		g.inbox.Unlock()
		for i := range items {
			items[i].release()
		}
		return
	}
	before := len(g.inbox.arrivals)
	for i := range items {
		g.inbox.arrivals = append(g.inbox.arrivals, arrival{items[i], channel})
	}
	if g.account != nil {
		if now == 0 {
			now = g.account.clock.Now()
		}
		g.arrived(before, now)
	}
	g.unlockReceived(before)
}

// unlockReceived takes note of the arrivals from index before on, and wakes the
// subtask if it may not know of them. The caller holds the inbox, which is given up.
func (g *Gate) unlockReceived(before int) {
	wake := before == 0
	for i := range g.inbox.arrivals[before:] {
		if a := &g.inbox.arrivals[before+i]; a.isData() {
			g.inbox.data++
		} else if a.overtakes(g.inbox.hasten) {
			g.urgent.Store(true)
			wake = true
		}
	}
	g.inbox.Unlock()
	if wake {
		g.opts.Waker.Wake()
	}
}

// Close releases everything queued, and whatever still arrives.
func (g *Gate) Close() {
	g.inbox.Lock()
	g.inbox.closed = true
	g.inbox.Unlock()
	g.drain()
	for i := range g.channels {
		for q := &g.channels[i].queue; q.len() > 0; {
			q.pop().release()
		}
	}
	g.priority, g.ready = ring[Item]{}, ring[int32]{}
	g.queued = 0
	g.inbox.Lock()
	g.inbox.queued = 0
	for i := range g.inbox.read {
		g.inbox.read[i].queued = 0
	}
	g.inbox.Unlock()
}

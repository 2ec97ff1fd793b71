package netstack_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// TestStress runs producers and consumers at full speed, in little memory, and
// checks every byte, every order, and that nothing is held in the end.
func TestStress(t *testing.T) {
	records := 3000
	if testing.Short() {
		records = 300
	}
	for _, shape := range []struct{ producers, consumers int }{{1, 1}, {3, 1}, {1, 3}, {3, 4}} {
		for _, broadcast := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d to %d, broadcast %v", shape.producers, shape.consumers, broadcast), func(t *testing.T) {
				n, m := shape.producers, shape.consumers
				a := newArena(t, 512, n*(m+1)+rand.IntN(8*n))
				po := netstack.PartitionOptions{Broadcast: broadcast, MaxQueued: 1 + rand.IntN(5), Exclusive: 1}
				g := netstack.GateOptions{Exclusive: 1, Floating: 1 + rand.IntN(4)}
				from := newRank(t, a, n, 0, m, g, po)
				to := newRank(t, a, m, n, 0, g, po)
				join(from, to)
				var wg sync.WaitGroup
				for _, s := range from {
					wg.Go(func() { produceStress(s, records, broadcast) })
				}
				for _, s := range to {
					wg.Go(func() { newStressConsumer(s).run(broadcast, records) })
				}
				finishes(t, "the exchange to end", wg.Wait)
				wantNothingHeld(t, a)
			})
		}
	}
}

// counted is an event that carries a number.
func counted(n uint64, priority bool) *netstack.Event {
	return &netstack.Event{Kind: netstack.FirstUserEvent, Priority: priority, Payload: binary.LittleEndian.AppendUint64(nil, n)}
}

// produceStress writes numbered records for random receivers. An ordered event
// carries the number of records before it, a priority event that of those before it.
func produceStress(s *subtask, records int, broadcast bool) {
	m := s.out.Subpartitions()
	written, urgent := make([]uint64, m), make([]uint64, m)
	for range records {
		sub, size := rand.IntN(m), 8+rand.IntN(100)
		if broadcast {
			sub = 0
		}
		if rand.IntN(20) == 0 {
			size = rand.IntN(3000)
		}
		s.put(sub, numbered(written[sub], size))
		written[sub]++
		to := rand.IntN(m)
		switch rand.IntN(20) {
		case 0:
			count := written[to]
			if broadcast {
				count = written[0]
			}
			s.out.Emit(to, counted(count, false))
		case 1:
			s.out.Emit(to, counted(urgent[to], true))
			urgent[to]++
		case 2:
			s.out.Flush(0)
		}
	}
	s.finish()
}

// stressConsumer holds buffers for a while, gives them back in any order, and
// blocks channels.
type stressConsumer struct {
	*subtask
	r             *reader
	held          []netstack.Item
	blocked       bool     // some channels may be
	seen, urgents []uint64 // by channel
}

func newStressConsumer(s *subtask) *stressConsumer {
	n := s.in.Channels()
	return &stressConsumer{subtask: s, r: newReader(s.t, s.in), seen: make([]uint64, n), urgents: make([]uint64, n)}
}

func (c *stressConsumer) run(broadcast bool, records int) {
	c.each(c.take, func() {
		c.release(len(c.held))
		if c.blocked {
			for ch := range c.seen {
				c.in.Unblock(ch)
			}
			c.blocked = false
			c.parker.Wake() // look again: Unblock wakes nobody
		}
	})
	c.release(len(c.held))
	for ch, n := range c.seen {
		if broadcast && n != uint64(records) {
			c.t.Errorf("channel %d: %d records came, want %d", ch, n, records)
		}
	}
}

func (c *stressConsumer) take(it netstack.Item) {
	ch := it.Channel
	switch {
	case it.Event == nil:
		c.r.parse(it, func(r *record.Record) {
			if n := number(c.t, r); n != c.seen[ch] {
				c.t.Errorf("channel %d: record %d came, want %d", ch, n, c.seen[ch])
			}
			c.seen[ch]++
		})
		c.held = append(c.held, it)
	case it.Event.Kind == netstack.EndOfPartition:
	case it.Event.Priority:
		c.want(it, "priority event", &c.urgents[ch])
		c.urgents[ch]++
	default:
		c.want(it, "ordered event", &c.seen[ch])
	}
	switch rand.IntN(10) {
	case 0:
		c.in.Block(rand.IntN(len(c.seen)))
		c.blocked = true
	case 1:
		c.in.Unblock(rand.IntN(len(c.seen)))
	}
	if len(c.held) > rand.IntN(3) {
		c.release(1)
	}
}

func (c *stressConsumer) want(it netstack.Item, what string, count *uint64) {
	if n := binary.LittleEndian.Uint64(it.Event.Payload); n != *count {
		c.t.Errorf("channel %d: %s says %d, want %d", it.Channel, what, n, *count)
	}
}

func (c *stressConsumer) release(n int) {
	for ; n > 0; n-- {
		i := rand.IntN(len(c.held))
		it := c.held[i]
		c.held[i] = c.held[len(c.held)-1]
		c.held = c.held[:len(c.held)-1]
		c.r.done(it)
	}
}

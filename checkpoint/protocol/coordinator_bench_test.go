package protocol_test

import (
	"fmt"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// benchmarkRound takes one checkpoint from trigger to completion.
func benchmarkRound(c *Coordinator, members int, now int64, out []Command) []Command {
	out = c.Step(out[:0], Event{Type: Request, Now: now})
	id := c.Last()
	for m := range Member(members) {
		out = c.Step(out[:0], Event{Type: Ack, Now: now, ID: id, Member: m})
	}
	return c.Step(out[:0], Event{Type: Published, Now: now, ID: id})
}

func BenchmarkCoordinatorRound(b *testing.B) {
	for _, members := range []int{8, 1000, 20000} {
		b.Run(fmt.Sprint(members), func(b *testing.B) {
			c, err := NewCoordinator(Options{Interval: 1e9}, Attempt{Members: members, Sources: []Member{0}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var out []Command
			now := int64(0)
			for b.Loop() {
				now++
				out = benchmarkRound(c, members, now, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(members), "ns/ack")
		})
	}
}

// The cost of an acknowledgement does not depend on the number of members, and it
// allocates nothing.
func TestCoordinatorAcksAllocateNothing(t *testing.T) {
	c, err := NewCoordinator(Options{}, Attempt{Members: 5000, Sources: []Member{0}})
	if err != nil {
		t.Fatal(err)
	}
	out := c.Step(nil, Event{Type: Request})
	out = c.Step(out[:0], Event{Type: Ack, ID: 1})
	m := Member(0)
	if n := testing.AllocsPerRun(1000, func() {
		m++
		out = c.Step(out[:0], Event{Type: Ack, ID: 1, Member: m})
	}); n != 0 {
		t.Errorf("an acknowledgement allocates %v times", n)
	}
}

package netstack_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/perf"
	"go.uber.org/goleak"
)

// subtask is a goroutine's gate and partition, either of which may be missing, with
// the Parker that both wake.
type subtask struct {
	t      testing.TB
	parker *netstack.Parker
	in     *netstack.Gate
	out    *netstack.Partition
	stuck  func() // called before each wait for output, if set
}

func newArena(t testing.TB, segment, segments int) *bufferpool.Arena {
	t.Helper()
	a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: int64(segment) * int64(segments)})
	must(t, err)
	return a
}

// newRank makes n subtasks with so many input and output channels each.
func newRank(t testing.TB, arena *bufferpool.Arena, n, ins, outs int, g netstack.GateOptions, p netstack.PartitionOptions) (rank []*subtask) {
	t.Helper()
	for range n {
		s := &subtask{t: t, parker: netstack.NewParker()}
		if g.Clock == nil { // as in a job
			g.Clock = perf.NewClock()
			p.Clock = g.Clock
		}
		var err error
		if ins > 0 {
			g.Inputs, g.Waker = []int{ins}, s.parker
			s.in, err = netstack.NewGate(g)
			must(t, err)
		}
		if outs > 0 {
			p.Subpartitions, p.Waker, p.Wait = outs, s.parker, s.wait
			s.out, err = netstack.NewPartition(arena, p)
			must(t, err)
		}
		rank = append(rank, s)
	}
	return rank
}

// join connects all subtasks of one rank to all of the next.
func join(from, to []*subtask) {
	for i, f := range from {
		for j, t := range to {
			netstack.ConnectLocal(f.out, j, t.in, i)
		}
	}
}

// put writes a record as soon as the output takes one.
func (s *subtask) put(sub int, r record.Record) {
	for !s.out.Available() {
		s.out.Await()
		s.wait()
	}
	write(s.out, sub, r)
}

func (s *subtask) wait() {
	if s.stuck != nil {
		s.stuck()
	}
	s.parker.Park(nil)
}

func (s *subtask) finish() {
	s.out.Finish()
	s.out.Close()
}

// each gives f every item until all channels have ended; idle runs before it waits.
func (s *subtask) each(f func(netstack.Item), idle func()) {
	for s.in.Open() > 0 {
		if it, ok := s.in.Next(); ok {
			f(it)
			continue
		}
		idle()
		s.parker.Park(nil)
	}
	s.in.Close()
}

// eachRecord gives f every record.
func (s *subtask) eachRecord(f func(*record.Record)) {
	r := newReader(s.t, s.in)
	flush := func() {
		if s.out != nil {
			s.out.Flush(0)
		}
	}
	s.each(func(it netstack.Item) {
		if it.Event == nil {
			r.records(it, f)
		}
	}, flush)
}

// wantNothingHeld closes the arena.
func wantNothingHeld(t testing.TB, a *bufferpool.Arena) {
	t.Helper()
	if n := a.Held(); n != 0 {
		t.Errorf("%d buffers are held:\n%v", n, a.Ledger())
	}
	must(t, a.Close())
	if t, ok := t.(*testing.T); ok {
		goleak.VerifyNone(t)
	}
}

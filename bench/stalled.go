package bench

import (
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// stuck is the writing end of a channel whose reader has stopped. A nil *stuck is
// none.
type stuck struct{ *outlet }

// stuckOutlet makes the channel beside those of the measurement, if there is one.
func (w wire) stuckOutlet(arena *bufferpool.Arena, s *netstack.Stack) (*stuck, error) {
	if !w.Stalled {
		return nil, nil
	}
	o, err := newOutlet(arena, netstack.PartitionOptions{Subpartitions: 1})
	if err != nil {
		return nil, err
	}
	return &stuck{o}, s.BindOut(1, uint32(1+w.total()), o.Partition, 0)
}

// stuckInlet is its reading end.
func (w wire) stuckInlet(s *netstack.Stack) (*inlet, error) {
	if !w.Stalled {
		return nil, nil
	}
	in, err := newInlet(netstack.GateOptions{Inputs: []int{1}})
	if err != nil {
		return nil, err
	}
	return in, s.BindIn(0, uint32(1+w.total()), in.Gate, 0)
}

// fill writes until the channel takes no more.
func (s *stuck) fill() {
	if s == nil {
		return
	}
	for s.Available() {
		s.Space(0, s.MaxRecord())
		s.Commit(0, s.MaxRecord())
	}
}

// end lets the reader come to the end of it.
func (s *stuck) end() {
	if s != nil {
		s.finish()
	}
}

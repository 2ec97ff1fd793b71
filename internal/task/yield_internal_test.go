package task

import (
	"testing"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// A later checkpoint is still under way when an earlier one ends, and not the other way round.
func TestACheckpointIsUnderWayUntilItEnds(t *testing.T) {
	c := newCheckpoints(&Checkpoints{Last: 1, Stores: &Stores{}}, nil)
	for id := protocol.ID(2); id <= 3; id++ {
		c.begin(protocol.Barrier{ID: id})
	}
	if c.over(2); c.underway != 3 {
		t.Fatalf("%d is under way, want 3", c.underway)
	}
	if c.over(4); c.underway != 0 {
		t.Fatalf("%d is under way after a later one has ended", c.underway)
	}
}

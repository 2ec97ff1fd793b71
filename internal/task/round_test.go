package task

import (
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
)

// What a subtask does for a checkpoint while it stands still must find its memory ready.
func TestARoundThatWasMadeBeforeAllocatesNothing(t *testing.T) {
	stores := NewStores(statecow.Options{MaxGroups: 128, Groups: statecow.Groups{First: 0, End: 128}}, nil, nil)
	defer stores.Close()
	if _, err := stores.Keyed("count", "state", true); err != nil {
		t.Fatal(err)
	}
	c := newCheckpoints(&Checkpoints{Stores: stores, UIDs: []string{"count", "sink"}, Inputs: []Channel{{Edge: "a to b"}, {Edge: "a to b", From: 1}}}, nil)
	id := protocol.ID(0)
	blank := make([]*round, 0, 101)
	for range cap(blank) {
		blank = append(blank, c.newRound())
	}
	var last *round
	allocs := testing.AllocsPerRun(cap(blank)-1, func() {
		c.blank.Store(blank[id])
		id++
		b := protocol.Barrier{ID: id, Mode: protocol.Unaligned}
		r := c.begin(b)
		for _, uid := range c.UIDs {
			at := len(r.inline)
			r.piece([]byte("position"))
			r.add(c, uid, checkpoint.Part{Kind: checkpoint.OperatorState, State: pieceState, Inline: r.since(at)})
		}
		r.message.set(b, true)
		c.remove(r)
		last = r
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	if len(last.saved) != 2 || string(last.saved[1].Parts[0].Inline) != string(operators.JoinPieces([][]byte{[]byte("position")})) {
		t.Errorf("saved %+v", last.saved)
	}
	if got, ok, err := parseBarrier(&last.message.event); got.ID != id || !ok || err != nil {
		t.Errorf("the barrier is %+v, %v, %v", got, ok, err)
	}
}

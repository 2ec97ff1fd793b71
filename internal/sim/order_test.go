package sim

import (
	"testing"
	"time"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
)

// congested is a rig whose source 0 has sent more than the ledger has room for, while that
// one does not run. What source 1 sends arrives.
func congested(t *testing.T) *rig {
	r := newRig(t, protocol.Auto, 400, func(p *Plan) { p.maxFill, p.large = 100, true })
	for _, s := range r.a.subs {
		r.settle(s)
	}
	for range 30 {
		r.emit(0, 1)
	}
	for range 3 {
		r.emit(1, 1)
	}
	if r.src[0].outs[0].QueuedBuffers() == 0 {
		t.Fatal("there is room for all that source 0 has sent")
	}
	return r
}

// trigger lets a source begin a checkpoint, and go on.
func (r *rig) trigger(source int, mode protocol.Mode, id protocol.ID) {
	r.mode = mode // checkpoints of a job have the same: here it says what overtakes
	r.tell(r.src[source], task.Trigger, id)
	r.settle(r.src[source])
	r.emit(source, 1)
}

// both verifies that two checkpoints that were in flight at once have been taken.
func (r *rig) both() {
	r.tb.Helper()
	r.settleAll()
	for _, said := range r.said {
		for _, n := range said {
			if n.Kind == task.Declined {
				r.tb.Errorf("checkpoint %d was declined: %v", n.ID, n.Err)
			}
		}
	}
	for _, id := range []protocol.ID{1, 2} {
		if err := r.consistent(id); err != nil {
			r.tb.Error(err)
		}
	}
	r.close()
}

// A barrier of one channel has overtaken, and those of the other wait behind data, of both
// checkpoints: the first is taken before the second, however late it is.
func TestABarrierDoesNotPassAnEarlierOneBehindData(t *testing.T) {
	r := congested(t)
	r.trigger(1, protocol.Auto, 1)
	r.trigger(1, protocol.Auto, 2)
	r.trigger(0, protocol.Auto, 1)
	r.mid.step()
	r.trigger(0, protocol.Auto, 2)
	r.both()
}

// Two barriers of one channel have overtaken, and the first of the other, after which the
// second waits behind data: that one does not come before what has overtaken.
func TestABarrierBehindDataDoesNotPassOneThatHasOvertaken(t *testing.T) {
	r := congested(t)
	r.trigger(0, protocol.Unaligned, 1)
	r.trigger(0, protocol.Auto, 2)
	r.trigger(1, protocol.Unaligned, 1)
	r.trigger(1, protocol.Auto, 2)
	r.both()
}

// A barrier that overtakes passes no earlier one that waits in the same output queue, and is
// not held up by it: neither by one whose checkpoint goes on, nor by one whose checkpoint
// has been called off.
func TestAnEarlierBarrierHoldsUpNoneThatOvertakes(t *testing.T) {
	for _, aborted := range []bool{false, true} {
		r := congested(t)
		r.w.plan.overtake = time.Minute
		r.trigger(0, protocol.Auto, 1)
		if r.src[0].outs[0].QueuedBuffers() == 0 || r.mid.gate.Urgent() {
			t.Fatal("the first barrier does not wait")
		}
		if aborted {
			r.play("x0.1")
			r.play("a.1")
			r.settle(r.src[0])
		}
		r.trigger(0, protocol.Unaligned, 2)
		if !r.mid.gate.Urgent() {
			t.Errorf("aborted %v: the second barrier has not overtaken", aborted)
		}
		if !aborted {
			r.trigger(1, protocol.Auto, 1)
		}
		r.trigger(1, protocol.Unaligned, 2)
		if !aborted {
			r.both()
			continue
		}
		r.settleAll()
		if err := r.consistent(2); err != nil {
			t.Error(err)
		}
		r.close()
	}
}

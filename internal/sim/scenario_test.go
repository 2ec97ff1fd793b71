package sim

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

var allModes = []protocol.Mode{protocol.Aligned, protocol.Unaligned, protocol.Auto}

var strideFlag = flag.Int("sim.stride", 11, "play one in so many orders of a scenario; 1: all")

// everyOrder plays all orders of scripts in all modes, and then verifies each.
func everyOrder(t *testing.T, scripts [][]string, length int, verify func(r *rig, order []string) error) {
	for _, mode := range allModes {
		t.Run(mode.String(), func(t *testing.T) {
			n, bad := 0, 0
			merges(slices.Clone(scripts), func(order []string) {
				if n++; bad > 2 || n%*strideFlag != 0 {
					return
				}
				r := newRig(t, mode, length, nil)
				for _, s := range r.a.subs {
					r.settle(s)
				}
				for _, step := range order {
					r.play(step)
				}
				r.settleAll()
				if err := verify(r, slices.Clone(order)); err != nil {
					bad++
					t.Errorf("%v: %v", order, err)
				}
				r.close()
			})
			t.Logf("one in %d of %d orders", *strideFlag, n)
		})
	}
}

// Scenario 2: barriers, their cancellation and other barriers come in any order, the next
// one before the cancellation of the first, too.
func TestScenario2BarriersAndAbortsInAnyOrder(t *testing.T) {
	steps := func(s string) []string { return strings.Fields(s) }
	t.Run("aborted", func(t *testing.T) {
		everyOrder(t, [][]string{steps("d0 t0.1 d0 t0.2"), steps("d1 t1.1 t1.2"), steps("a.1"), steps("m")}, 9,
			func(r *rig, _ []string) error { return r.consistent(2) })
	})
	t.Run("never sent by one", func(t *testing.T) {
		everyOrder(t, [][]string{steps("d0 t0.1 d0 t0.2 d0"), steps("d1 t1.2"), steps("a.1"), steps("m")}, 9,
			func(r *rig, _ []string) error {
				if _, ok := r.ack(r.mid, 1); ok {
					return fmt.Errorf("checkpoint 1 was acknowledged without a barrier of source 1")
				}
				return r.consistent(2)
			})
	})
	t.Run("both complete", func(t *testing.T) {
		everyOrder(t, [][]string{steps("d0 t0.1 d0 t0.2"), steps("d1 t1.1 t1.2"), steps("m"), steps("m")}, 9,
			func(r *rig, _ []string) error {
				if err := r.consistent(1); err != nil {
					return err
				}
				return r.consistent(2)
			})
	})
}

// Scenario 5: data behind a barrier is there before the snapshot was taken, and a source
// can read on before it looks at a trigger.
func TestScenario5DataBehindABarrierIsNotInTheSnapshot(t *testing.T) {
	everyOrder(t, [][]string{strings.Fields("d0 l0.1 d0 d0"), strings.Fields("l1.1 d1 d1"), {"m"}}, 9,
		func(r *rig, _ []string) error { return r.consistent(1) })
}

// Scenario 6: triggers and aborts in any order, the older trigger after the newer, too.
func TestScenario6TriggersAndAbortsInAnyOrder(t *testing.T) {
	everyOrder(t, [][]string{{"l0.1"}, {"l0.2"}, {"x0.1"}, {"d0"}, {"s0"}}, 9, func(r *rig, order []string) error {
		at := func(s string) int { return slices.Index(order, s) }
		_, first := r.ack(r.src[0], 1)
		_, second := r.ack(r.src[0], 2)
		switch {
		case !second:
			return fmt.Errorf("checkpoint 2 was not acknowledged")
		case first && at("x0.1") < at("l0.1"):
			return fmt.Errorf("checkpoint 1 was acknowledged after it was aborted")
		case first && at("l0.2") < at("l0.1"):
			return fmt.Errorf("checkpoint 1 was acknowledged after 2")
		}
		return nil
	})
}

// Scenario 11: channels end at any moment of an alignment, without a barrier.
func TestScenario11ChannelsEndInTheMiddleOfAnAlignment(t *testing.T) {
	everyOrder(t, [][]string{strings.Fields("d0 t0.1 d0 e0"), strings.Fields("d1 d1 e1 t1.1"), {"m"}, {"m"}}, 2,
		func(r *rig, _ []string) error { return r.consistent(1) })
}

// Scenario 12: with the least buffers, a checkpoint begins at every step of the replay of
// records in flight. Scenario 1: they are in it, as far as they were not replayed.
func TestScenario12CheckpointAtEveryStepOfARecovery(t *testing.T) {
	for _, mode := range allModes {
		t.Run(mode.String(), func(t *testing.T) {
			for k := range 40 {
				r := newRig(t, mode, 4, func(p *Plan) {
					p.extra, p.overdraft, p.exclusive, p.floating, p.maxQueued, p.maxFill = 0, 1, -1, 1, 1, 300
				})
				r.replay(10)
				for step := range k {
					r.mid.step()
					if step%5 == 4 {
						r.settle(r.end)
					}
				}
				r.emit(0, 2)
				r.tell(r.src[0], task.Trigger, 1)
				r.settle(r.src[0])
				for range 2 { // the barrier of the other is still to come
					r.w.now += shareTime
					r.mid.step()
				}
				r.emit(1, 2)
				r.tell(r.src[1], task.Trigger, 1)
				r.settleAll()
				if err := r.consistent(1); err != nil {
					t.Errorf("begun at step %d: %v", k, err)
				}
				r.close()
			}
		})
	}
}

const shareTime = 6_000_000

// replay restores n records in flight on each of the ledger's channels.
func (r *rig) replay(n int) {
	codec, err := operators.CodecFor[rec]()
	if err != nil {
		r.tb.Fatal(err)
	}
	share := task.Restored{From: 1, Own: true, Operators: map[string]task.RestoredOperator{}, Blobs: r.w.store, Context: r.a.ctx}
	for i, e := range r.mid.node.inputs {
		f := task.InFlight{Channel: task.Channel{Edge: e.key()}, Input: i}
		for seq := range n {
			v := r.w.plan.fresh(uint32(50+100*i), uint32(seq))
			f.Records = record.Append(f.Records, record.Record{Kind: record.Data, Payload: codec.Append(nil, v)})
			r.extra[identity{split: v.Split, seq: v.Seq}] = true
		}
		share.InFlight = append(share.InFlight, f)
	}
	r.share = share
	r.mid.task.Restore(share, 0)
}

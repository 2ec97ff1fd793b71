package sim

import (
	"context"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
)

// forced is a plan with modes that capture records, and failures that make them count.
func forced(seed uint64, change func(*Plan)) *Plan {
	p := NewPlan(seed, 20)
	p.exactly = true
	for i := range p.modes {
		p.modes[i] = protocol.Unaligned + protocol.Mode(seed+uint64(i))%2
	}
	p.crashes, p.crashIn, p.faults, p.interval, p.timeout, p.overtake = 4, 300, 0, 50*time.Microsecond, 0, 1
	if change != nil {
		change(p)
	}
	return p
}

// Scenario 1: what is restored and not yet processed is part of the next checkpoint, while
// barriers are here on one input and still to come on another.
func TestScenario1RestoredRecordsAreInTheNextCheckpoint(t *testing.T) {
	var sum Result
	for seed := range uint64(50) {
		r := Run(forced(seed, func(p *Plan) {
			p.crashes, p.crashIn, p.tick, p.delay, p.slow = 8, 250, 1000, 1000, 1000
			p.starve, p.starved = 5, 100*time.Microsecond
		}))
		sum.add(r)
		if len(r.Findings) > 0 {
			t.Errorf("seed %d: %s", seed, r.Findings[0])
		}
	}
	if sum.Again == 0 {
		t.Error("no record was in flight in two attempts in a row: the test has shown nothing")
	}
	t.Logf("%+v", sum)
}

// TestDamagedCapturesAreFound sees to it that the oracle can see: a checkpoint that loses a
// record, or has one that comes again, makes every run that goes on from it fail.
func TestDamagedCapturesAreFound(t *testing.T) {
	for name, change := range map[string]tamper{"lost": dropOne, "twice": repeatOne} {
		t.Run(name, func(t *testing.T) {
			restored := 0
			for seed := range uint64(60) {
				r := Run(forced(seed, func(p *Plan) { p.tamper = change }))
				if !r.Tampered {
					continue
				}
				if restored++; len(r.Findings) == 0 {
					t.Errorf("seed %d: a damaged checkpoint was restored, and nothing was found: %+v", seed, r)
				}
			}
			if restored < 10 {
				t.Errorf("only %d damaged checkpoints were restored: the test has shown too little", restored)
			}
			t.Logf("%d found", restored)
		})
	}
}

// failing is a store whose blobs fail at a write.
type failing struct {
	checkpoint.Store
	at int
}

type failingBlob struct {
	checkpoint.BlobWriter
	s *failing
}

func (s *failing) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	b, err := s.Store.Create(ctx, name)
	return &failingBlob{b, s}, err
}

func (b *failingBlob) Write(p []byte) (int, error) {
	if b.s.at--; b.s.at == 0 {
		return 0, errFault
	}
	return b.BlobWriter.Write(p)
}

// Scenario 3: the store fails in the middle of the shared buffers of a capture. Nobody has
// them twice: what is sent afterwards arrives as it was, and nothing is held.
func TestScenario3WritingACaptureFailsMidway(t *testing.T) {
	failed := 0
	for at := 1; at <= 12; at++ {
		for _, waits := range []bool{false, true} {
			r := newRig(t, protocol.Unaligned, 60, func(p *Plan) { p.segment, p.maxFill, p.large, p.floating = 4096, 1000, true, 30 })
			r.w.store.Store = &failing{r.w.store.Store, at}
			for _, s := range r.a.subs {
				r.settle(s)
			}
			r.emit(0, 30)
			r.emit(1, 30)
			r.play("t0.1")
			if waits { // so long that the capture goes on with copies
				r.settle(r.mid)
			} else {
				r.mid.step()
			}
			r.emit(0, 10)
			r.play("t1.1")
			r.settleAll()
			r.play("a.1")
			r.finish(0)
			r.finish(1)
			r.emit(0, 60)
			r.emit(1, 60)
			r.play("t0.2")
			r.play("t1.2")
			r.settleAll()
			declined := false
			for _, n := range r.said[r.mid.member] {
				declined = declined || n.Kind == task.Declined && n.ID == 1
			}
			if declined {
				failed++
			}
			if _, ok := r.ack(r.mid, 1); ok == declined {
				t.Errorf("failed at write %d: checkpoint 1 acknowledged %v, declined %v", at, ok, declined)
			}
			if err := r.consistent(2); err != nil {
				t.Errorf("failed at write %d: %v", at, err)
			}
			r.close()
		}
	}
	if failed < 4 {
		t.Errorf("writing has failed %d times: the test has shown too little", failed)
	}
}

// A barrier that is queued behind data is noticed in time, though the subtask's output is
// full and stays so, and it was too early to look when the barrier came.
func TestBarriersBehindDataAreNoticedWhileTheOutputIsFull(t *testing.T) {
	r := newRig(t, protocol.Auto, 400, func(p *Plan) { p.maxQueued, p.maxFill, p.large = 1, 300, true })
	defer r.close()
	for r.mid.next != task.AwaitOutput {
		r.emit(0, 1)
		r.settle(r.mid)
	}
	r.emit(0, 1)
	r.emit(1, 1)
	r.settle(r.mid)
	r.mid.parker.Wake()
	r.mid.step() // it looks
	for i := range r.src {
		r.tell(r.src[i], task.Trigger, 1)
		r.src[i].step()
	}
	for range 50 {
		for _, s := range []*sub{r.src[0], r.src[1], r.mid} {
			if at, ok := s.runnable(r.w.now); ok && at <= r.w.now {
				s.step()
			}
			s.write()
			r.hear(s)
		}
		r.w.now += time.Millisecond
	}
	if err := r.consistent(1); err != nil {
		t.Error(err)
	}
}

// A capture gives way to the sender whose buffers it shares: that one needs them in the
// middle of a record, and sends its barrier only behind that.
func TestACaptureGivesWayToTheSenderThatItWaitsFor(t *testing.T) {
	r := newRig(t, protocol.Unaligned, 20, func(p *Plan) {
		p.extra, p.overdraft, p.exclusive, p.floating, p.maxFill, p.large = 0, 1, 1, 1, 600, true
	})
	defer r.close()
	r.settleAll()
	r.play("t1.1") // the ledger captures what source 0 sends
	r.settle(r.mid)
	for range 4 {
		r.emit(0, 2)
		r.settle(r.mid)
		r.settle(r.end)
	}
	r.play("t0.1")
	r.settleAll()
	if err := r.consistent(1); err != nil {
		t.Error(err)
	}
}

// The job ends with a savepoint while a subtask waits for its output in the middle of a
// record, and those who would take that have ended.
func TestAStopEndsASubtaskThatWaitsForItsOutput(t *testing.T) {
	r := newRig(t, protocol.Unaligned, 400, func(p *Plan) {
		p.extra, p.overdraft, p.exclusive, p.floating, p.maxFill, p.large = 0, 1, 1, 1, 3000, true
	})
	defer r.close()
	r.settle(r.end)
	for i := 0; !r.mid.inside; i++ {
		if i > 100 {
			t.Fatal("the output is never full")
		}
		r.emit(i%2, 1)
		r.settle(r.mid)
	}
	for _, s := range []*sub{r.end, r.src[0], r.src[1], r.mid} {
		r.tell(s, task.End, 0)
		r.settle(s)
	}
	for _, s := range r.a.subs {
		if !s.over {
			t.Errorf("%v has not ended", s)
		}
	}
}

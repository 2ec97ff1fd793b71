package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// rig is a job of two sources, a ledger that both send to, and a sink, each with one
// subtask, which run only when a script says so. There is no coordinator.
type rig struct {
	tb    testing.TB
	w     *world
	a     *attempt
	mode  protocol.Mode
	src   [2]*sub
	mid   *sub
	end   *sub
	quota [2]int
	ends  [2]bool
	said  map[protocol.Member][]task.Notice
	extra map[identity]bool // records that were restored
	share task.Restored     // with which
}

// ledger passes records on and saves which ones it has seen.
type ledger struct {
	operators.Stateless
	seen []identity
	next operators.Collector[rec]
}

func (l *ledger) Collect(v rec) {
	l.seen = append(l.seen, identity{split: v.Split, seq: v.Seq})
	l.next.Collect(v)
}

func (l *ledger) Snapshot(_ uint64, dst []byte) ([]byte, error) {
	for _, id := range l.seen {
		dst = binary.LittleEndian.AppendUint32(dst, id.split)
		dst = binary.LittleEndian.AppendUint32(dst, id.seq)
	}
	return dst, nil
}

func (l *ledger) Completed(uint64) error { return nil }

// newRig builds a rig whose sources have length records each.
func newRig(tb testing.TB, mode protocol.Mode, length int, change func(*Plan)) *rig {
	r := &rig{tb: tb, mode: mode, said: map[protocol.Member][]task.Notice{}, extra: map[identity]bool{}}
	g := &graph{}
	s0, s1, mid, end := g.add(source), g.add(source), g.add(mapper), g.add(sink)
	s0.lengths, s1.lengths = []int{length}, []int{length}
	g.connect(s0, mid, rebalance)
	g.connect(s1, mid, rebalance)
	g.connect(mid, end, rebalance)
	p := &Plan{
		graph: g, keys: 1, groups: 4, limit: 1, segment: 256, extra: 100, exclusive: 2, floating: 8, overdraft: 5,
		maxQueued: 10, flush: -1, interval: time.Hour, concurrent: 1, overtake: 1, slow: 1, delay: 1, tick: 1,
	}
	p.operator = func(_ *sub, next operators.Collector[rec]) operators.Transform[rec] { return &ledger{next: next} }
	p.may = func(n *node, records int) bool {
		if records == 0 {
			return r.ends[n.id]
		}
		r.quota[n.id]--
		return r.quota[n.id] >= 0
	}
	if change != nil {
		change(p)
	}
	r.w = &world{plan: p, rand: rand.New(rand.NewPCG(1, 2)), altered: map[flightID]bool{}, now: time.Second}
	r.w.store = &store{Store: checkpoint.NewMemory(), w: r.w}
	r.w.sink = &committed{w: r.w, prepared: map[transaction][]rec{}, done: map[transaction]bool{}}
	a, err := newAttempt(r.w, []int{1, 1, 1, 1}, mode)
	if err != nil {
		tb.Fatal(err)
	}
	r.a, r.src, r.mid, r.end = a, [2]*sub{a.subs[0], a.subs[1]}, a.subs[2], a.subs[3]
	return r
}

// settle runs a subtask until it waits, and reports whether it has run. Time passes.
func (r *rig) settle(s *sub) (ran bool) {
	for i, polls := 0, 0; !s.over && polls < 3; i++ {
		if i > 10000 {
			r.tb.Fatalf("%v does not settle", s)
		}
		r.w.now += 1100 * time.Microsecond
		at, ok := s.runnable(r.w.now)
		if !ok || at > r.w.now {
			break
		}
		if s.next != task.Ready && !s.parker.Notified() {
			polls++ // it may go on for ever
		} else {
			ran = true
		}
		s.step()
	}
	r.hear(s)
	return ran
}

// settleAll runs everything until all wait, and writes.
func (r *rig) settleAll() {
	for i, ran := 0, true; ran; i++ {
		if i > 1000 {
			r.tb.Fatal("the job does not settle")
		}
		ran = false
		for _, s := range r.a.subs {
			ran = r.settle(s) || len(s.writes) > 0 || ran
			s.write()
			r.hear(s)
		}
	}
}

func (r *rig) hear(s *sub) {
	for q := &r.a.driver.up[s.member]; len(q.queue) > 0; {
		r.said[s.member] = append(r.said[s.member], q.take())
	}
}

// emit lets source i read n records more.
func (r *rig) emit(i, n int) {
	r.quota[i] = max(0, r.quota[i]) + n
	r.src[i].parker.Wake()
	r.settle(r.src[i])
}

// finish lets source i end.
func (r *rig) finish(i int) {
	r.ends[i] = true
	r.emit(i, 0)
}

func (r *rig) barrier(id protocol.ID) protocol.Barrier {
	return protocol.Barrier{ID: id, Mode: r.mode, Triggered: r.w.unix(), Timeout: int64(r.w.plan.overtake)}
}

// tell hands a subtask a command.
func (r *rig) tell(s *sub, k task.CommandKind, id protocol.ID) {
	r.w.now++
	s.task.Tell(task.Command{Kind: k, ID: id, Barrier: r.barrier(id), Commit: true})
}

// ack is what a subtask has saved in a checkpoint.
func (r *rig) ack(s *sub, id protocol.ID) (n task.Notice, ok bool) {
	for _, n := range r.said[s.member] {
		if n.Kind == task.Acked && n.ID == id {
			return n, true
		}
	}
	return n, false
}

// consistent reports what is wrong with the cut that a checkpoint is: what the ledger has
// seen and what is in flight must be what the sources have read, each record once.
func (r *rig) consistent(id protocol.ID) error {
	got := map[identity]int{}
	for _, s := range []*sub{r.src[0], r.src[1], r.mid} {
		n, ok := r.ack(s, id)
		if !ok {
			return fmt.Errorf("checkpoint %d: %v has not acknowledged", id, s)
		}
		if err := r.count(n, got); err != nil {
			return err
		}
	}
	want := map[identity]bool{}
	for i, s := range r.src {
		for seq := range r.position(s, id) {
			want[identity{split: uint32(100 * i), seq: uint32(seq)}] = true
		}
	}
	for x := range r.extra {
		want[x] = true
	}
	for x := range want {
		if got[x] != 1 {
			return fmt.Errorf("checkpoint %d has record %d/%d %d times", id, x.split, x.seq, got[x])
		}
	}
	for x := range got {
		if !want[x] {
			return fmt.Errorf("checkpoint %d has record %d/%d, which came later", id, x.split, x.seq)
		}
	}
	return nil
}

// count adds the records in a subtask's part of a checkpoint.
func (r *rig) count(n task.Notice, got map[identity]int) error {
	for _, saved := range n.Saved {
		for _, p := range saved.Parts {
			switch p.Kind {
			case checkpoint.OperatorState:
				pieces, err := operators.SplitPieces(p.Inline)
				if err != nil || p.State != "pieces" {
					continue
				}
				for b := pieces[0]; len(b) > 0; b = b[8:] {
					got[identity{split: binary.LittleEndian.Uint32(b), seq: binary.LittleEndian.Uint32(b[4:])}]++
				}
			case checkpoint.Channels:
				runs, records, err := r.a.flight(&p)
				if err != nil {
					return err
				}
				for _, run := range runs {
					if run.Edge != r.end.node.inputs[0].key() {
						countRun(records[:run.Bytes], got)
					}
					records = records[run.Bytes:]
				}
			}
		}
	}
	return nil
}

func countRun(b []byte, got map[identity]int) {
	it := record.Over(b)
	for it.Rest() > 0 {
		var r record.Record
		at := b[len(b)-it.Rest():]
		if ok, err := it.Next(&r); !ok || err != nil {
			return
		}
		if v, err := decode(at); err == nil && r.Kind == record.Data {
			got[identity{split: v.Split, seq: v.Seq}]++
		}
	}
}

// position is how many records a source had read.
func (r *rig) position(s *sub, id protocol.ID) int {
	n, _ := r.ack(s, id)
	for _, saved := range n.Saved {
		for _, p := range saved.Parts {
			if p.Kind != checkpoint.Splits {
				continue
			}
			if list, err := operators.SplitPieces(p.Inline); err == nil && len(list) == 1 {
				return int(binary.LittleEndian.Uint32(list[0][4:]))
			}
		}
	}
	return s.node.lengths[0]
}

// close cancels everything and looks for what is held.
func (r *rig) close() {
	r.a.failed = "the script has ended"
	r.a.end()
	for _, f := range r.w.findings {
		r.tb.Error(f)
	}
}

// merges calls f with all orders of the steps of several scripts, which keep their own.
func merges(scripts [][]string, f func(order []string)) {
	left := 0
	for _, s := range scripts {
		left += len(s)
	}
	var order []string
	var visit func()
	visit = func() {
		if len(order) == left {
			f(order)
			return
		}
		for i, s := range scripts {
			if len(s) > 0 {
				order, scripts[i] = append(order, s[0]), s[1:]
				visit()
				order, scripts[i] = order[:len(order)-1], s
			}
		}
	}
	visit()
}

// play carries out one step: "d0" a record of source 0, "t0.1" checkpoint 1 there, "e0"
// its end, "a.1" an abort at the ledger and "x0.1" at source 0, "m" and "s0": they run.
func (r *rig) play(step string) {
	var i, id int
	switch step[0] {
	case 'd':
		_, _ = fmt.Sscanf(step, "d%d", &i)
		r.emit(i, 1)
	case 'e':
		_, _ = fmt.Sscanf(step, "e%d", &i)
		r.finish(i)
	case 't':
		_, _ = fmt.Sscanf(step, "t%d.%d", &i, &id)
		r.tell(r.src[i], task.Trigger, protocol.ID(id))
		r.settle(r.src[i])
	case 'l': // the same, but the source goes on before it looks
		_, _ = fmt.Sscanf(step, "l%d.%d", &i, &id)
		r.tell(r.src[i], task.Trigger, protocol.ID(id))
	case 'x':
		_, _ = fmt.Sscanf(step, "x%d.%d", &i, &id)
		r.tell(r.src[i], task.Abort, protocol.ID(id))
	case 's':
		_, _ = fmt.Sscanf(step, "s%d", &i)
		r.settle(r.src[i])
	case 'a':
		_, _ = fmt.Sscanf(step, "a.%d", &id)
		r.tell(r.mid, task.Abort, protocol.ID(id))
	case 'm':
		r.settle(r.mid)
	}
}

package sim

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/recovery"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
)

// sub is a subtask, which runs as a coroutine.
type sub struct {
	a      *attempt
	node   *node
	index  int
	member protocol.Member
	task   *task.Task
	parker *netstack.Parker
	gate   *netstack.Gate
	outs   []*netstack.Partition // by the node's outputs
	stores *task.Stores
	choose func(r *record.Record, n int) (int, error) // the partitioner of custom edges
	skew   time.Duration                              // of its clock, ahead of the world's
	uids   []string

	resume func() (task.Next, bool)
	yield  func(task.Next) bool
	next   task.Next // what it waits for
	inside bool      // it waits in the middle of a record
	until  time.Duration
	over   bool
	writes []*write
}

// String names the subtask.
func (s *sub) String() string { return fmt.Sprintf("%s[%d]", s.node.uid, s.index) }

// run is the coroutine.
func (s *sub) run(yield func(task.Next) bool) {
	s.yield = yield
	err := s.task.Begin()
	for err == nil {
		var next task.Next
		if next, err = s.task.Step(); err != nil || next == task.Over {
			break
		}
		yield(next)
	}
	s.write()
	err = s.task.End(err)
	s.over = true
	if err != nil && !errors.Is(err, task.ErrCancelled) {
		s.a.w.fail("%v: %v", s, err)
	}
}

// wait waits in the middle of a record.
func (s *sub) wait() {
	s.inside = true
	s.task.WaitBy(func() { s.yield(task.AwaitOutput) })
	s.inside = false
}

// runnable reports whether the subtask can go on: now, or at a time.
func (s *sub) runnable(now time.Duration) (at time.Duration, ok bool) {
	switch {
	case s.over:
		return 0, false
	case s.next == task.Ready, s.parker.Notified():
		return s.until, true
	case s.inside:
		return 0, false
	}
	at, ok = s.task.Due()
	return max(at-s.skew, s.until), ok
}

// step lets the subtask go on.
func (s *sub) step() {
	if s.next != task.Ready && s.parker.Notified() {
		s.parker.Park(nil)
	}
	next, running := s.resume()
	s.next = next
	if !running && !s.over {
		s.a.w.fail("%v: the coroutine has ended", s)
		s.over = true
	}
}

// close drops what the subtask still has.
func (s *sub) close() {
	for _, p := range s.outs {
		p.Cancel()
		p.Close()
	}
	if s.gate != nil {
		s.gate.Close()
	}
	_ = s.stores.Close()
}

// newSub builds a subtask.
func (a *attempt) newSub(n *node, index int) (*sub, error) {
	s := &sub{a: a, node: n, index: index, member: protocol.Member(len(a.subs)), parker: netstack.NewParker()}
	s.resume, _ = iter.Pull(s.run)
	p := a.w.plan
	ctx := &operators.Context{
		Job: "sim", Subtask: index, Parallelism: a.par[n.id], MaxParallel: p.groups, Epoch: a.epoch, Log: a.log, Cancel: a.ctx,
	}
	ctx.SetClock(a.w.unix, false)
	first, end := operators.GroupRange(index, p.groups, a.par[n.id])
	s.stores = task.NewStores(statecow.Options{
		Budget:      2 * statecow.MinBudget, // several checkpoints may hold what was replaced
		SegmentSize: 64 << 10, MaxGroups: p.groups, Groups: statecow.Groups{First: first, End: max(end, first+1)},
	}, nil, nil)
	cfg := task.Config{Name: s.String(), Context: ctx, Parker: s.parker, MaxRecord: 1 << 20}
	cp := &task.Checkpoints{
		Subtask: uint32(s.member), Epoch: a.epoch, Auto: a.mode == protocol.Auto, Blobs: a.w.store, Context: a.ctx,
		UIDs: []string{n.uid}, Stores: s.stores, Tell: s.tell, Defer: s.deferred, Now: a.w.unix,
	}
	var err error
	if p.maxFill == 0 && p.operator == nil {
		err = chain(s, ofOneSize(), ctx, cp, &cfg)
	} else {
		err = chain(s, withFill(), ctx, cp, &cfg)
	}
	if err != nil {
		return nil, err
	}
	cfg.Checkpoints, cfg.Markers = cp, s.markers()
	s.task = task.New(cfg, s)
	return s, nil
}

// chain builds the operators of a subtask.
func chain[T any](s *sub, w wire[T], ctx *operators.Context, cp *task.Checkpoints, cfg *task.Config) error {
	next, err := outputs(s, w, ctx, cp)
	if err != nil {
		return err
	}
	s.uids, s.choose = cp.UIDs, chooseEncoded(w)
	if n := s.node; n.kind == source {
		timed := operators.Times(func(v T) int64 { return int64(w.bare(&v).Seq) }, watermark.Options{}, next)
		cfg.Source, cfg.Ops = operators.NewPuller[T](splits[T]{s.a.w, n, w}, timed), []operators.Operator{timed}
		cp.Source, cp.UIDs, s.uids = n.uid, []string{n.uid + " timed"}, []string{n.uid, n.uid + " timed"}
		return nil
	}
	return inputs(s, w, ctx, cp, cfg, next)
}

// outputs builds the partitions. All that is sent says who has sent it.
func outputs[T any](s *sub, w wire[T], ctx *operators.Context, cp *task.Checkpoints) (operators.Collector[T], error) {
	p, par := s.a.w.plan, s.a.par
	codec, err := operators.CodecFor[T]()
	if err != nil {
		return nil, err
	}
	var next []operators.Collector[T]
	for _, e := range s.node.outputs {
		first, end := e.targets(par, s.index)
		out, err := netstack.NewPartition(s.a.arena, netstack.PartitionOptions{
			Name: s.String(), Subpartitions: end - first, Broadcast: e.pattern == broadcast,
			Exclusive: max(1, p.exclusive), Floating: p.floating, Overdraft: p.overdraft, MaxQueued: p.maxQueued,
			FlushInterval: p.flush, Waker: s.parker, Wait: s.wait,
		})
		if err != nil {
			return nil, err
		}
		s.outs = append(s.outs, out)
		cp.Outputs = append(cp.Outputs, task.Output{Edge: e.key(), From: s.index, First: first})
		switch e.settled(par) {
		case forward, broadcast:
			next = append(next, operators.Forward(ctx, out, codec))
		case custom:
			next = append(next, operators.Custom(ctx, out, codec, w.choose))
		case keyed:
			hash := operators.HasherFor[uint32](nil)
			next = append(next, operators.Keyed(ctx, out, codec, w.key, hash))
		default:
			next = append(next, operators.Rebalance(ctx, out, codec))
		}
	}
	sent := s.a.epoch << 32
	return &visit[T]{func(v T) T {
		sent++
		b := w.bare(&v)
		b.From, b.Sent = uint32(s.index), sent
		return v
	}, operators.Tee(ctx, next)}, nil
}

// inputs builds the gate and the operators.
func inputs[T any](s *sub, w wire[T], ctx *operators.Context, cp *task.Checkpoints, cfg *task.Config, next operators.Collector[T]) error {
	p := s.a.w.plan
	op, in, err := operator(s, w, next)
	if err != nil {
		return err
	}
	codec, err := operators.CodecFor[T]()
	if err != nil {
		return err
	}
	cfg.Ops = []operators.Operator{op}
	o := netstack.GateOptions{Name: s.String(), Exclusive: p.exclusive, Floating: p.floating, Waker: s.parker}
	for _, e := range s.node.inputs {
		senders := e.senders(s.a.par, s.index)
		o.Inputs = append(o.Inputs, len(senders))
		for _, from := range senders {
			cp.Inputs = append(cp.Inputs, task.Channel{Edge: e.key(), From: from, To: s.index})
		}
		cfg.Inputs = append(cfg.Inputs, operators.NewInput(ctx, codec, inlet(s, e, w, in)))
	}
	s.gate, err = netstack.NewGate(o)
	cfg.Gate = s.gate
	return err
}

// operator is what the subtask does, and what takes its records.
func operator[T any](s *sub, w wire[T], next operators.Collector[T]) (operators.Operator, operators.Collector[T], error) {
	p, to := s.a.w.plan, operators.Collector[rec](collect[rec](func(v rec) { next.Collect(w.of(v)) }))
	var op operators.Transform[T]
	var err error
	switch {
	case s.node.kind == mapper && p.operator == nil:
		op = operators.Map(func(v T) T { return v }, next)
	case s.node.kind == counter && p.windows:
		op, err = windowed(p, w, to)
	case s.node.kind == counter && p.final:
		op, err = totals(p, w, to)
	default:
		return whole(s, w.full, to)
	}
	return op, op, err
}

// whole is what the subtask does to whole records.
func whole[T any](s *sub, full func(T) rec, next operators.Collector[rec]) (operators.Operator, operators.Collector[T], error) {
	w := s.a.w
	var op operators.Transform[rec]
	var err error
	switch s.node.kind {
	case mapper:
		op = w.plan.operator(s, next)
	case sink:
		op = operators.To[rec](w.sink)
	default:
		op, err = operators.Process[uint32, rec, rec](withFill().key, &count{pad: w.plan.pad}, next)
	}
	return op, operators.Map(full, operators.Collector[rec](op)), err
}

// receiver is the subtask as the dealer sees it.
func (s *sub) receiver() recovery.Subtask {
	par := s.a.par
	to := recovery.Subtask{Index: s.index, Parallelism: par[s.node.id], UIDs: s.uids}
	for _, e := range s.node.inputs {
		to.Inputs = append(to.Inputs, recovery.Edge{
			Key: e.key(), Sender: e.from.uid, Receiver: e.to.uid, Input: e.input,
			Senders: par[e.from.id], Parallelism: par[e.to.id], Pattern: e.settled(par).dealt(), Choose: s.choose,
		})
	}
	return to
}

// dealt says what decides where a record in flight goes.
func (p pattern) dealt() recovery.Pattern {
	i := slices.Index([]pattern{keyed, custom, broadcast}, p)
	return []recovery.Pattern{recovery.Placed, recovery.Keyed, recovery.Custom, recovery.Broadcast}[i+1]
}

// chooseEncoded is the partitioner of custom edges, of an encoded record.
func chooseEncoded[T any](w wire[T]) func(r *record.Record, n int) (int, error) {
	return func(r *record.Record, n int) (int, error) {
		codec, err := operators.CodecFor[T]()
		if err != nil {
			return 0, err
		}
		v, err := codec.Decode(r.Payload)
		return w.choose(v, n), err
	}
}

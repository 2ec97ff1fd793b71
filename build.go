package overtake

import (
	"context"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/unaligned"
)

// subtask is one running copy of a chain.
type subtask struct {
	head  *node
	index int
	task  *task.Task
	state *task.Stores // nil without checkpoints
	uids  []string     // of the operators, with checkpoints
	gate  *netstack.Gate
	outs  map[*edge]*netstack.Partition
}

// builder makes the subtasks of one worker.
type builder struct {
	plan     *plan
	arena    *bufferpool.Arena
	ctx      context.Context
	clock    perf.Clock
	stack    *netstack.Stack // nil when there is no other worker
	keep     *keeper         // nil without checkpoints
	stateDir string
	combiner *unaligned.Combiner
	tell     func(protocol.Member, task.Notice)
}

// chain is a subtask being built.
type chain struct {
	*builder
	name       string
	sub        *subtask
	ctx        *operators.Context
	parker     *netstack.Parker
	ops        []operators.Operator           // from last to first
	uids       []string                       // of ops
	migrations map[string]operators.Migration // by UID
	outs       []task.Output                  // by partition
	err        error
}

// subtask builds subtask index of the chain that begins with head. After an
// error, what was built so far is returned with it, to be closed.
func (b *builder) subtask(head *node, index int) (*subtask, error) {
	c := &chain{
		builder: b,
		name:    chainName(head),
		sub:     &subtask{head: head, index: index, outs: map[*edge]*netstack.Partition{}},
		ctx: &operators.Context{
			Job: b.plan.job.name, Subtask: index, Parallelism: head.parallelism,
			MaxParallel: b.plan.job.opts.MaxParallelism, Epoch: b.keep.currentEpoch(), StateMemory: b.plan.job.opts.StateMemory,
			Log: b.plan.job.opts.Log, Cancel: b.ctx,
		},
		parker: netstack.NewParker(), migrations: map[string]operators.Migration{},
	}
	if clock := b.plan.job.opts.Clock; clock != nil {
		c.ctx.SetClock(func() int64 { return clock().UnixNano() }, true)
	}
	cfg := task.Config{Name: c.name, Context: c.ctx, Parker: c.parker, MaxRecord: b.plan.job.opts.Network.MaxRecord, InFlightTime: b.plan.job.opts.Network.InFlightTime}
	cfg.Markers = b.markers(head, index)
	if head.puller != nil {
		cfg.Source = head.puller(c.output(head))
	} else {
		cfg.Inputs = c.inputs(head)
		cfg.Gate = c.gate(head)
	}
	slices.Reverse(c.ops)
	slices.Reverse(c.uids)
	cfg.Ops = c.ops
	if b.keep != nil {
		cfg.Checkpoints = c.checkpoints(head)
	}
	if c.err == nil {
		c.sub.task = task.New(cfg, b.clock)
	}
	return c.sub, c.err
}

// output is the collector of everything that n produces.
func (c *chain) output(n *node) any {
	var next []any
	for _, e := range n.outputs {
		if e.fused() {
			next = append(next, c.collector(e.to))
		} else if p := c.partition(e); p != nil {
			next = append(next, e.writer(c.ctx, p))
			first, _ := e.targets(c.sub.index)
			c.outs = append(c.outs, task.Output{Edge: e.key(), From: c.sub.index, First: first})
		}
	}
	if n.tee == nil {
		return nil
	}
	return n.tee(c.ctx, next)
}

// collector is the collector of n's input.
func (c *chain) collector(n *node) any {
	op, in, err := n.operator(c.output(n))
	c.fail(err)
	c.ops = append(c.ops, op)
	c.uids = append(c.uids, n.key())
	if n.migration != nil {
		m, err := n.migration()
		c.fail(err)
		c.migrations[n.key()] = m
	}
	return in
}

// checkpoints connects the subtask with the job's checkpoints.
func (c *chain) checkpoints(head *node) *task.Checkpoints {
	k, job := c.keep, c.plan.job
	member := c.plan.member(head, c.sub.index)
	first, end := operators.GroupRange(c.sub.index, job.opts.MaxParallelism, head.parallelism)
	c.sub.state = task.NewStores(statecow.Options{
		Budget: job.opts.StateMemory, MaxGroups: job.opts.MaxParallelism, Groups: statecow.Groups{First: first, End: end},
	}, c.migrations, c.disk(member))
	c.sub.uids = slices.Clone(c.uids)
	cp := &task.Checkpoints{
		Subtask: uint32(member), Epoch: k.epoch, Auto: job.opts.Checkpoints.Mode == Auto, Blobs: k.blobs, Context: c.ctx.Cancel,
		UIDs: c.uids, Stores: c.sub.state, Outputs: c.outs, Inputs: c.plan.channels(head, c.sub.index),
		Tell: func(n task.Notice) { c.tell(member, n) }, Now: func() int64 { return time.Now().UnixNano() },
	}
	cp.Combiner = c.combiner
	if k.local != nil {
		cp.Prune = k.local.Prune
	}
	if head.puller != nil {
		cp.Source = head.key()
		c.sub.uids = append(c.sub.uids, cp.Source)
	}
	return cp
}

func (c *chain) inputs(head *node) (inputs []operators.Input) {
	in := c.collector(head)
	for _, e := range head.inputs {
		inputs = append(inputs, e.reader(c.ctx, in))
	}
	return inputs
}

func (c *chain) gate(head *node) *netstack.Gate {
	net := c.plan.job.opts.Network
	o := netstack.GateOptions{Name: c.name, Exclusive: net.Exclusive, Floating: net.Floating, Clock: c.clock, Waker: c}
	for _, e := range head.inputs {
		o.Inputs = append(o.Inputs, len(e.senders(c.sub.index)))
	}
	gate, err := netstack.NewGate(o)
	c.fail(err)
	c.sub.gate = gate
	return gate
}

// Wake wakes the subtask when something arrives. It is the gate's Waker.
func (c *chain) Wake() { c.sub.task.Wake() }

func (c *chain) partition(e *edge) *netstack.Partition {
	net := c.plan.job.opts.Network
	first, end := e.targets(c.sub.index)
	p, err := netstack.NewPartition(c.arena, netstack.PartitionOptions{
		Name: c.name, Subpartitions: end - first, Broadcast: e.pattern == broadcast,
		Exclusive: net.Exclusive, Floating: net.Floating, Overdraft: net.Overdraft,
		FlushInterval: net.FlushInterval, Clock: c.clock,
		Waker: c.parker,
		Wait:  func() { c.sub.task.Wait() },
	})
	c.fail(err)
	if err != nil {
		return nil
	}
	c.sub.outs[e] = p
	return p
}

func (c *chain) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

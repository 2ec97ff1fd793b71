package overtake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// Job is a graph of operators. Building it starts nothing: sources, goroutines,
// memory and sockets exist from Start to the end of Wait only. A Job is built by
// one goroutine and run once at a time.
type Job struct {
	name  string
	opts  Options
	nodes []*node
	clock perf.Clock // of a test; nil: the system's

	freeEvery time.Duration // how often idle network memory is given back
}

// NewJob returns an empty job. The name identifies it to other workers and to
// its checkpoints. Problems with opts are reported by Run.
func NewJob(name string, opts Options) *Job {
	return &Job{name: name, opts: opts.withDefaults(), freeEvery: freeEvery}
}

// Run runs the job to the end of its sources. It returns nil when every record
// was processed. When ctx ends it stops at once, dropping what is in flight, and
// returns ctx's error; use Start and Handle.Drain to stop without loss.
func (j *Job) Run(ctx context.Context) error {
	h, err := j.Start(ctx)
	if err != nil {
		return err
	}
	return h.Wait()
}

// add adds an operator of some kind.
func (j *Job) add(kind string, o opOptions) *node {
	n := &node{id: len(j.nodes), name: kind, uid: o.uid, parallelism: o.parallelism, fixed: o.parallelism != 0}
	if o.name != "" {
		n.name = o.name
	}
	j.nodes = append(j.nodes, n)
	return n
}

// validate checks the options and the graph, and settles what was left open. It
// reports all problems at once.
func (j *Job) validate() error {
	errs := []error{j.opts.Validate()}
	bad := func(n *node, err error) {
		errs = append(errs, &BuildError{Job: j.name, Operator: n.name, Err: err})
	}
	if j.name == "" {
		errs = append(errs, errors.New("overtake: the job needs a name"))
	}
	if len(j.nodes) == 0 {
		errs = append(errs, fmt.Errorf("overtake: job %q is empty: begin with From", j.name))
	}
	uids := map[string]*node{}
	for _, n := range j.nodes {
		for _, err := range append(n.errs, j.validateNode(n)...) {
			bad(n, err)
		}
		if other := uids[n.uid]; n.uid != "" && other != nil {
			bad(n, fmt.Errorf("%w: %q is also the UID of %q", ErrUID, n.uid, other.name))
		}
		uids[n.uid] = n
	}
	return errors.Join(errs...)
}

func (j *Job) validateNode(n *node) (errs []error) {
	set(&n.parallelism, j.opts.Parallelism)
	if n.stateful && n.uid == "" {
		errs = append(errs, fmt.Errorf("%w: it keeps state, so give it a name for life with WithUID(...)", ErrUID))
	}
	if n.single && n.parallelism != 1 {
		errs = append(errs, fmt.Errorf("its sink has one writer: remove WithParallelism(%d)", n.parallelism))
	}
	if n.parallelism < 1 || n.parallelism > MaxParallelism {
		errs = append(errs, fmt.Errorf("parallelism %d, want 1 to %d", n.parallelism, MaxParallelism))
	}
	for _, e := range n.inputs {
		if e.pattern == keyed && n.parallelism > j.opts.MaxParallelism {
			errs = append(errs, fmt.Errorf("parallelism %d of a keyed operator exceeds MaxParallelism %d", n.parallelism, j.opts.MaxParallelism))
		}
		if e.from.id >= len(j.nodes) || j.nodes[e.from.id] != e.from {
			errs = append(errs, fmt.Errorf("its input %d belongs to another job", e.input))
		}
	}
	return errs
}

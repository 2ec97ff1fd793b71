package overtake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/operators"
)

// ErrRestore: the checkpoint does not fit the job.
var ErrRestore = errors.New("the checkpoint does not fit the job")

// recovery deals a checkpoint's state to the subtasks of a job, which may have another
// parallelism than the one that wrote it.
type recovery struct {
	plan  *plan
	keep  *keeper
	ctx   context.Context
	saved map[string]*checkpoint.Operator // by UID
	fly   map[string][]flight             // by edge
}

// flight is the records that were in flight on one channel.
type flight struct {
	task.Run
	records []byte
}

// newRecovery reads what concerns all subtasks of this worker.
func newRecovery(ctx context.Context, p *plan, k *keeper) (*recovery, error) {
	r := &recovery{plan: p, keep: k, ctx: ctx, saved: map[string]*checkpoint.Operator{}, fly: map[string][]flight{}}
	if k.from == nil {
		return r, nil
	}
	for i := range k.from.Operators {
		op := &k.from.Operators[i]
		r.saved[op.UID] = op
	}
	if err := r.fits(); err != nil {
		return nil, fmt.Errorf("overtake: job %q, checkpoint %d: %w", p.job.name, k.from.ID, err)
	}
	return r, r.inFlight()
}

// fits compares the checkpoint with the job and reports all that does not match.
func (r *recovery) fits() error {
	var errs []error
	if m := r.keep.from.MaxParallelism; m != r.plan.job.opts.MaxParallelism {
		errs = append(errs, fmt.Errorf("%w: it has %d key groups, Options.MaxParallelism is %d: set it to %d", ErrRestore, m, r.plan.job.opts.MaxParallelism, m))
	}
	known := map[string]bool{}
	var names []string
	for _, n := range r.plan.job.nodes {
		known[n.key()] = true
		names = append(names, fmt.Sprintf("%q", n.key()))
	}
	for _, op := range r.keep.from.Operators {
		if !known[op.UID] && hasState(op) && !r.keep.opts.AllowNonRestored {
			errs = append(errs, fmt.Errorf("%w: it has state of operator %q (%s), and the job has only %s: give an operator that UID, or allow state not to be restored",
				ErrRestore, op.UID, op.Name, strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

func hasState(op checkpoint.Operator) bool {
	for _, s := range op.Subtasks {
		if len(s.Parts) > 0 {
			return true
		}
	}
	return false
}

// share is what one subtask goes on from.
func (r *recovery) share(head *node, index int, uids []string) (task.Restored, error) {
	if r.keep.from == nil {
		return task.Restored{Context: r.ctx}, nil
	}
	out := task.Restored{
		From: protocol.ID(r.keep.from.ID), Own: r.keep.own, Blobs: r.keep.fromBlobs, Context: r.ctx,
		Operators: map[string]task.RestoredOperator{}, Finished: r.finished(uids),
	}
	for _, uid := range uids {
		op, err := r.operator(uid, index, head.parallelism)
		if err != nil {
			return out, err
		}
		out.Operators[uid] = op
	}
	for _, e := range head.inputs {
		runs, err := r.runs(e, index)
		if err != nil {
			return out, err
		}
		out.InFlight = append(out.InFlight, runs...)
	}
	return out, nil
}

// finished reports whether all subtasks of all these operators had finished.
func (r *recovery) finished(uids []string) bool {
	for _, uid := range uids {
		op := r.saved[uid]
		if op == nil || len(op.Subtasks) < op.Parallelism {
			return false
		}
		for _, s := range op.Subtasks {
			if !s.Finished {
				return false
			}
		}
	}
	return true
}

// operator deals an operator's state: keyed state by key groups, the rest by the
// number of the subtask, modulo today's.
func (r *recovery) operator(uid string, index, parallelism int) (out task.RestoredOperator, err error) {
	out.Layouts = map[string][]string{}
	op := r.saved[uid]
	if op == nil {
		return out, nil
	}
	first, end := operators.GroupRange(index, r.plan.job.opts.MaxParallelism, parallelism)
	for _, s := range op.Subtasks {
		mine := s.Index%parallelism == index
		for _, p := range s.Parts {
			switch layout, isLayout := strings.CutPrefix(p.State, task.LayoutState); {
			case p.Kind == checkpoint.Keyed && p.FirstGroup < end && first < p.EndGroup:
				if s.Finished {
					out.Done = append(out.Done, p)
				} else {
					out.Keyed = append(out.Keyed, p)
				}
			case p.Kind == checkpoint.OperatorState && isLayout:
				if text := string(p.Inline); !slices.Contains(out.Layouts[layout], text) {
					out.Layouts[layout] = append(out.Layouts[layout], text)
				}
			case p.Kind == checkpoint.OperatorState && mine:
				if out.Pieces, err = r.pieces(out.Pieces, p); err != nil {
					return out, err
				}
			case p.Kind == checkpoint.Splits:
				if err := r.splits(&out, p, op, s.Index, index, parallelism); err != nil {
					return out, err
				}
			}
		}
	}
	return out, nil
}

// pieces appends the byte strings in a part.
func (r *recovery) pieces(dst [][]byte, p checkpoint.Part) ([][]byte, error) {
	b, err := r.read(p)
	if err != nil {
		return nil, err
	}
	list, err := operators.SplitPieces(b)
	return append(dst, list...), err
}

// splits deals the positions of a source: to the same subtasks, or if their number has
// changed, in turn.
func (r *recovery) splits(out *task.RestoredOperator, p checkpoint.Part, op *checkpoint.Operator, from, index, parallelism int) error {
	list, err := r.pieces(nil, p)
	if err != nil {
		return err
	}
	for i, split := range list {
		to := from
		if op.Parallelism != parallelism {
			to = (from + i*op.Parallelism) % parallelism
		}
		if to == index {
			out.Splits = append(out.Splits, split)
		}
	}
	return nil
}

// read returns what a part holds, wherever it is.
func (r *recovery) read(p checkpoint.Part) ([]byte, error) {
	b := slices.Clone(p.Inline)
	for _, ref := range p.Chain {
		more, err := r.blob(ref)
		if err != nil {
			return nil, err
		}
		b = append(b, more...)
	}
	return b, nil
}

func (r *recovery) blob(ref checkpoint.BlobRef) ([]byte, error) {
	in, err := r.keep.fromBlobs.Open(r.ctx, ref)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

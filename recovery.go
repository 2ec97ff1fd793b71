package overtake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/recovery"
)

// ErrDamaged says that there are checkpoints, and none of them is whole. The job does not begin
// anew by itself: what it has put out already would come a second time.
var ErrDamaged = errors.New("no checkpoint is whole")

// ErrRestore says that the checkpoint does not fit the job.
var ErrRestore = errors.New("the checkpoint does not fit the job")

// newDealer reads what concerns all subtasks of this worker.
func newDealer(ctx context.Context, p *plan, k *keeper) (*recovery.Dealer, error) {
	if err := k.fits(p); err != nil {
		return nil, fmt.Errorf("overtake: job %q, checkpoint %d: %w", p.job.name, k.from.ID, err)
	}
	today := map[string]int{}
	for _, n := range p.job.nodes {
		today[n.key()] = n.parallelism
	}
	d, err := recovery.New(ctx, recovery.From{
		Manifest: k.from, Blobs: k.fromBlobs, Own: k.own, Groups: p.job.opts.MaxParallelism, Today: today,
	})
	if err != nil {
		return nil, fmt.Errorf("overtake: job %q, checkpoint %d: %w", p.job.name, k.from.ID, err)
	}
	if err := k.reaches(p, d.Edges()); err != nil {
		return nil, fmt.Errorf("overtake: job %q, checkpoint %d: %w", p.job.name, k.from.ID, err)
	}
	return d, nil
}

// reaches reports records in flight that no subtask would take.
func (k *keeper) reaches(p *plan, edges []string) error {
	there := map[string]bool{}
	for e := range p.bases {
		there[e.key()] = true
	}
	var errs []error
	for _, e := range edges {
		if !there[e] && !k.opts.AllowNonRestored {
			errs = append(errs, fmt.Errorf("%w: records were in flight on %q, which the job does not have, or not between subtasks: keep the operators and their parallelism, make a savepoint in mode aligned, or allow state not to be restored",
				ErrRestore, e))
		}
	}
	return errors.Join(errs...)
}

// fits compares the checkpoint with the job and reports all that does not match.
func (k *keeper) fits(p *plan) error {
	if k.from == nil {
		return nil
	}
	var errs []error
	if m := k.from.MaxParallelism; m != p.job.opts.MaxParallelism {
		errs = append(errs, fmt.Errorf("%w: it has %d key groups, Options.MaxParallelism is %d: set it to %d", ErrRestore, m, p.job.opts.MaxParallelism, m))
	}
	known := map[string]bool{}
	var names []string
	for _, n := range p.job.nodes {
		known[n.key()] = true
		names = append(names, fmt.Sprintf("%q", n.key()))
	}
	for _, op := range k.from.Operators {
		if !known[op.UID] && hasState(op) && !k.opts.AllowNonRestored {
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

// receiver is a subtask as the dealer sees it.
func (s *subtask) receiver() recovery.Subtask {
	to := recovery.Subtask{Index: s.index, Parallelism: s.head.parallelism, UIDs: s.uids}
	for _, e := range s.head.inputs {
		to.Inputs = append(to.Inputs, recovery.Edge{
			Key: e.key(), Sender: e.from.key(), Receiver: e.to.key(), Input: e.input,
			Senders: e.from.parallelism, Parallelism: e.to.parallelism, Pattern: e.pattern.dealt(), Choose: e.choose,
		})
	}
	return to
}

// dealt says what decides where a record in flight goes.
func (p pattern) dealt() recovery.Pattern {
	switch p {
	case keyed:
		return recovery.Keyed
	case custom:
		return recovery.Custom
	case broadcast:
		return recovery.Broadcast
	}
	return recovery.Placed
}

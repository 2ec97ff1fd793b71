package recovery

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/operators"
)

// From is what a job goes on from.
type From struct {
	Manifest *checkpoint.Manifest // nil: the beginning
	Blobs    checkpoint.Blobs     // where the manifest's blobs are
	Own      bool                 // it is the job's own, so increments may build on it
	Groups   int                  // key groups
	// Today is the parallelism of the job's operators, by UID.
	Today map[string]int
}

// scaled reports whether an operator has another parallelism than before, or is new.
func (f *From) scaled() bool {
	before := map[string]int{}
	for _, op := range f.Manifest.Operators {
		before[op.UID] = op.Parallelism
	}
	for uid, n := range f.Today {
		if before[uid] != n {
			return true
		}
	}
	return false
}

// Subtask is who gets a share.
type Subtask struct {
	Index, Parallelism int
	UIDs               []string // of the operators of its chain, the source included
	Inputs             []Edge
}

// Dealer deals a checkpoint's state to the subtasks of a job.
type Dealer struct {
	from  From
	ctx   context.Context
	saved map[string]*checkpoint.Operator // by UID
	fly   map[string][]flight             // by edge
	blobs map[checkpoint.BlobName][]byte  // read so far, of records in flight
}

// New reads the records that were in flight. ctx is used as long as what is dealt is read.
// The error names the operator whose part is damaged or missing.
func New(ctx context.Context, from From) (*Dealer, error) {
	d := &Dealer{from: from, ctx: ctx, saved: map[string]*checkpoint.Operator{}, fly: map[string][]flight{}, blobs: map[checkpoint.BlobName][]byte{}}
	if from.Manifest == nil {
		return d, nil
	}
	for i := range from.Manifest.Operators {
		op := &from.Manifest.Operators[i]
		d.saved[op.UID] = op
	}
	return d, d.inFlight()
}

// Share is what one subtask goes on from.
func (d *Dealer) Share(s Subtask) (task.Restored, error) {
	if d.from.Manifest == nil {
		return task.Restored{Context: d.ctx}, nil
	}
	out := task.Restored{
		From: protocol.ID(d.from.Manifest.ID), Own: d.from.Own, Blobs: d.from.Blobs, Context: d.ctx,
		Operators: map[string]task.RestoredOperator{}, Finished: d.finished(s.UIDs), SameChannels: d.sameChannels(s),
	}
	for _, uid := range s.UIDs {
		op, err := d.operator(uid, s)
		if err != nil {
			return out, err
		}
		out.Operators[uid] = op
		if out.Marks, err = d.marks(out.Marks, uid, s, out.SameChannels); err != nil {
			return out, err
		}
	}
	for i := range s.Inputs {
		runs, err := d.runs(&s.Inputs[i], s.Index)
		if err == nil && !out.SameChannels {
			runs, err = unmarked(runs)
		}
		if err != nil {
			return out, err
		}
		out.InFlight = append(out.InFlight, runs...)
	}
	return out, nil
}

// finished reports whether all subtasks of all these operators had finished.
func (d *Dealer) finished(uids []string) bool {
	for _, uid := range uids {
		op := d.saved[uid]
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

// operator deals an operator's state.
func (d *Dealer) operator(uid string, to Subtask) (out task.RestoredOperator, err error) {
	out.Layouts = map[string][]string{}
	op := d.saved[uid]
	if op == nil {
		return out, nil
	}
	out.Saved = true
	first, end := operators.GroupRange(to.Index, d.from.Groups, to.Parallelism)
	for _, s := range op.Subtasks {
		for len(out.SplitMarks) < len(out.Splits) { // this one's come behind those of the subtasks before
			out.SplitMarks = append(out.SplitMarks, nil)
		}
		mine := s.Index%to.Parallelism == to.Index
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
			case p.Kind == checkpoint.OperatorState && p.State == task.MarksState: // see marks
			case p.Kind == checkpoint.OperatorState && p.State == task.SplitMarksState:
				if out.SplitMarks, err = d.splits(out.SplitMarks, p, op, s.Index, to); err != nil {
					return out, err
				}
			case p.Kind == checkpoint.OperatorState && mine:
				if out.Pieces, err = d.pieces(out.Pieces, p); err != nil {
					return out, err
				}
			case p.Kind == checkpoint.Splits:
				if out.Splits, err = d.splits(out.Splits, p, op, s.Index, to); err != nil {
					return out, err
				}
			}
		}
	}
	return out, nil
}

// pieces appends the byte strings in a part.
func (d *Dealer) pieces(dst [][]byte, p checkpoint.Part) ([][]byte, error) {
	b, err := d.read(p)
	if err != nil {
		return nil, err
	}
	list, err := operators.SplitPieces(b)
	return append(dst, list...), err
}

// splits deals the positions of a source, or what belongs to each: to the same subtasks, or
// if their number has changed, in turn.
func (d *Dealer) splits(dst [][]byte, p checkpoint.Part, op *checkpoint.Operator, from int, s Subtask) ([][]byte, error) {
	list, err := d.pieces(nil, p)
	if err != nil {
		return nil, err
	}
	for i, split := range list {
		to := from
		if op.Parallelism != s.Parallelism {
			to = (from + i*op.Parallelism) % s.Parallelism
		}
		if to == s.Index {
			dst = append(dst, split)
		}
	}
	return dst, nil
}

// read returns what a part holds, wherever it is.
func (d *Dealer) read(p checkpoint.Part) ([]byte, error) {
	b := slices.Clone(p.Inline)
	for _, ref := range p.Chain {
		more, err := d.blob(ref)
		if err != nil {
			return nil, err
		}
		b = append(b, more...)
	}
	return b, nil
}

func (d *Dealer) blob(ref checkpoint.BlobRef) ([]byte, error) {
	in, err := d.from.Blobs.Open(d.ctx, ref)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

package main

import (
	"fmt"
	"io"

	"github.com/overtake-stream/overtake/checkpoint"
)

type inspectCmd struct {
	Dir  string `arg:"" help:"Folder of a job's checkpoints, or of a savepoint."`
	ID   string `arg:"" optional:"" help:"Default: the newest."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// inspected is all that is known of a checkpoint.
type inspected struct {
	listed
	MaxParallelism int
	SyncPause      int64 // nanoseconds, like the next
	Align          int64
	Operators      []inspectedOperator
	InFlight       []channel
}

type inspectedOperator struct {
	UID, Name   string
	Parallelism int
	Subtasks    []inspectedSubtask
}

type inspectedSubtask struct {
	Index    int
	Finished bool
	Parts    []inspectedPart
}

type inspectedPart struct {
	Kind, State          string
	FirstGroup, EndGroup int    `json:",omitempty"`
	Inline               int    // bytes in the manifest
	Chain                []blob `json:",omitempty"`
}

type blob struct {
	Name         string
	Size, Stored int64
}

// Run prints it.
func (c *inspectCmd) Run() error {
	v, err := openView(c.Dir)
	if err != nil {
		return err
	}
	m, err := v.manifest(c.ID)
	if err != nil {
		return err
	}
	x := inspect(m)
	if x.InFlight, err = channels(v.blobs, m); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(x)
	}
	return table(x.print)
}

func inspect(m *checkpoint.Manifest) inspected {
	x := inspected{listed: newListed(m), MaxParallelism: m.MaxParallelism, SyncPause: int64(m.Stats.SyncPause), Align: int64(m.Stats.Align)}
	for _, op := range m.Operators {
		o := inspectedOperator{UID: op.UID, Name: op.Name, Parallelism: op.Parallelism}
		for _, s := range op.Subtasks {
			t := inspectedSubtask{Index: s.Index, Finished: s.Finished}
			for _, p := range s.Parts {
				t.Parts = append(t.Parts, inspectPart(p))
			}
			o.Subtasks = append(o.Subtasks, t)
		}
		x.Operators = append(x.Operators, o)
	}
	return x
}

func inspectPart(p checkpoint.Part) inspectedPart {
	x := inspectedPart{Kind: p.Kind.String(), State: p.State, FirstGroup: p.FirstGroup, EndGroup: p.EndGroup, Inline: len(p.Inline)}
	for _, ref := range p.Chain {
		x.Chain = append(x.Chain, blob{Name: ref.Name.String(), Size: ref.Size, Stored: ref.Stored})
	}
	return x
}

func (x inspected) print(w io.Writer) {
	fmt.Fprintf(w, "%s %d of job %q, %s, epoch %d, %d key groups: %d blobs with %s, %s of them new\n",
		x.Kind, x.ID, x.Job, x.Mode, x.Epoch, x.MaxParallelism, x.Blobs, size(x.Full), size(x.New))
	if x.End {
		fmt.Fprintln(w, "the job has ended with it")
	}
	for _, op := range x.Operators {
		fmt.Fprintf(w, "operator %s (%s), parallelism %d\n", op.UID, op.Name, op.Parallelism)
		for _, s := range op.Subtasks {
			s.print(w)
		}
	}
	if len(x.InFlight) == 0 {
		return
	}
	fmt.Fprintln(w, "records in flight:\n  EDGE\tFROM\tTO\tAT SENDER\tAT RECEIVER\tRECORDS\tEVENTS")
	for _, c := range x.InFlight {
		fmt.Fprintf(w, "  %s\t%d\t%d\t%s\t%s\t%d\t%d\n", c.Edge, c.From, c.To, size(c.AtSender), size(c.AtReceiver), c.Records, c.Events)
	}
}

func (s inspectedSubtask) print(w io.Writer) {
	finished := ""
	if s.Finished {
		finished = ", finished"
	}
	if len(s.Parts) == 0 {
		fmt.Fprintf(w, "  subtask %d%s: nothing to save\n", s.Index, finished)
		return
	}
	fmt.Fprintf(w, "  subtask %d%s\n", s.Index, finished)
	for _, p := range s.Parts {
		groups := ""
		if p.EndGroup > p.FirstGroup {
			groups = fmt.Sprintf(" groups %d-%d", p.FirstGroup, p.EndGroup-1)
		}
		fmt.Fprintf(w, "    %s\t%s%s\t%s in the manifest", p.Kind, p.State, groups, size(int64(p.Inline)))
		for _, b := range p.Chain {
			fmt.Fprintf(w, "\t%s %s", b.Name, size(b.Stored))
		}
		fmt.Fprintln(w)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
)

// checkpointsCmd reads what jobs have saved. All but dispose work while a job runs.
type checkpointsCmd struct {
	List    listCmd    `cmd:"" help:"List the checkpoints in a folder."`
	Inspect inspectCmd `cmd:"" help:"Show what a checkpoint has of each operator, and the records in flight."`
	Verify  verifyCmd  `cmd:"" help:"Read all of a checkpoint, or of all, and compare the checksums."`
	Diff    diffCmd    `cmd:"" help:"Show which bytes two checkpoints share."`
	Dispose disposeCmd `cmd:"" help:"Delete a checkpoint. No job may be running."`
}

type listCmd struct {
	Dir  string `arg:"" help:"Folder of a job's checkpoints, or of a savepoint."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// listed is a line of the list.
type listed struct {
	ID       checkpoint.ID
	Kind     string    `json:",omitempty"`
	Job      string    `json:",omitempty"`
	Mode     string    `json:",omitempty"`
	Epoch    uint64    `json:",omitempty"`
	At       time.Time // when it was complete
	Duration time.Duration
	Blobs    int
	New      int64  // bytes that it wrote
	Full     int64  // bytes that a restore reads
	End      bool   // the job has ended with it
	Damaged  string `json:",omitempty"`
}

// Run prints the list.
func (c *listCmd) Run() error {
	v, err := openView(c.Dir)
	if err != nil {
		return err
	}
	all := []listed{}
	for _, id := range v.ids {
		m, err := v.blobs.Manifest(context.Background(), id)
		switch {
		case errors.Is(err, checkpoint.ErrNotFound): // the job has dropped it meanwhile
		case err != nil:
			all = append(all, listed{ID: id, Damaged: err.Error()})
		default:
			all = append(all, newListed(m))
		}
	}
	if c.JSON {
		return printJSON(all)
	}
	return table(func(w io.Writer) {
		fmt.Fprintln(w, "ID\tKIND\tJOB\tMODE\tEPOCH\tCOMPLETE\tTOOK\tBLOBS\tNEW\tFULL\t")
		for _, l := range all {
			if l.Damaged != "" {
				fmt.Fprintf(w, "%d\tdamaged: %s\n", l.ID, l.Damaged)
				continue
			}
			note := ""
			if l.End {
				note = "end of the job"
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\n", l.ID, l.Kind, l.Job, l.Mode, l.Epoch,
				l.At.Format(time.DateTime), brief(l.Duration), l.Blobs, size(l.New), size(l.Full), note)
		}
	})
}

func newListed(m *checkpoint.Manifest) listed {
	s := checkpoint.Summarize(m)
	return listed{
		ID: s.ID, Kind: s.Kind.String(), Job: s.Job, Mode: s.Mode, Epoch: s.Epoch, At: time.Unix(0, s.Completed),
		Duration: s.Stats.Duration, Blobs: s.Blobs, New: s.Stats.NewBytes, Full: s.Stored, End: isEnd(m),
	}
}

// table prints columns.
func table(print func(io.Writer)) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	print(w)
	return w.Flush()
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

type verifyCmd struct {
	Dir string `arg:"" help:"Folder of a job's checkpoints, or of a savepoint."`
	ID  string `arg:"" optional:"" help:"Default: all."`
}

// Run reads everything.
func (c *verifyCmd) Run() error {
	v, err := openView(c.Dir)
	if err != nil {
		return err
	}
	if c.ID != "" {
		m, err := v.manifest(c.ID)
		if err != nil {
			return err
		}
		v.ids = []checkpoint.ID{m.ID}
	}
	var bad []error
	for _, id := range v.ids {
		m, err := v.blobs.Manifest(context.Background(), id)
		if err == nil {
			err = checkpoint.VerifyBlobs(context.Background(), v.blobs, m)
		}
		switch {
		case err == nil:
			s := checkpoint.Summarize(m)
			fmt.Printf("%d: whole, %d blobs, %s\n", id, s.Blobs, size(s.Stored))
		case errors.Is(err, checkpoint.ErrNotFound) && v.gone(id):
			fmt.Printf("%d: dropped by its job meanwhile\n", id)
		default:
			bad = append(bad, fmt.Errorf("%d: %w", id, err))
		}
	}
	if len(v.ids) == 0 {
		fmt.Println("no checkpoints")
	}
	return errors.Join(bad...)
}

type disposeCmd struct {
	Dir   string `arg:"" help:"Folder of a job's checkpoints."`
	ID    string `arg:"" help:"Which one to delete."`
	Force bool   `help:"Even if it is the newest, from which the job would go on."`
}

// Run deletes a checkpoint.
func (c *disposeCmd) Run() (err error) {
	v, err := openView(c.Dir)
	if err != nil {
		return err
	}
	if v.savepoint {
		return fmt.Errorf("%s is a savepoint: remove the folder", c.Dir)
	}
	id, err := parseID(c.ID)
	if err != nil {
		return err
	}
	if len(v.ids) > 0 && v.ids[0] == id && !c.Force {
		return fmt.Errorf("%d is the newest, from which the job would go on: --force deletes it all the same", id)
	}
	s, err := checkpoint.OpenDir(c.Dir, checkpoint.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Drop(context.Background(), id); errors.Is(err, checkpoint.ErrNotFound) {
		return fmt.Errorf("%s has no checkpoint %d: it has %s", c.Dir, id, idList(v.ids))
	} else if err != nil {
		return err
	}
	fmt.Printf("deleted %d\n", id)
	return nil
}

package overtake_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// TestNoBlobIsLeftForNothing ends jobs with checkpoints in flight, whose subtasks write
// blobs after the checkpoints were given up.
func TestNoBlobIsLeftForNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 3 {
		dir := t.TempDir()
		opts := small(3)
		opts.Checkpoints = overtake.Checkpoints{
			Dir: dir, Interval: time.Millisecond, Mode: overtake.Unaligned, MaxConcurrent: 3, TolerableFailures: 1000,
		}
		var sink memory.Committed[count]
		if err := countJob(opts, 40_000, 10_000, newFaulty(1, 0, 1), &sink, nil).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, name := range orphans(t, dir) {
			t.Errorf("no checkpoint has %s", name)
		}
	}
}

// orphans are the files of blobs in a store that no manifest refers to.
func orphans(t *testing.T, dir string) (names []string) {
	t.Helper()
	s, err := checkpoint.OpenDir(dir, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	owned := map[string]bool{}
	for _, c := range all {
		m, err := s.Manifest(context.Background(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name := range m.BlobSet() {
			owned[name.String()+".blob"] = true
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !owned[f.Name()] {
			names = append(names, f.Name())
		}
	}
	return names
}

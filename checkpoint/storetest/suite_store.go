package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/checkpoint"
)

func testPublish(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	a, b := MustWrite(t, s, Name(1, 0), 1000), MustWrite(t, s, Name(1, 1), 2000)
	want := Manifest(1, []checkpoint.BlobRef{a, b}, []checkpoint.BlobRef{b})
	MustPublish(t, s, want)
	got, err := s.Manifest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Manifest: %s", diff)
	}
	got, skipped, err := s.Latest(t.Context())
	if err != nil || len(skipped) > 0 {
		t.Fatalf("Latest: %v, skipped %v", err, skipped)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Latest: %s", diff)
	}
	all, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	summary := checkpoint.Summarize(want)
	if diff := cmp.Diff([]checkpoint.Summary{summary}, all); diff != "" {
		t.Errorf("List: %s", diff)
	}
	if summary.Blobs != 2 || summary.Stored != a.Stored+b.Stored {
		t.Errorf("summary %+v", summary)
	}
}

func testInvalid(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	for what, spoil := range map[string]func(*checkpoint.Manifest){
		"no ID":         func(m *checkpoint.Manifest) { m.ID = 0 },
		"version":       func(m *checkpoint.Manifest) { m.Version = 9 },
		"kind":          func(m *checkpoint.Manifest) { m.Kind = 9 },
		"subtask":       func(m *checkpoint.Manifest) { m.Operators[0].Subtasks[0].Index = 2 },
		"subtask twice": func(m *checkpoint.Manifest) { m.Operators[0].Subtasks[0].Index = 1 },
		"UID twice":     func(m *checkpoint.Manifest) { m.Operators[0].UID = m.Operators[1].UID },
		"part kind":     func(m *checkpoint.Manifest) { m.Operators[0].Subtasks[0].Parts[0].Kind = 0 },
		"groups":        func(m *checkpoint.Manifest) { m.Operators[0].Subtasks[0].Parts[0].EndGroup = 129 },
		"negative":      func(m *checkpoint.Manifest) { m.Stats.NewBytes = -1 },
		"long name":     func(m *checkpoint.Manifest) { m.Job = string(make([]byte, checkpoint.MaxName+1)) },
		"too much inline": func(m *checkpoint.Manifest) {
			m.Operators[0].Subtasks[0].Parts[0].Inline = make([]byte, checkpoint.MaxInline+1)
		},
		"a blob's size": func(m *checkpoint.Manifest) {
			m.Operators[0].Subtasks[0].Parts[0].Chain = []checkpoint.BlobRef{{Size: -1}}
		},
		"max parallelism":  func(m *checkpoint.Manifest) { m.MaxParallelism = -1 },
		"operator's tasks": func(m *checkpoint.Manifest) { m.Operators[0].Parallelism = -1 },
	} {
		m := Manifest(1)
		spoil(m)
		var invalid *checkpoint.InvalidError
		if err := s.Publish(t.Context(), m); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all, err := s.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("List = %v, %v", all, err)
	}
}

func testMissing(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	ref := MustWrite(t, s, Name(1, 0), 1000)
	absent, longer := ref, ref
	absent.Name = Name(1, 1)
	longer.Stored++
	for _, bad := range []checkpoint.BlobRef{absent, longer} {
		err := s.Publish(t.Context(), Manifest(1, []checkpoint.BlobRef{bad}))
		var missing *checkpoint.MissingError
		if !errors.As(err, &missing) || missing.Blob != bad.Name || missing.Checkpoint != 1 {
			t.Errorf("publishing a reference to %v with %d bytes: %v", bad.Name, bad.Stored, err)
		}
	}
	_, _, err := s.Latest(t.Context())
	wantError(t, "Latest", err, checkpoint.ErrNotFound)
	MustPublish(t, s, Manifest(1, []checkpoint.BlobRef{ref}))
}

func testWrongReference(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	ref := MustWrite(t, s, Name(1, 0), 1000)
	for what, spoil := range map[string]func(*checkpoint.BlobRef){
		"sum":     func(r *checkpoint.BlobRef) { r.Sum++ },
		"larger":  func(r *checkpoint.BlobRef) { r.Size++ },
		"smaller": func(r *checkpoint.BlobRef) { r.Size-- },
	} {
		bad := ref
		spoil(&bad)
		_, err := Read(t.Context(), s, bad)
		var corrupt *checkpoint.CorruptError
		if !errors.As(err, &corrupt) || corrupt.File == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	MustRead(t, s, ref)
}

func testOrder(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	for _, id := range []checkpoint.ID{9, 10, 2, 100} {
		MustPublish(t, s, Manifest(id))
	}
	ids := func() (ids []checkpoint.ID) {
		all, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			ids = append(ids, one.ID)
		}
		return ids
	}
	if got := ids(); !slices.Equal(got, []checkpoint.ID{100, 10, 9, 2}) {
		t.Errorf("List = %v", got)
	}
	for _, drop := range []checkpoint.ID{100, 2} {
		if err := s.Drop(t.Context(), drop); err != nil {
			t.Error(err)
		}
	}
	wantError(t, "Drop again", s.Drop(t.Context(), 100), checkpoint.ErrNotFound)
	if got := ids(); !slices.Equal(got, []checkpoint.ID{10, 9}) {
		t.Errorf("List = %v", got)
	}
	if m, _, err := s.Latest(t.Context()); err != nil || m.ID != 10 {
		t.Errorf("Latest = %v, %v", m, err)
	}
}

func testShared(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	full := MustWrite(t, s, Name(1, 0), 1000)
	alone := MustWrite(t, s, Name(1, 1), 1000)
	more := MustWrite(t, s, Name(2, 0), 100)
	MustPublish(t, s, Manifest(1, []checkpoint.BlobRef{full}, []checkpoint.BlobRef{alone}))
	MustPublish(t, s, Manifest(2, []checkpoint.BlobRef{full, more}, []checkpoint.BlobRef{full}))
	saved := Manifest(3, []checkpoint.BlobRef{full})
	saved.Kind = checkpoint.Savepoint
	MustPublish(t, s, saved)

	steps := []struct {
		drop       checkpoint.ID
		gone, left []checkpoint.BlobRef
	}{
		{1, []checkpoint.BlobRef{alone}, []checkpoint.BlobRef{full, more}},
		{2, []checkpoint.BlobRef{alone, more}, []checkpoint.BlobRef{full}},
		{3, []checkpoint.BlobRef{alone, more, full}, nil},
	}
	for _, step := range steps {
		if err := s.Drop(t.Context(), step.drop); err != nil {
			t.Fatal(err)
		}
		for _, ref := range step.gone {
			_, err := s.Open(t.Context(), ref)
			wantError(t, fmt.Sprintf("Open %v after dropping %d", ref.Name, step.drop), err, checkpoint.ErrNotFound)
		}
		for _, ref := range step.left {
			MustRead(t, s, ref)
		}
		if n, err := s.Sweep(t.Context(), func(checkpoint.BlobName) bool { return false }); n != 0 || err != nil {
			t.Errorf("Sweep after dropping %d: %d, %v", step.drop, n, err)
		}
	}
}

func testSweep(t *testing.T, s checkpoint.Store, w checkpoint.Blobs) {
	owned := MustWrite(t, s, Name(1, 0), 1000)
	orphan := MustWrite(t, w, Name(1, 1), 1000)
	busy := MustWrite(t, w, Name(2, 0), 1000)
	MustPublish(t, s, Manifest(1, []checkpoint.BlobRef{owned}))
	inProgress := func(n checkpoint.BlobName) bool { return n.Checkpoint == 2 }
	if n, err := s.Sweep(t.Context(), inProgress); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	MustRead(t, s, owned)
	MustRead(t, s, busy)
	_, err := s.Open(t.Context(), orphan)
	wantError(t, "Open of an orphan", err, checkpoint.ErrNotFound)
}

func testCancelled(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	ref := MustWrite(t, s, Name(1, 0), 1000)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, Name(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = w.Commit()
	wantError(t, "Commit", err, context.Canceled)
	w.Abort()
	wantError(t, "Publish", s.Publish(ctx, Manifest(1, []checkpoint.BlobRef{ref})), context.Canceled)
	_, _, err = s.Latest(ctx)
	wantError(t, "Latest", err, context.Canceled)
	_, err = s.Create(ctx, Name(1, 2))
	wantError(t, "Create", err, context.Canceled)
	MustPublish(t, s, Manifest(1, []checkpoint.BlobRef{ref}))
	wantError(t, "Drop", s.Drop(ctx, 1), context.Canceled)
	MustRead(t, s, ref)
}

// testConcurrent writes and publishes in parallel tests, as they need no goroutines of
// this package.
func testConcurrent(t *testing.T, s checkpoint.Store, w checkpoint.Blobs) {
	const writers, each = 6, 5
	refs := make([][]checkpoint.BlobRef, writers)
	t.Run("writers", func(t *testing.T) {
		for i := range writers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				to := w
				if i%2 == 0 {
					to = s
				}
				for k := range each {
					name := checkpoint.BlobName{Epoch: 1, Checkpoint: 1, Subtask: uint32(i), Seq: uint32(k)}
					ref := MustWrite(t, to, name, 10_000)
					MustRead(t, to, ref)
					refs[i] = append(refs[i], ref)
					MustPublish(t, s, Manifest(checkpoint.ID(1+i*each+k), []checkpoint.BlobRef{ref}))
					if _, _, err := s.Latest(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	})
	MustPublish(t, s, Manifest(1000, refs...))
	if err := s.Verify(t.Context(), 1000); err != nil {
		t.Error(err)
	}
	if all, err := s.List(t.Context()); err != nil || len(all) != writers*each+1 {
		t.Errorf("List has %d, %v", len(all), err)
	}
}

func testExport(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	full, more := MustWrite(t, s, Name(1, 0), 100_000), MustWrite(t, s, Name(2, 0), 0)
	MustPublish(t, s, Manifest(2, []checkpoint.BlobRef{full, more}, []checkpoint.BlobRef{full}))
	dir := t.TempDir() + "/savepoint"
	if err := checkpoint.Export(t.Context(), s, 2, dir, checkpoint.Options{}); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Export again", checkpoint.Export(t.Context(), s, 2, dir, checkpoint.Options{}), checkpoint.ErrExists)
	if err := s.Drop(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	blobs, m, err := checkpoint.OpenSavepoint(dir, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != 2 || m.Kind != checkpoint.Savepoint || len(m.BlobSet()) != 2 {
		t.Errorf("savepoint %+v", m)
	}
	m.Blobs(func(ref checkpoint.BlobRef) { MustRead(t, blobs, ref) })
	_, err = blobs.Create(t.Context(), Name(3, 0))
	wantError(t, "Create", err, checkpoint.ErrReadOnly)
	_, err = blobs.Manifest(t.Context(), 3)
	wantError(t, "Manifest", err, checkpoint.ErrNotFound)
	missing := checkpoint.Export(t.Context(), s, 9, t.TempDir()+"/other", checkpoint.Options{})
	wantError(t, "Export of what is not there", missing, checkpoint.ErrNotFound)
	if _, _, err := checkpoint.OpenSavepoint(t.TempDir(), checkpoint.Options{}); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("OpenSavepoint of an empty directory: %v", err)
	}
}

func testClosed(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Close", s.Close(), checkpoint.ErrClosed)
	wantError(t, "Publish", s.Publish(t.Context(), Manifest(1)), checkpoint.ErrClosed)
	_, err := s.Create(t.Context(), Name(1, 0))
	wantError(t, "Create", err, checkpoint.ErrClosed)
	_, err = s.List(t.Context())
	wantError(t, "List", err, checkpoint.ErrClosed)
	_, _, err = s.Latest(t.Context())
	wantError(t, "Latest", err, checkpoint.ErrClosed)
	wantError(t, "Drop", s.Drop(t.Context(), 1), checkpoint.ErrClosed)
	_, err = s.Sweep(t.Context(), func(checkpoint.BlobName) bool { return true })
	wantError(t, "Sweep", err, checkpoint.ErrClosed)
	_, err = s.Manifest(t.Context(), 1)
	wantError(t, "Manifest", err, checkpoint.ErrClosed)
}

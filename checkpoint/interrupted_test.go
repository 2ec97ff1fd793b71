package checkpoint_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// failing opens the filled store on a disk that, while on is set, fails what match picks.
func failing(t *testing.T, match func(errorfs.Op) bool) (s checkpoint.Store, disk *vfs.MemFS, on *atomic.Bool) {
	disk, on = filled(t), &atomic.Bool{}
	fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on.Load() && match(op) {
			return syscall.EIO
		}
		return nil
	}))
	return mustOpen(t, crashDir, checkpoint.Options{FS: fs}), disk, on
}

func reopened(t *testing.T, s checkpoint.Store, disk vfs.FS) checkpoint.Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, crashDir, checkpoint.Options{FS: disk})
}

func listed(t *testing.T, s checkpoint.Store) (ids []checkpoint.ID) {
	t.Helper()
	all, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids
}

// TestDropInterrupted cannot remove the manifest. The checkpoint is forgotten all the
// same, and dropping it again or opening the store ends what was begun.
func TestDropInterrupted(t *testing.T) {
	for _, again := range []bool{true, false} {
		s, disk, on := failing(t, func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpRemove && strings.HasSuffix(op.Path, "c3.manifest")
		})
		on.Store(true)
		var failed *checkpoint.IOError
		if err := s.Drop(t.Context(), 3); !errors.As(err, &failed) || failed.Op != "remove" {
			t.Fatalf("Drop: %v", err)
		}
		on.Store(false)
		if ids := listed(t, s); len(ids) != 2 || ids[0] != 2 {
			t.Errorf("while 3 is being dropped there are %v", ids)
		}
		if _, err := s.Manifest(t.Context(), 3); !errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("Manifest of one being dropped: %v", err)
		}
		if err := s.Publish(t.Context(), storetest.Manifest(3)); !errors.Is(err, checkpoint.ErrExists) {
			t.Errorf("publishing one being dropped: %v", err)
		}
		if again {
			if err := s.Drop(t.Context(), 3); err != nil {
				t.Errorf("Drop again: %v", err)
			}
		}
		s = reopened(t, s, disk)
		if ids := listed(t, s); len(ids) != 2 || ids[0] != 2 {
			t.Errorf("after opening, dropped again %t, there are %v", again, ids)
		}
		if _, err := s.Sweep(t.Context(), noneKept); err != nil || len(blobFiles(t, disk)) != 2 {
			t.Errorf("after a sweep, %v, there are %q", err, blobFiles(t, disk))
		}
		storetest.MustPublish(t, s, storetest.Manifest(3))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPublishInDoubt fails at the commit point, so that the outcome is unknown: the
// store says so, stops, and shows it after it was opened again.
func TestPublishInDoubt(t *testing.T) {
	s, disk, on := failing(t, func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileSync && strings.HasSuffix(op.Path, "/manifests") ||
			op.Kind == errorfs.OpRemove && strings.HasSuffix(op.Path, "c4.manifest")
	})
	ref := storetest.MustWrite(t, s, storetest.Name(4, 0), 100)
	on.Store(true)
	var doubt *checkpoint.DoubtError
	if err := s.Publish(t.Context(), storetest.Manifest(4, []checkpoint.BlobRef{ref})); !errors.As(err, &doubt) || doubt.Checkpoint != 4 {
		t.Fatalf("Publish: %v", err)
	}
	on.Store(false)
	if _, err := s.Manifest(t.Context(), 4); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("Manifest of one in doubt: %v", err)
	}
	if m, _, err := s.Latest(t.Context()); err != nil || m.ID != 3 {
		t.Errorf("Latest = %v, %v", m, err)
	}
	var broken *checkpoint.BrokenError
	_, swept := s.Sweep(t.Context(), noneKept)
	for what, err := range map[string]error{
		"Publish": s.Publish(t.Context(), storetest.Manifest(5)), "Drop": s.Drop(t.Context(), 1), "Sweep": swept,
	} {
		if !errors.As(err, &broken) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s of a store in doubt: %v", what, err)
		}
	}
	s = reopened(t, s, disk)
	if err := s.Verify(t.Context(), 4); err != nil {
		t.Errorf("after opening: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestManifestReplaced puts another manifest in the place of one: the blobs that only
// the old one referred to are let go.
func TestManifestReplaced(t *testing.T) {
	disk := filled(t)
	edit(t, disk, crashDir+"/manifests/c3.manifest", func([]byte) []byte {
		data, err := checkpoint.EncodeManifest(storetest.Manifest(3))
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
	s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	owners, err := checkpoint.Owners(s)
	if err != nil || len(owners) != 2 || len(owners[storetest.Name(2, 0)]) != 1 {
		t.Errorf("owners %v, %v", owners, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The manifest of another checkpoint, whole in itself, is not that of this one.
	disk = filled(t)
	edit(t, disk, crashDir+"/manifests/c3.manifest", func([]byte) []byte {
		data, err := checkpoint.EncodeManifest(storetest.Manifest(9))
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
	s = mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	fallBack(t, "another's", s, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

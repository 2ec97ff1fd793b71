package lsm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

func TestOptionsAreValidated(t *testing.T) {
	err := lsm.Options{MaxGroups: 1 << 20, CacheSize: -1, MemtableSize: 1, MaxOpenFiles: 1, Compactions: -1}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, field := range []string{"Dir", "MaxGroups", "CacheSize", "MemtableSize", "MaxOpenFiles", "Compactions"} {
		if !strings.Contains(err.Error(), field+" is") {
			t.Errorf("nothing is said about %s: %v", field, err)
		}
	}
	if err := (lsm.Options{Dir: "x"}).Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryBelongsToOneStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	m := open(t, lsm.Options{Dir: dir})
	m.fill(0, 10, "v")
	var place *lsm.DirError
	if _, err := lsm.New(lsm.Options{Dir: dir}); !errors.Is(err, lsm.ErrLocked) || !errors.As(err, &place) || place.Dir != dir {
		t.Fatalf("New in a directory in use: %v", err)
	}
	m.must(m.Close())
	if _, err := lsm.New(lsm.Options{Dir: dir}); !errors.Is(err, lsm.ErrNotEmpty) {
		t.Fatalf("New in a used directory: %v", err)
	}
	if _, err := lsm.Open(lsm.Options{Dir: dir + "2"}, dir); !errors.Is(err, lsm.ErrNoCheckpoint) {
		t.Fatalf("Open of what is no checkpoint: %v", err)
	}
	if _, _, err := m.Get(0, nil); !errors.Is(err, lsm.ErrClosed) {
		t.Fatalf("Get after Close: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	m.must(os.WriteFile(file, nil, 0o600))
	var disk *lsm.DiskError
	if _, err := lsm.New(lsm.Options{Dir: filepath.Join(file, "below")}); !errors.As(err, &disk) {
		t.Fatalf("New below a file: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a")})
	m.fill(0, 1500, "v")
	s, err := m.Snapshot()
	m.must(err)
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "1 snapshots") {
		t.Fatalf("Close with a snapshot: %v", err)
	}
	m.check()
	if len(openFiles(t, dir)) == 0 {
		t.Fatal("an open store has no open files: the test sees none")
	}
	s.Release()
	m.must(m.Close())
	m.must(m.Close())
	if files := openFiles(t, dir); len(files) > 0 {
		t.Fatalf("open after Close: %q", files)
	}
}

// failing is a file system whose writes fail from a moment on.
type failing struct {
	on    atomic.Bool
	err   error
	match func(errorfs.Op) bool
}

func (f *failing) MaybeError(op errorfs.Op) error {
	if f.on.Load() && f.match(op) {
		return f.err
	}
	return nil
}

func (f *failing) String() string { return "failing" }

func writes(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite && mayFail(op) }

// pebbleChecks says that Pebble checks itself, as it does in these two builds: where a manifest
// cannot be written it takes the end of the process for granted, and panics as it gives up.
const pebbleChecks = invariant.Enabled || invariant.Race

// mayFail spares the manifest if Pebble checks itself.
func mayFail(op errorfs.Op) bool {
	return !pebbleChecks || !strings.Contains(op.Path, "MANIFEST")
}

// TestFullDiskEndsTheStore fills until the disk does not take more. The owner gets
// an error instead of waiting for a flush that will never succeed.
func TestFullDiskEndsTheStore(t *testing.T) {
	for name, match := range map[string]func(errorfs.Op) bool{
		"AllWrites": writes,
		"Tables":    func(op errorfs.Op) bool { return writes(op) && strings.HasSuffix(op.Path, ".sst") },
		"Manifest":  func(op errorfs.Op) bool { return writes(op) && strings.Contains(op.Path, "MANIFEST") },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Manifest" && pebbleChecks {
				t.Skip("SKIPPED: Pebble checks itself in this build, and panics")
			}
			f := &failing{err: fmt.Errorf("injected: %w", syscall.ENOSPC), match: match}
			m := open(t, lsm.Options{Dir: "state", FS: errorfs.Wrap(vfs.NewMem(), f)})
			m.fill(0, 1500, "v")
			s, err := m.Snapshot()
			m.must(err)
			f.on.Store(true)
			err = putUntilError(m)
			var disk *lsm.DiskError
			if !errors.Is(err, lsm.ErrDiskFull) || !errors.As(err, &disk) || disk.Dir != "state" {
				t.Fatalf("Put = %v", err)
			}
			if _, _, again := m.Get(0, nil); !errors.Is(again, lsm.ErrDiskFull) {
				t.Fatalf("Get afterwards = %v", again)
			}
			if _, again := m.Checkpoint("chk"); !errors.Is(again, lsm.ErrDiskFull) {
				t.Fatalf("Checkpoint afterwards = %v", again)
			}
			s.Release()
			m.must(m.Close())
		})
	}
}

func putUntilError(m *model) error {
	value := make([]byte, 2000)
	for i := range 20_000 {
		k := []byte(key(i))
		if err := m.Put(statecow.Hash(k), k, value); err != nil {
			return err
		}
	}
	return nil
}

// TestFailedCheckpointLeavesTheStoreUsable fails what only a checkpoint writes.
func TestFailedCheckpointLeavesTheStoreUsable(t *testing.T) {
	mem := vfs.NewMem()
	f := &failing{err: syscall.ENOSPC, match: func(op errorfs.Op) bool { return writes(op) && strings.HasPrefix(op.Path, "chk") }}
	syncs := &failing{err: syscall.ENOSPC, match: func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileSync && strings.HasSuffix(op.Path, ".sst")
	}}
	m := open(t, lsm.Options{Dir: "state", FS: errorfs.Wrap(mem, errorfs.Any(f, syncs))})
	m.fill(0, 1500, "v")
	f.on.Store(true)
	if _, err := m.Checkpoint("chk"); !errors.Is(err, lsm.ErrDiskFull) {
		t.Fatalf("Checkpoint = %v", err)
	}
	f.on.Store(false)
	m.fill(1000, 2000, "w")
	p, err := m.Checkpoint("chk")
	m.must(err)
	f.on.Store(true)
	if _, err := p.Finish(); !errors.Is(err, lsm.ErrDiskFull) {
		t.Fatalf("Finish = %v", err)
	}
	if _, err := lsm.ReadCheckpoint(mem, "chk"); !errors.Is(err, lsm.ErrNoCheckpoint) {
		t.Fatalf("half a checkpoint: %v", err)
	}
	f.on.Store(false)
	syncs.on.Store(true)
	if _, err := p.Finish(); !errors.Is(err, lsm.ErrDiskFull) {
		t.Fatalf("Finish with a table that cannot be synced = %v", err)
	}
	syncs.on.Store(false)
	_, err = p.Finish()
	m.must(err)
	restored(t, lsm.Options{Dir: "b", FS: mem}, "chk", m.want).check()
	m.check()
}

// spared is the predicate mayFail.
type spared struct{}

// Evaluate implements errorfs.Predicate.
func (spared) Evaluate(op errorfs.Op) bool { return mayFail(op) }

func (spared) String() string { return "spared" }

// TestEveryFailedCallIsReported fails each call of the file system once, in turn:
// either nobody needs it, or an error says so; what a checkpoint holds is right.
func TestEveryFailedCallIsReported(t *testing.T) {
	run := func(k int32) (done bool) {
		mem := vfs.NewMem()
		index := errorfs.OnIndex(k)
		injector := errorfs.ErrInjected.If(errorfs.And(errorfs.Writes, spared{}, index)) // EIO stands in the wrapped error
		s, err := lsm.New(lsm.Options{Dir: "state", FS: errorfs.Wrap(mem, injector), MaxGroups: maxGroups, MemtableSize: lsm.MinMemtableSize})
		if err != nil {
			return false
		}
		defer func() { _ = s.Close() }() // may report the injected failure
		want := map[string]string{}
		for i := range 300 {
			k, v := key(i), strings.Repeat(key(i), 50)
			if err := s.Put(statecow.HashString(k), []byte(k), []byte(v)); err != nil {
				return false
			}
			want[k] = v
		}
		p, err := s.Checkpoint("chk")
		if err == nil {
			_, err = p.Finish()
		}
		if err != nil {
			return false
		}
		r, err := lsm.Open(lsm.Options{Dir: "b", FS: mem, MaxGroups: maxGroups}, "chk")
		if err != nil {
			t.Fatalf("call %d failed, the checkpoint succeeded and cannot be opened: %v", k, err)
		}
		defer func() { _ = r.Close() }()
		equal(t, want, content(t, r, groups(0, maxGroups)))
		return index.Load() >= 0
	}
	for k := int32(0); k < 2000; k++ {
		if run(k) {
			t.Logf("%d calls", k)
			return
		}
	}
	t.Fatal("there is no end of calls")
}

func TestDamagedTableIsNamed(t *testing.T) {
	mem := vfs.NewMem()
	m := open(t, lsm.Options{Dir: "state", FS: mem})
	m.fill(0, 1500, "v")
	c := m.checkpoint("chk")
	damageTables(t, mem, "chk", firstBlock)
	s, err := lsm.Open(lsm.Options{Dir: "b", FS: mem, MaxGroups: maxGroups, CacheSize: 1}, "chk")
	if err == nil {
		defer func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}()
		err = s.Range(groups(0, maxGroups), func(uint32, []byte, []byte) bool { return true })
	}
	var table *lsm.TableError
	if !errors.As(err, &table) || !strings.HasSuffix(table.File, ".sst") || !strings.HasPrefix(table.File, "b") {
		t.Fatalf("reading a damaged table: %v", err)
	}
	wrong := 0
	for _, f := range c.Files {
		if f.Verify(mem, "chk") != nil {
			wrong++
		}
	}
	if wrong == 0 {
		t.Fatal("Verify finds nothing")
	}
}

package lsm_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

const lockDir = "LSM_TEST_LOCK_DIR"

// TestDirectoryBelongsToOneProcess opens the directory of a store from another
// process: this test, started once more.
func TestDirectoryBelongsToOneProcess(t *testing.T) {
	if dir := os.Getenv(lockDir); dir != "" {
		if _, err := lsm.New(lsm.Options{Dir: dir}); !errors.Is(err, lsm.ErrLocked) {
			t.Fatalf("New in a directory of another process: %v", err)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "a")
	open(t, lsm.Options{Dir: dir})
	again := exec.Command(os.Args[0], "-test.run=^TestDirectoryBelongsToOneProcess$")
	again.Env = append(os.Environ(), lockDir+"="+dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestDamageEndsTheStore goes on until a read or a compaction meets the damage.
func TestDamageEndsTheStore(t *testing.T) {
	mem := vfs.NewMem()
	m := open(t, lsm.Options{Dir: "state", FS: mem})
	m.fill(0, 1500, "v")
	m.checkpoint("chk") // everything is in tables
	var err error
	for round := int64(0); round < 10 && err == nil; round++ {
		// A compaction that has read its tables before replaces them by sound ones.
		damageTables(t, mem, "state", firstBlock+round)
		err = putUntilError(m)
	}
	var table *lsm.TableError
	if !errors.As(err, &table) || !strings.HasPrefix(table.File, "state") || !strings.HasSuffix(table.File, ".sst") {
		t.Fatalf("Put = %v", err)
	}
	if again := m.Put(0, nil, nil); !errors.As(again, &table) {
		t.Fatalf("Put afterwards = %v", again)
	}
	m.must(m.Close())
}

// TestFailedReadsAreReported fails all reads of tables.
func TestFailedReadsAreReported(t *testing.T) {
	f := &failing{err: fmt.Errorf("injected: %w", syscall.EIO), match: func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst")
	}}
	m := open(t, lsm.Options{Dir: "state", FS: errorfs.Wrap(vfs.NewMem(), f), CacheSize: 1})
	m.fill(0, 1500, "v")
	s, err := m.Snapshot()
	m.must(err)
	m.checkpoint("chk")
	f.on.Store(true)
	read := func() error {
		return m.Range(groups(0, maxGroups), func(uint32, []byte, []byte) bool { return true })
	}
	var disk *lsm.DiskError
	for name, err := range map[string]error{
		"Range":   read(),
		"Entries": s.Entries(0, func(statecow.Entry) error { return nil }),
	} {
		if !errors.As(err, &disk) || disk.Full || disk.Dir != "state" || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s = %v", name, err)
		}
	}
	s.Release()
}

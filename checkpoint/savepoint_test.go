package checkpoint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

const savepointDir = "/backup/orders/1"

// exported is a store with one checkpoint of two blobs.
func exported(t *testing.T) checkpoint.Store {
	s := checkpoint.NewMemory()
	a, b := storetest.MustWrite(t, s, storetest.Name(1, 0), 1500), storetest.MustWrite(t, s, storetest.Name(1, 1), 0)
	storetest.MustPublish(t, s, storetest.Manifest(1, []checkpoint.BlobRef{a, b}, []checkpoint.BlobRef{a}))
	return s
}

// checkSavepoint reads all of a savepoint. It is ErrNotFound if there is none.
func checkSavepoint(t *testing.T, fs vfs.FS) error {
	blobs, m, err := checkpoint.OpenSavepoint(savepointDir, checkpoint.Options{FS: fs})
	if err != nil {
		return err
	}
	if len(m.BlobSet()) != 2 {
		return fmt.Errorf("it has %d blobs", len(m.BlobSet()))
	}
	return checkpoint.VerifyBlobs(t.Context(), blobs, m)
}

// TestExportCrash cuts the power before every change of an export.
func TestExportCrash(t *testing.T) {
	disk := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(1, 5))
	crashes := 0
	cut := func(op errorfs.Op) error {
		for _, percent := range []int{0, 50, 100} {
			left := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			if err := checkSavepoint(t, left); err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
				t.Errorf("crash before %v of %s, %d%% kept: %v", op.Kind, op.Path, percent, err)
			}
			crashes++
		}
		return nil
	}
	o := checkpoint.Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(cut)), BlockSize: 512}
	if err := checkpoint.Export(t.Context(), exported(t), 1, savepointDir, o); err != nil {
		t.Fatal(err)
	}
	if err := checkSavepoint(t, disk.CrashClone(vfs.CrashCloneCfg{})); err != nil {
		t.Errorf("crash after the export: %v", err)
	}
	t.Logf("%d crashes", crashes)
}

// TestExportFaults fails every call of an export: then there is no savepoint, and
// another export to the same place succeeds.
func TestExportFaults(t *testing.T) {
	at := 0
	for fired := true; fired; at++ {
		fired = false
		disk := vfs.NewMem()
		var mu sync.Mutex
		left := at
		fail := func(op errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left != -1 || op.Kind == errorfs.OpFileClose {
				return nil
			}
			fired = true
			return syscall.ENOSPC
		}
		s := exported(t)
		err := checkpoint.Export(t.Context(), s, 1, savepointDir, checkpoint.Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(fail))})
		if err == nil {
			if err := checkSavepoint(t, disk); err != nil {
				t.Errorf("call %d: exported without an error: %v", at, err)
			}
			continue
		}
		var failed *checkpoint.IOError
		if !errors.As(err, &failed) || !strings.Contains(failed.Advice, "free space") {
			t.Errorf("call %d: %v", at, err)
		}
		if err := checkSavepoint(t, disk); !errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("call %d: after a failed export: %v", at, err)
		}
		if err := checkpoint.Export(t.Context(), s, 1, savepointDir, checkpoint.Options{FS: disk}); err != nil {
			t.Errorf("call %d: exporting again: %v", at, err)
		}
	}
	t.Logf("%d calls", at-1)
}

func TestSavepointDamage(t *testing.T) {
	for _, c := range []struct {
		file   string
		change func([]byte) []byte
		want   any
	}{
		{"FORMAT", func(b []byte) []byte { b[0] = 'O'; return b }, new(*checkpoint.CorruptError)},
		{"FORMAT", func([]byte) []byte { return []byte("overtake savepoint 2\n") }, new(*checkpoint.VersionError)},
		{"savepoint.manifest", func(b []byte) []byte { return b[:len(b)-1] }, new(*checkpoint.CorruptError)},
		{"blobs/e3-c1-s7-0.blob", func(b []byte) []byte { return b[:len(b)-1] }, new(*checkpoint.MissingError)},
		{"blobs/e3-c1-s7-0.blob", func(b []byte) []byte { b[99] ^= 1; return b }, new(*checkpoint.CorruptError)},
	} {
		disk := vfs.NewMem()
		if err := checkpoint.Export(t.Context(), exported(t), 1, savepointDir, checkpoint.Options{FS: disk}); err != nil {
			t.Fatal(err)
		}
		edit(t, disk, savepointDir+"/"+c.file, c.change)
		if err := checkSavepoint(t, disk); !errors.As(err, c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s damaged: %v, want a %T", c.file, err, c.want)
		}
	}
}

package checkpoint_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

var allFaults = flag.Bool("checkpoint.allfaults", false, "fail every call of the file system with every error")

// faultKind says what fails and how.
type faultKind struct {
	err      error
	forever  bool
	onlySync bool
}

// faults fails the call number at of the file system, or all from there on.
type faults struct {
	faultKind
	mu       sync.Mutex
	at, seen int
	fired    string          // the first call that failed
	unsynced map[string]bool // files of which a sync has failed
	resynced string          // one of them that was synced again
}

func (f *faults) MaybeError(op errorfs.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
	ours := !strings.Contains(op.Path, "catalogue") && !strings.HasSuffix(op.Path, "/blobs")
	if sync && ours && f.unsynced[op.Path] {
		f.resynced = op.Path
	}
	if op.Kind == errorfs.OpFileClose || f.onlySync && !sync {
		return nil // a file that failed to close is open, and the test would run out of them
	}
	f.seen++
	if f.seen < f.at || f.seen > f.at && !f.forever {
		return nil
	}
	if f.fired == "" {
		f.fired = fmt.Sprintf("%d of %s", op.Kind, op.Path)
	}
	if sync {
		f.unsynced[op.Path] = true
	}
	return f.err
}

func (f *faults) String() string { return f.fired }

// heal ends the faults.
func (f *faults) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.forever, f.unsynced = 1<<30, false, map[string]bool{}
}

// outcome is what the store said.
type outcome struct{ publish, drop error }

// use opens a store that holds checkpoint 1, publishes 2, and drops 1 if that went well.
// It returns the errors of everything else, too.
func use(ctx context.Context, o checkpoint.Options) (out outcome, others []error) {
	out.publish, out.drop = errors.New("not called"), errors.New("not called")
	s, err := checkpoint.OpenDir(crashDir, o)
	if err != nil {
		return out, []error{err}
	}
	other := func(err error) bool {
		if err != nil {
			others = append(others, err)
		}
		return err == nil
	}
	defer func() { other(s.Close()) }()
	ref, err := storetest.Write(ctx, s, storetest.Name(2, 0), storetest.Bytes(2, 2000))
	if other(err) {
		out.publish = s.Publish(ctx, storetest.Manifest(2, []checkpoint.BlobRef{ref}))
	}
	if out.publish == nil {
		out.drop = s.Drop(ctx, 1)
	}
	_, err = s.Sweep(ctx, func(n checkpoint.BlobName) bool { return false })
	other(err)
	_, _, err = s.Latest(ctx)
	other(err)
	_, err = s.List(ctx)
	other(err)
	return out, others
}

// typed says whether an error names a file and what to do, or is one of those that
// follow from such an error.
func typed(err error) bool {
	var failed *checkpoint.IOError
	var broken *checkpoint.BrokenError
	var missing *checkpoint.MissingError
	switch {
	case errors.As(err, &failed):
		return failed.File != "" && failed.Advice != "" && failed.Op != ""
	case errors.As(err, &broken), errors.As(err, &missing), errors.Is(err, checkpoint.ErrNotFound):
		return true
	}
	return false
}

func TestFaults(t *testing.T) {
	ctx := t.Context()
	kinds := []faultKind{{err: syscall.EIO}, {err: syscall.ENOSPC, forever: true}, {err: syscall.EIO, onlySync: true}}
	if *allFaults {
		kinds = append(kinds, faultKind{err: syscall.ENOSPC}, faultKind{err: syscall.EIO, forever: true}, faultKind{err: syscall.EIO, onlySync: true, forever: true})
	}
	for _, kind := range kinds {
		t.Run(fmt.Sprintf("%v, forever %t, syncs only %t", kind.err, kind.forever, kind.onlySync), func(t *testing.T) {
			doubts, failures := 0, 0
			at := 1
			for ; ; at++ {
				disk := vfs.NewCrashableMem()
				s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
				one := storetest.Manifest(1, []checkpoint.BlobRef{storetest.MustWrite(t, s, storetest.Name(1, 0), 100)})
				storetest.MustPublish(t, s, one)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				inject := &faults{faultKind: kind, at: at, unsynced: map[string]bool{}}
				out, others := use(ctx, checkpoint.Options{FS: errorfs.Wrap(disk, inject)})
				if inject.resynced != "" {
					t.Errorf("call %d (%s): %s was synced again", at, inject.fired, inject.resynced)
				}
				fired := inject.fired
				inject.heal()
				if fired == "" {
					break
				}
				var doubt *checkpoint.DoubtError
				for _, err := range append(others, out.publish, out.drop) {
					if err != nil && err.Error() != "not called" && !typed(err) {
						t.Errorf("call %d (%s): error without a file or advice: %v", at, fired, err)
					}
				}
				if out.publish != nil {
					failures++
				}
				if errors.As(out.publish, &doubt) {
					doubts++
				}
				powerCut := disk.CrashClone(vfs.CrashCloneCfg{})
				for how, fs := range map[string]vfs.FS{"a restart": disk, "a power cut": powerCut} {
					if err := out.check(ctx, fs); err != nil {
						t.Errorf("call %d (%s), after %s: %v\npublish: %v\ndrop: %v\nothers: %v", at, fired, how, err, out.publish, out.drop, others)
					}
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d calls, %d failed publishes, %d in doubt", at-1, failures, doubts)
		})
	}
}

// check opens the store on a disk that works again.
func (out outcome) check(ctx context.Context, fs vfs.FS) error {
	s, err := checkpoint.OpenDir(crashDir, checkpoint.Options{FS: fs})
	if err != nil {
		return err
	}
	defer s.Close()
	var doubt *checkpoint.DoubtError
	first, second := s.Verify(ctx, 1), s.Verify(ctx, 2)
	switch {
	case out.publish == nil && second != nil:
		return fmt.Errorf("2 was completed: %w", second)
	case out.publish != nil && !errors.As(out.publish, &doubt) && !errors.Is(second, checkpoint.ErrNotFound):
		return fmt.Errorf("2 was not completed and is visible: %v", second)
	case out.publish != nil && second != nil && !errors.Is(second, checkpoint.ErrNotFound):
		return fmt.Errorf("2 is in doubt, and visible: %w", second)
	case out.publish != nil && first != nil:
		return fmt.Errorf("1 is not what it was: %w", first)
	case out.drop == nil && !errors.Is(first, checkpoint.ErrNotFound):
		return fmt.Errorf("1 was dropped and is visible: %v", first)
	case first != nil && !errors.Is(first, checkpoint.ErrNotFound):
		return fmt.Errorf("1 is visible, but not whole: %w", first)
	}
	if latest, skipped, err := s.Latest(ctx); err != nil || len(skipped) > 0 {
		return fmt.Errorf("latest %v, skipped %v: %w", latest, skipped, err)
	}
	return nil
}

package checkpoint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/jobtest"
)

// badDisk fails one call in forty, at most 25 in all.
type badDisk struct {
	mu    sync.Mutex
	rng   *rand.Rand
	on    bool
	fired int
}

// MaybeError implements errorfs.Injector.
func (d *badDisk) MaybeError(errorfs.Op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.on || d.fired == 25 || d.rng.IntN(40) > 0 {
		return nil
	}
	d.fired++
	return []error{syscall.EIO, syscall.ENOSPC}[d.rng.IntN(2)]
}

func (d *badDisk) String() string { return "bad disk" }

// set turns the faults on or off, and says how many there were.
func (d *badDisk) set(on bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
	return d.fired
}

// The store of a job fails in the middle of a file, where a checkpoint is published, and while the
// job comes back. The next attempt mends it.
func TestJobsCountOnceWhateverTheDiskDoes(t *testing.T) {
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Log("seed", seed)
			disk := &badDisk{rng: rand.New(rand.NewPCG(seed, 1))}
			store := mustOpen(t, "store", checkpoint.Options{FS: errorfs.Wrap(vfs.NewMem(), disk)})
			jobtest.CountsOnce(t, store, mode, disk.set)
			if err := errors.Join(store.(checkpoint.Mender).Mend(t.Context()), store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

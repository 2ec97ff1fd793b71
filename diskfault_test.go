package overtake_test

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
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// badDisk fails one call in forty, at most 25 in all.
type badDisk struct {
	mu     sync.Mutex
	rng    *rand.Rand
	healed bool
	fired  int
}

// MaybeError implements errorfs.Injector.
func (d *badDisk) MaybeError(op errorfs.Op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.healed || d.fired == 25 || d.rng.IntN(40) > 0 {
		return nil
	}
	d.fired++
	return []error{syscall.EIO, syscall.ENOSPC}[d.rng.IntN(2)]
}

// heal ends or begins the faults, and says how many there were.
func (d *badDisk) heal(healed bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.healed = healed
	return d.fired
}

func (d *badDisk) String() string { return "bad disk" }

// The store of a job that goes on for long fails now and then: in the middle of a file, where a
// checkpoint is published, and while the job comes back. It is mended by the next attempt.
func TestEveryRecordCountsOnceWhateverTheDiskDoes(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			const n, keys = 20_000, 37
			seed := uint64(time.Now().UnixNano())
			t.Log("seed", seed)
			disk := &badDisk{rng: rand.New(rand.NewPCG(seed, 1)), healed: true}
			store, err := checkpoint.OpenDir("store", checkpoint.Options{FS: errorfs.Wrap(vfs.NewMem(), disk)})
			if err != nil {
				t.Fatal(err)
			}
			opts := small(2)
			opts.Log = logTo(t)
			opts.Checkpoints = overtake.Checkpoints{Store: store, Interval: 5 * time.Millisecond, Mode: mode, MaxConcurrent: 2, TolerableFailures: 3}
			opts.Restart = overtake.Restart{Attempts: 100_000, Delay: time.Millisecond}
			var sink memory.Committed[count]
			slow := func() {
				for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; { // for many checkpoints
				}
			}
			h, err := countJob(opts, n, keys, newFaulty(seed, 4, n), &sink, slow).Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			disk.heal(false)
			if err := h.Wait(); err != nil {
				t.Error(err)
			}
			verifyCounts(t, sink.Records(), n, keys)
			if disk.heal(true) == 0 {
				t.Error("nothing has failed")
			}
			if err := errors.Join(store.(checkpoint.Mender).Mend(t.Context()), store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

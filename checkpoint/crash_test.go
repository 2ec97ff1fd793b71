package checkpoint_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

var crashSeeds = flag.Int("checkpoint.crashseeds", 1, "lives of a store to crash at every change of the file system")

// life is what a store's user knows: which checkpoints must, may and must not be
// there after a crash now.
type life struct {
	mu     sync.Mutex
	must   map[checkpoint.ID]*checkpoint.Manifest
	flight map[checkpoint.ID]*checkpoint.Manifest // being published or dropped
}

func newLife() *life {
	return &life{must: map[checkpoint.ID]*checkpoint.Manifest{}, flight: map[checkpoint.ID]*checkpoint.Manifest{}}
}

func (l *life) publish(t *testing.T, s checkpoint.Store, m *checkpoint.Manifest) {
	t.Helper()
	l.set(func() { l.flight[m.ID] = m })
	storetest.MustPublish(t, s, m)
	l.set(func() { delete(l.flight, m.ID); l.must[m.ID] = m })
}

func (l *life) drop(t *testing.T, s checkpoint.Store, id checkpoint.ID) {
	t.Helper()
	l.set(func() { l.flight[id] = l.must[id]; delete(l.must, id) })
	if err := s.Drop(t.Context(), id); err != nil {
		t.Fatalf("Drop: %v", err)
	}
	l.set(func() { delete(l.flight, id) })
}

func (l *life) set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// moment is a life at the time of a crash, with what is left of the disk.
type moment struct {
	disk         *vfs.MemFS
	must, flight map[checkpoint.ID]*checkpoint.Manifest
}

// crash cuts the power now. It calls clone while nothing changes what is known.
func (l *life) crash(clone func() *vfs.MemFS) moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	copyOf := func(m map[checkpoint.ID]*checkpoint.Manifest) map[checkpoint.ID]*checkpoint.Manifest {
		c := map[checkpoint.ID]*checkpoint.Manifest{}
		for id, one := range m {
			c[id] = one
		}
		return c
	}
	return moment{clone(), copyOf(l.must), copyOf(l.flight)}
}

const crashDir = "/data/checkpoints"

// check opens what a crash has left and compares it with what must be there.
func (m moment) check(t *testing.T, fs vfs.FS) error {
	o := checkpoint.Options{FS: fs, BlockSize: checkpoint.MinBlockSize}
	s, err := checkpoint.OpenDir(crashDir, o)
	if err != nil {
		return fmt.Errorf("opening after a crash: %w", err)
	}
	defer s.Close()
	all, err := s.List(t.Context())
	if err != nil {
		return err
	}
	want := map[checkpoint.BlobName]map[checkpoint.ID]bool{}
	there := map[checkpoint.ID]bool{}
	for _, one := range all {
		there[one.ID] = true
		model := m.must[one.ID]
		if model == nil {
			model = m.flight[one.ID]
		}
		if model == nil {
			return fmt.Errorf("checkpoint %d is there, and was never published or has been dropped", one.ID)
		}
		if err := s.Verify(t.Context(), one.ID); err != nil {
			return fmt.Errorf("checkpoint %d is visible: %w", one.ID, err)
		}
		got, err := s.Manifest(t.Context(), one.ID)
		if err != nil || !cmp.Equal(got, model) {
			return fmt.Errorf("checkpoint %d is not what was published: %v", one.ID, err)
		}
		for name := range got.BlobSet() {
			if want[name] == nil {
				want[name] = map[checkpoint.ID]bool{}
			}
			want[name][one.ID] = true
		}
	}
	for id := range m.must {
		if !there[id] {
			return fmt.Errorf("checkpoint %d was completed and is lost", id)
		}
	}
	if len(all) > 0 {
		if latest, skipped, err := s.Latest(t.Context()); err != nil || len(skipped) > 0 || latest.ID != all[0].ID {
			return fmt.Errorf("latest: %v, skipped %v", err, skipped)
		}
	}
	owners, err := checkpoint.Owners(s)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, owners); diff != "" {
		return fmt.Errorf("owners: %s", diff)
	}
	return m.goOn(t, fs, s, want)
}

// goOn sweeps and takes a checkpoint in the store that was found.
func (m moment) goOn(t *testing.T, fs vfs.FS, s checkpoint.Store, owned map[checkpoint.BlobName]map[checkpoint.ID]bool) error {
	if _, err := s.Sweep(t.Context(), func(checkpoint.BlobName) bool { return false }); err != nil {
		return err
	}
	files, err := fs.List(crashDir + "/blobs")
	if err != nil {
		return err
	}
	if len(files) != len(owned) {
		return fmt.Errorf("after a sweep there are %q, and %d blobs are owned", files, len(owned))
	}
	ref, err := storetest.Write(t.Context(), s, storetest.Name(1000, 0), storetest.Bytes(1, 600))
	if err != nil {
		return err
	}
	next := storetest.Manifest(1000, []checkpoint.BlobRef{ref})
	if err := s.Publish(t.Context(), next); err != nil {
		return err
	}
	for id := range m.must {
		if err := s.Verify(t.Context(), id); err != nil {
			return fmt.Errorf("checkpoint %d after a sweep: %w", id, err)
		}
	}
	return s.Verify(t.Context(), 1000)
}

// live is a store's life: checkpoints with shared blobs, an attempt that is aborted,
// drops, a sweep, a savepoint, and a restart.
func (l *life) live(t *testing.T, fs vfs.FS, rng *rand.Rand) {
	o := checkpoint.Options{FS: fs, BlockSize: checkpoint.MinBlockSize}
	s := mustOpen(t, crashDir, o)
	workers := mustBlobs(t, crashDir, o)
	var base []checkpoint.BlobRef
	for id := checkpoint.ID(1); id <= 6; id++ {
		if id%2 == 1 {
			base = []checkpoint.BlobRef{storetest.MustWrite(t, workers, storetest.Name(id, 0), 600+rng.IntN(3000))}
		}
		chain := append(slices.Clone(base), storetest.MustWrite(t, workers, storetest.Name(id, 1), rng.IntN(600)))
		if id == 2 { // it is declined after its blobs are there
			continue
		}
		m := storetest.Manifest(id, chain, base)
		if id == 4 {
			m.Kind = checkpoint.Savepoint
		}
		l.publish(t, s, m)
		if id == 3 {
			if _, err := s.Sweep(t.Context(), func(n checkpoint.BlobName) bool { return n.Checkpoint > 3 }); err != nil {
				t.Fatal(err)
			}
			l.drop(t, s, 1)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, crashDir, o)
		}
		if id == 5 {
			l.drop(t, s, 3)
		}
	}
	l.drop(t, s, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrash cuts the power before every change of the file system in a store's life.
// What was not synced is lost, or kept in part.
func TestCrash(t *testing.T) {
	var crashes, again atomic.Int64
	for seed := range *crashSeeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			disk := vfs.NewCrashableMem()
			l := newLife()
			var mu sync.Mutex // of rng; Pebble changes files on its own, too
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			var failed atomic.Bool
			cut := func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || failed.Load() {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				for _, percent := range []int{0, []int{30 + rng.IntN(50), 100}[rng.IntN(2)]} {
					m := l.crash(func() *vfs.MemFS {
						return disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
					})
					crashes.Add(1)
					var err error
					if rng.IntN(20) == 0 {
						again.Add(1)
						err = m.crashAgain(t, rng)
					} else {
						err = m.check(t, m.disk)
					}
					if err != nil {
						failed.Store(true)
						t.Errorf("seed %d, crash before %v of %s, %d%% of the unsynced kept: %v", seed, op.Kind, op.Path, percent, err)
						return nil
					}
				}
				return nil
			}
			l.live(t, errorfs.Wrap(disk, errorfs.InjectorFunc(cut)), rand.New(rand.NewPCG(uint64(seed), 1)))
		})
	}
	t.Logf("%d crashes, of which %d with another during recovery", crashes.Load(), again.Load())
}

// crashAgain cuts the power a second time, while the store is being opened and used.
func (m moment) crashAgain(t *testing.T, rng *rand.Rand) error {
	first := m.disk
	left := rng.IntN(60)
	var mu sync.Mutex
	var second *vfs.MemFS
	cut := func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if left--; left == 0 {
			second = first.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(100), RNG: rng})
		}
		return nil
	}
	s, err := checkpoint.OpenDir(crashDir, checkpoint.Options{FS: errorfs.Wrap(first, errorfs.InjectorFunc(cut))})
	if err != nil {
		return fmt.Errorf("opening after the first of two crashes: %w", err)
	}
	if _, err := s.Sweep(t.Context(), func(checkpoint.BlobName) bool { return false }); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if second == nil {
		return m.check(t, first)
	}
	return m.check(t, second)
}

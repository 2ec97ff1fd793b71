package lsm_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

// BenchmarkStore has keys and values of 8 bytes. Ten million keys take a while to
// write: give it -timeout 1h, or leave them out with -short. Beside the time it
// reports the processor's time of the process, in which flushes and compactions in
// the background are counted, but not other processes.
func BenchmarkStore(b *testing.B) {
	sizes := []int{1_000_000, 10_000_000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("keys=%dM", n/1_000_000), func(b *testing.B) {
			s := filled(b, n)
			for _, test := range []struct {
				name string
				run  func(b *testing.B, s *lsm.Store, n int)
			}{
				{"Get", benchGet}, {"Put", benchPut}, {"Update", benchUpdate},
				{"SnapshotPause", benchSnapshotPause}, {"Increment", benchIncrement}, {"WriteOut", benchWriteOut},
				{"CheckpointPause", benchCheckpoint(false)}, {"CheckpointPausePrepared", benchCheckpoint(true)},
				{"RestoreSorted", benchRestore}, {"RestoreUnsorted", benchRestoreUnsorted},
			} {
				b.Run(test.name, func(b *testing.B) {
					b.ReportAllocs()
					before := processorTime(b)
					b.ResetTimer()
					test.run(b, s, n)
					b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
				})
			}
		})
	}
}

// processorTime is what all threads of the process have used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// filled returns a store of n keys in tables, as after a restore.
func filled(b *testing.B, n int) *lsm.Store {
	b.Helper()
	s, err := lsm.New(lsm.Options{Dir: filepath.Join(b.TempDir(), "state"), CacheSize: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	var k, v [8]byte
	for i := range n {
		binary.LittleEndian.PutUint64(k[:], uint64(i))
		if err := s.Put(statecow.HashUint64(uint64(i)), k[:], v[:]); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func add(b *testing.B, s *lsm.Store, k []byte, i uint64) {
	binary.LittleEndian.PutUint64(k, i)
	err := s.Update(statecow.HashUint64(i), k, func(old []byte, _ bool) ([]byte, bool) {
		v := make([]byte, 8)
		if len(old) == 8 {
			binary.LittleEndian.PutUint64(v, binary.LittleEndian.Uint64(old)+1)
		}
		return v, true
	})
	if err != nil {
		b.Fatal(err)
	}
}

// benchUpdate reads and writes random keys.
func benchUpdate(b *testing.B, s *lsm.Store, n int) {
	rng, k := rand.New(rand.NewPCG(1, 2)), make([]byte, 8)
	for range b.N {
		add(b, s, k, rng.Uint64N(uint64(n)))
	}
}

// benchPut writes random keys without reading.
func benchPut(b *testing.B, s *lsm.Store, n int) {
	rng, k := rand.New(rand.NewPCG(1, 2)), make([]byte, 8)
	for range b.N {
		i := rng.Uint64N(uint64(n))
		binary.LittleEndian.PutUint64(k, i)
		if err := s.Put(statecow.HashUint64(i), k, k); err != nil {
			b.Fatal(err)
		}
	}
}

// benchGet reads random keys.
func benchGet(b *testing.B, s *lsm.Store, n int) {
	rng, k := rand.New(rand.NewPCG(1, 2)), make([]byte, 8)
	for range b.N {
		i := rng.Uint64N(uint64(n))
		binary.LittleEndian.PutUint64(k, i)
		if _, ok, err := s.Get(statecow.HashUint64(i), k); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// benchSnapshotPause takes snapshots between updates, with flushes and
// compactions going on: percentiles of the time in Snapshot.
func benchSnapshotPause(b *testing.B, s *lsm.Store, n int) {
	rng, k := rand.New(rand.NewPCG(1, 2)), make([]byte, 8)
	var pauses []time.Duration
	for range b.N {
		for range 100 {
			add(b, s, k, rng.Uint64N(uint64(n)))
		}
		start := time.Now()
		shot, err := s.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		pauses = append(pauses, time.Since(start))
		s.Confirm(shot.Mark())
		shot.Release()
	}
	report(b, pauses)
}

func report(b *testing.B, pauses []time.Duration) {
	slices.Sort(pauses)
	b.ReportMetric(float64(pauses[len(pauses)/2]), "ns-p50")
	b.ReportMetric(float64(pauses[len(pauses)*99/100]), "ns-p99")
	b.ReportMetric(float64(pauses[len(pauses)-1]), "ns-max")
}

// benchCheckpoint makes checkpoints after updates of 1 % of the keys:
// the time in Checkpoint with and without Prepare, and the bytes that are new.
func benchCheckpoint(prepared bool) func(b *testing.B, s *lsm.Store, n int) {
	return func(b *testing.B, s *lsm.Store, n int) {
		rng, k, dir := rand.New(rand.NewPCG(1, 2)), make([]byte, 8), b.TempDir()
		refs, pauses, sent, total := lsm.NewReferences(), []time.Duration(nil), int64(0), int64(0)
		for i := range b.N + 1 {
			for j := range n / 100 {
				add(b, s, k, rng.Uint64N(uint64(n)))
				if prepared && j == n/100*9/10 {
					_ = s.Prepare() // Checkpoint reports what is wrong
				}
			}
			at := filepath.Join(dir, fmt.Sprint(i))
			start := time.Now()
			p, err := s.Checkpoint(at)
			if err != nil {
				b.Fatal(err)
			}
			pause := time.Since(start)
			c, err := p.Finish()
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range refs.Add(c) {
				if i > 0 {
					sent += f.Size
				}
				refs.Sent(f)
			}
			if i > 0 {
				pauses = append(pauses, pause)
			}
			for _, f := range c.Files {
				total += f.Size
			}
			s.Confirm(c.Mark)
			if err := os.RemoveAll(at); err != nil {
				b.Fatal(err)
			}
		}
		report(b, pauses)
		b.ReportMetric(float64(sent)/float64(b.N)/1e6, "MB-sent/op")
		b.ReportMetric(float64(total)/float64(b.N+1)/1e6, "MB-total/op")
	}
}

// benchWriteOut writes a whole snapshot as a stream.
func benchWriteOut(b *testing.B, s *lsm.Store, n int) {
	for range b.N {
		shot, err := s.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		stats, err := shot.Write(io.Discard, 0)
		if err != nil || stats.Entries != int64(n) {
			b.Fatal(stats, err)
		}
		b.SetBytes(stats.Bytes)
		shot.Release()
		s.Abandon(shot.Mark())
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}

// benchIncrement writes the changes of 1 % of the keys.
func benchIncrement(b *testing.B, s *lsm.Store, n int) {
	rng, k, since := rand.New(rand.NewPCG(1, 2)), make([]byte, 8), statecow.Mark(0)
	b.StopTimer()
	for i := range b.N + 1 {
		for range n / 100 {
			add(b, s, k, rng.Uint64N(uint64(n)))
		}
		shot, err := s.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		if i > 0 {
			b.StartTimer()
			stats, err := shot.Write(io.Discard, since)
			b.StopTimer()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(stats.Bytes)
		}
		since = shot.Mark()
		shot.Release()
		s.Confirm(since)
	}
}

// benchRestore restores a stream of the store, which is sorted.
func benchRestore(b *testing.B, s *lsm.Store, n int) { restore(b, s, n) }

// benchRestoreUnsorted restores a stream of a statecow.Map.
func benchRestoreUnsorted(b *testing.B, _ *lsm.Store, n int) {
	m, err := statecow.New(statecow.Options{Budget: 4 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
	}()
	var k [8]byte
	for i := range n {
		binary.LittleEndian.PutUint64(k[:], uint64(i))
		if err := m.Put(statecow.HashUint64(uint64(i)), k[:], k[:]); err != nil {
			b.Fatal(err)
		}
	}
	restore(b, m, n)
}

func restore(b *testing.B, from statecow.Store, n int) {
	shot, err := from.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer shot.Release()
	path := filepath.Join(b.TempDir(), "stream")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it is only read
	stats, err := shot.Write(f, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(stats.Bytes)
	b.ResetTimer()
	for i := range b.N {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		s, err := lsm.New(lsm.Options{Dir: filepath.Join(b.TempDir(), fmt.Sprint(i))})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Restore(f); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}

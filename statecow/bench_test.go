package statecow_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/statecow"
)

var benchKeys = flag.Int("bench.keys", 1_000_000, "keys of the benchmarks")

func loaded(b testing.TB, n int) *statecow.TypedMap[uint64, uint64] {
	m, err := statecow.NewTyped[uint64, uint64](statecow.Options{Budget: 8 << 30}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range uint64(n) {
		if err := m.Put(i, i); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() {
		if err := m.Map().Close(); err != nil {
			b.Error(err)
		}
	})
	return m
}

func increment(b testing.TB, m *statecow.TypedMap[uint64, uint64], k uint64) {
	v, _, err := m.Upsert(k)
	if err != nil {
		b.Fatal(err)
	}
	*v++
}

// BenchmarkUpdate updates random keys, alternating with a builtin map in slices of
// the same run, and reports the ratio of their speeds.
func BenchmarkUpdate(b *testing.B) {
	n := *benchKeys
	m := loaded(b, n)
	builtin := make(map[uint64]uint64)
	for i := range uint64(n) {
		builtin[i] = i
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const slice = 100_000
	var ours, theirs time.Duration
	rounds := 0
	for b.Loop() {
		start := time.Now()
		for range slice {
			increment(b, m, rng.Uint64N(uint64(n)))
		}
		mid := time.Now()
		for range slice {
			builtin[rng.Uint64N(uint64(n))]++
		}
		ours, theirs, rounds = ours+mid.Sub(start), theirs+time.Since(mid), rounds+1
	}
	b.ReportMetric(float64(ours)/float64(rounds*slice), "ours-ns/op")
	b.ReportMetric(float64(theirs)/float64(rounds*slice), "builtin-ns/op")
	b.ReportMetric(float64(theirs)/float64(ours), "builtin/ours")
}

// BenchmarkUpdatePrefetched updates random keys, 64 at a time.
func BenchmarkUpdatePrefetched(b *testing.B) {
	n := *benchKeys
	m := loaded(b, n)
	rng := rand.New(rand.NewPCG(1, 2))
	var keys [64]uint64
	var hashes [64]uint32
	updates := 0
	for b.Loop() {
		for range 1000 {
			for i := range keys {
				keys[i] = rng.Uint64N(uint64(n))
				hashes[i] = m.Hash(keys[i])
			}
			m.Map().Prefetch(hashes[:])
			for i, k := range keys {
				v, _, err := m.UpsertHashed(hashes[i], k)
				if err != nil {
					b.Fatal(err)
				}
				*v++
			}
			updates += len(keys)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(updates), "ns/update")
}

// BenchmarkUpdateDuringSnapshot updates random keys while a snapshot is open and
// written by another goroutine, again and again.
func BenchmarkUpdateDuringSnapshot(b *testing.B) {
	n := *benchKeys
	m := loaded(b, n)
	rng := rand.New(rand.NewPCG(1, 2))
	var plain, open, after time.Duration
	round := func() time.Duration {
		start := time.Now()
		for range n / 2 {
			increment(b, m, rng.Uint64N(uint64(n)))
		}
		return time.Since(start)
	}
	rounds := 0
	for range b.N {
		plain += round()
		s, _ := m.Map().Snapshot()
		done := make(chan error)
		go func() {
			_, err := s.Write(io.Discard, 0)
			done <- err
		}()
		open += round()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		s.Release()
		after += round()
		for more := true; more; { // the next round begins as the first did
			m.Map().Maintain(1000)
			more, _ = m.Map().Maintain(1)
		}
		for k := range uint64(n) {
			increment(b, m, k)
		}
		rounds++
	}
	per := float64(rounds * (n / 2))
	b.ReportMetric(float64(plain)/per, "plain-ns/op")
	b.ReportMetric(float64(open)/per, "open-ns/op")
	b.ReportMetric(float64(after)/per, "after-ns/op")
	b.ReportMetric(float64(plain)/float64(open), "plain/open")
}

func BenchmarkSnapshotPause(b *testing.B) {
	m := loaded(b, *benchKeys)
	rng := rand.New(rand.NewPCG(1, 2))
	var pauses []time.Duration
	for b.Loop() {
		for range 100 {
			increment(b, m, rng.Uint64N(uint64(*benchKeys)))
		}
		start := time.Now()
		s, _ := m.Map().Snapshot()
		pauses = append(pauses, time.Since(start))
		m.Map().Confirm(s.Mark())
		s.Release()
	}
	slices.Sort(pauses)
	b.ReportMetric(float64(pauses[len(pauses)/2]), "p50-ns")
	b.ReportMetric(float64(pauses[len(pauses)*999/1000]), "p99.9-ns")
	b.ReportMetric(float64(pauses[len(pauses)-1]), "max-ns")
}

func BenchmarkLoad(b *testing.B) {
	n := *benchKeys
	for range b.N {
		m, _ := statecow.NewTyped[uint64, uint64](statecow.Options{Budget: 8 << 30}, nil)
		times := make([]time.Duration, 0, n)
		last := time.Now()
		for i := range uint64(n) {
			if err := m.Put(i, i); err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			times = append(times, now.Sub(last))
			last = now
		}
		slices.Sort(times)
		for _, q := range []float64{0.5, 0.99, 0.9999} {
			b.ReportMetric(float64(times[int(q*float64(n-1))]), fmt.Sprintf("p%v-ns", q*100))
		}
		b.ReportMetric(float64(times[n-1]), "max-ns")
		st := m.Map().Stats()
		b.ReportMetric(float64(st.MemoryBytes)/float64(n), "B/key")
		b.ReportMetric(builtinBytes(n), "builtin-B/key")
		_ = m.Map().Close()
	}
}

func builtinBytes(n int) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	builtin := make(map[uint64]uint64)
	for i := range uint64(n) {
		builtin[i] = i
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(builtin)
	return float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
}

func BenchmarkWriteAndRestore(b *testing.B) {
	n := *benchKeys
	m := loaded(b, n)
	s, _ := m.Map().Snapshot()
	defer s.Release()
	var write, restore time.Duration
	var buf bytes.Buffer
	buf.Grow(17 * n)
	for range b.N {
		buf.Reset()
		start := time.Now()
		if _, err := s.Write(&buf, 0); err != nil {
			b.Fatal(err)
		}
		write += time.Since(start)
		to, _ := statecow.NewTyped[uint64, uint64](statecow.Options{Budget: 8 << 30}, nil)
		start = time.Now()
		if err := to.Map().Restore(bytes.NewReader(buf.Bytes())); err != nil {
			b.Fatal(err)
		}
		restore += time.Since(start)
		_ = to.Map().Close()
	}
	b.ReportMetric(float64(buf.Len())*float64(b.N)/write.Seconds()/1e9, "write-GB/s")
	b.ReportMetric(float64(n)*float64(b.N)/restore.Seconds()/1e6, "restore-M/s")
}

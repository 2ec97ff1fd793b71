package lsm_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

// TestIncrementsOfManyTablesChain compares a chain of increments with a model,
// while compactions move what changed and what did not.
func TestIncrementsOfManyTablesChain(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	m := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "a")})
	copied := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "b")})
	since := statecow.Mark(0)
	m.fill(0, 4000, "first")
	for round := range 12 {
		for range 300 {
			i := rng.IntN(4500)
			if rng.IntN(3) == 0 {
				m.remove(key(i))
			} else {
				m.fill(i, i+1, fmt.Sprint(round))
			}
		}
		if round == 6 { // a base that is never confirmed is in the way of nothing
			lost, err := m.Snapshot()
			m.must(err)
			m.Abandon(lost.Mark())
			lost.Release()
		}
		s, err := m.Snapshot()
		m.must(err)
		data := m.write(s, since)
		m.Confirm(s.Mark())
		since = s.Mark()
		s.Release()
		m.must(copied.Restore(bytes.NewReader(data)))
		equal(t, m.want, content(t, copied, groups(0, maxGroups)))
		if round > 0 && len(data) > 300*150 {
			t.Fatalf("seed %d, round %d: increment of 300 operations has %d bytes", seed, round, len(data))
		}
	}
	m.check()
	if n := m.Stats().TombstoneBytes; n > 300*40 {
		t.Fatalf("%d bytes of records of deletions are left", n)
	}
}

// TestIncrementsGoOnAcrossCheckpoints takes an increment in a store that began with
// a checkpoint, whose tables are older than it.
func TestIncrementsGoOnAcrossCheckpoints(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "0")})
	copied := open(t, lsm.Options{Dir: filepath.Join(dir, "copy")})
	m.fill(0, 2500, "first")
	since := statecow.Mark(0)
	for round := range 4 {
		s, err := m.Snapshot()
		m.must(err)
		copied.must(copied.Restore(bytes.NewReader(m.write(s, since))))
		s.Release()
		m.Abandon(s.Mark())
		from := filepath.Join(dir, fmt.Sprint("chk", round))
		c := m.checkpoint(from)
		m = restored(t, lsm.Options{Dir: filepath.Join(dir, fmt.Sprint("r", round))}, from, m.want)
		since = c.Mark
		m.fill(100*round, 100*round+50, "changed")
		m.remove(key(2000 + round))
	}
	s, err := m.Snapshot()
	m.must(err)
	defer s.Release()
	data := m.write(s, since)
	copied.must(copied.Restore(bytes.NewReader(data)))
	equal(t, m.want, content(t, copied, groups(0, maxGroups)))
	if len(data) > 10_000 {
		t.Fatalf("increment of 51 operations has %d bytes", len(data))
	}
}

// TestSortedStreamsBecomeTables restores a large stream of a store, whole and in
// parts, and one that is not in order.
func TestSortedStreamsBecomeTables(t *testing.T) {
	m := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "a"), MemtableSize: 4 << 20})
	m.fill(0, 11_000, "v")
	s, err := m.Snapshot()
	m.must(err)
	data := m.write(s, 0)
	s.Release()
	parts := map[string]string{}
	for _, g := range []statecow.Groups{groups(0, 128), groups(3, 50), groups(50, 51)} {
		part := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "b"), Groups: g})
		part.must(part.Restore(bytes.NewReader(data)))
		part.want = of(m.want, g)
		part.check()
		if part.Len() != len(part.want) {
			t.Fatalf("Len = %d, want %d", part.Len(), len(part.want))
		}
		maps.Copy(parts, part.want)
		damaged := bytes.Clone(data)
		damaged[len(damaged)-100_000] ^= 1
		broken := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "c"), Groups: g})
		if err := broken.Restore(bytes.NewReader(damaged)); err == nil {
			t.Fatal("a damaged stream is accepted")
		}
	}
	equal(t, m.want, parts)
	inMap, err := statecow.New(statecow.Options{Budget: 64 << 20})
	m.must(err)
	defer func() { m.must(inMap.Close()) }()
	m.must(inMap.Restore(bytes.NewReader(data)))
	ms, err := inMap.Snapshot()
	m.must(err)
	unsorted := m.write(ms, 0)
	ms.Release()
	back := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "d")})
	back.must(back.Restore(bytes.NewReader(unsorted)))
	back.want = m.want
	back.check()
}

// TestReadersOfSnapshots reads several snapshots, each by several goroutines, while
// the owner writes, checkpoints and releases.
func TestReadersOfSnapshots(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a")})
	var wg sync.WaitGroup
	since := statecow.Mark(0)
	for round := range 5 {
		m.fill(300*round, 300*round+800, fmt.Sprint(round))
		s, err := m.Snapshot()
		m.must(err)
		want, base := maps.Clone(m.want), since
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				got := map[string]string{}
				err := s.Entries(0, func(e statecow.Entry) error {
					got[string(e.Key)] = string(e.Value)
					return nil
				})
				if err != nil || !maps.Equal(want, got) {
					t.Errorf("round %d: %d entries, want %d: %v", round, len(got), len(want), err)
				}
				if _, err := s.Write(new(bytes.Buffer), base); err != nil {
					t.Errorf("round %d: increment: %v", round, err)
				}
			})
		}
		wg.Go(func() { readers.Wait(); s.Release() })
		since = s.Mark()
		p, err := m.Checkpoint(filepath.Join(dir, fmt.Sprint("chk", round)))
		m.must(err)
		wg.Go(func() {
			if _, err := p.Finish(); err != nil {
				t.Errorf("round %d: Finish: %v", round, err)
			}
		})
		m.fill(300*round, 300*round+500, "meanwhile")
		if round == 2 {
			wg.Wait()
		}
	}
	wg.Wait()
	m.check()
}

// TestLenIsAbout counts more keys than are counted exactly.
func TestLenIsAbout(t *testing.T) {
	m := open(t, lsm.Options{Dir: filepath.Join(t.TempDir(), "a"), MemtableSize: 8 << 20})
	for range 2 {
		for i := range 20_000 {
			m.put(key(i), "v")
		}
	}
	for i := range 4000 {
		m.remove(key(i))
	}
	if n := m.Len(); n < 13_000 || n > 19_000 {
		t.Fatalf("Len = %d, want about 16000", n)
	}
}

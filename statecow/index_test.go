package statecow

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestIndexStaysSortedUnderAnyHash drives the index alone with good, few and
// equal hashes through growth and shrinking.
func TestIndexStaysSortedUnderAnyHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	hashes := map[string]func(uint64) uint32{
		"good":      HashUint64,
		"few":       func(k uint64) uint32 { return HashUint64(k % 100) },
		"equal":     func(uint64) uint32 { return 77 },
		"zero":      func(uint64) uint32 { return 0 },
		"highest":   func(k uint64) uint32 { return ^uint32(0) - uint32(k%3) },
		"ascending": func(k uint64) uint32 { return uint32(k) },
	}
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			n := 1500
			if name == "good" {
				n = 50_000
			}
			m, err := NewTyped[uint64, uint64](Options{Budget: 64 << 20}, hash)
			if err != nil {
				t.Fatal(err)
			}
			defer m.m.Close()
			for round := range 3 {
				for i := range uint64(n) {
					if err := m.Put(i, i); err != nil {
						t.Fatal(err)
					}
					if i%uint64(n/7) == 0 {
						checkIndex(t, m.m)
					}
				}
				for _, i := range rng.Perm(n) {
					if ok, err := m.Delete(uint64(i)); !ok || err != nil {
						t.Fatalf("round %d: Delete(%d) = %v, %v", round, i, ok, err)
					}
					if i%(n/7) == 0 {
						checkIndex(t, m.m)
					}
				}
			}
			for m.m.index.step() || m.m.index.n > minSlots {
				m.m.index.shrink()
			}
			checkIndex(t, m.m)
			if m.m.index.bytes() > 64<<10 {
				t.Fatalf("the index of an empty map has %d bytes", m.m.index.bytes())
			}
		})
	}
}

// TestIndexShrinksWhileKeysComeAndGo begins to shrink an index, and then adds keys of which some are
// removed again, as a chain of increments does that is restored.
func TestIndexShrinksWhileKeysComeAndGo(t *testing.T) {
	const n = 200_000
	m, err := NewTyped[uint64, uint64](Options{Budget: 64 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.m.Close()
	put := func(k uint64) {
		t.Helper()
		if err := m.Put(k, k); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(k uint64) {
		if ok, err := m.Delete(k); !ok || err != nil {
			t.Fatalf("Delete(%d) = %v, %v", k, ok, err)
		}
	}
	for k := range uint64(n) {
		put(k)
	}
	x, first := &m.m.index, uint64(0)
	for ; x.target >= x.n; first++ {
		remove(first)
	}
	began := x.n
	for k := uint64(n); k < 2*n; k++ {
		if put(k); k%8 == 0 {
			remove(first)
			first++
		}
		if k%(n/16) == 0 {
			checkIndex(t, m.m)
		}
		if took := int(k - n); x.target < x.n && took > began/16 {
			t.Fatalf("it still shrinks after %d insertions: %d of %d slots seen", took, x.cursor, x.n)
		}
	}
	checkIndex(t, m.m)
}

func TestIndexOfFewKeyGroupsUsesAllItsSlots(t *testing.T) {
	m, err := NewTyped[uint64, uint64](Options{Groups: Groups{5, 6}, MaxGroups: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.m.Close()
	n := uint64(0)
	for i := uint64(0); n < 20_000; i++ {
		if KeyGroup(m.Hash(i), 1000) == 5 {
			if err := m.Put(i, i); err != nil {
				t.Fatal(err)
			}
			n++
		} else if _, ok := m.Get(i); ok {
			t.Fatal("a key of another group is there")
		}
	}
	checkIndex(t, m.m)
	if at := m.m.index.end(); at < m.m.index.n*9/10 || m.m.index.n > 40_000 {
		t.Fatalf("%d keys reach slot %d of %d", n, at, m.m.index.n)
	}
	var wrong *GroupError
	for i := uint64(0); ; i++ {
		if KeyGroup(m.Hash(i), 1000) != 5 {
			if err := m.Put(i, i); !asError(err, &wrong) || wrong.Group != KeyGroup(m.Hash(i), 1000) {
				t.Fatalf("Put of a key of another group = %v", err)
			}
			return
		}
	}
}

// TestEntriesOfOneGroupLieApart fills an index that owns all groups with entries of a single
// one, as a key with a large map does.
func TestEntriesOfOneGroupLieApart(t *testing.T) {
	for _, groups := range []int{128, 32768} {
		m, err := New(Options{MaxGroups: groups})
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := Groups{groups / 3, groups/3 + 1}.hashes(groups)
		const n = 50_000
		for i := range uint64(n) {
			key := binary.LittleEndian.AppendUint64(nil, i)
			if err := m.Put(uint32(lo+uint64(HashUint64(i))*(hi-lo)>>32), key, nil); err != nil {
				t.Fatal(err)
			}
		}
		far := 0
		x := &m.index
		for pos := range x.limit {
			if s := *x.at(pos); s != 0 {
				far += pos - x.home(scrambled(s>>32))
			}
		}
		if far > 8*n {
			t.Errorf("%d groups: entries lie %d slots from home on average", groups, far/n)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

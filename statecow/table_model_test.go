package statecow

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTableIsAMapWhateverSnapshotsAreOpen compares a table with a builtin map: keys of
// all lengths, one hash for several keys, changes in place and copies, deletions.
func TestTableIsAMapWhateverSnapshotsAreOpen(t *testing.T) {
	table, err := NewTable[uint64](Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Map().Close()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	model := map[string]uint64{}
	var open []Snapshot
	seen := map[int]map[string]uint64{} // by place in open: what the snapshot must hold, as far as is known
	for range 60_000 {
		key := drawKey(rng)
		hash := Hash(key[:min(len(key), 3)])
		switch rng.IntN(100) {
		case 0:
			s, err := table.Map().Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			seen[len(open)] = map[string]uint64{}
			open = append(open, s)
		case 1:
			if len(open) > 3 {
				for i, s := range open {
					verify(t, seed, s, seen[i])
					s.Release()
				}
				open, seen = nil, map[int]map[string]uint64{}
			}
		case 2, 3, 4:
			remember(seen, key, model)
			if err := table.Delete(hash, key); err != nil {
				t.Fatal(err)
			}
			delete(model, string(key))
		default:
			remember(seen, key, model)
			v, added, err := table.Upsert(hash, key)
			old, had := model[string(key)]
			if err != nil || added == had || *v != old {
				t.Fatalf("seed %d: Upsert(%q) = %d, added %v, %v; want %d, %v", seed, key, *v, added, err, old, !had)
			}
			*v = rng.Uint64()
			model[string(key)] = *v
		}
	}
	for i, s := range open {
		verify(t, seed, s, seen[i])
		s.Release()
	}
	n := 0
	table.Each(func(key []byte, v *uint64) bool {
		if n++; model[string(key)] != *v {
			t.Fatalf("seed %d: %q is %d, want %d", seed, key, *v, model[string(key)])
		}
		return true
	})
	if n != len(model) || table.Len() != n {
		t.Fatalf("seed %d: %d keys, Len %d, want %d", seed, n, table.Len(), len(model))
	}
}

func drawKey(rng *rand.Rand) []byte {
	n := rng.Uint64N(400)
	switch n % 10 {
	case 0:
		return []byte(strings.Repeat("k", int(n)))
	case 1:
		return binary.LittleEndian.AppendUint32(nil, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(nil, n)
}

// remember notes what open snapshots hold of a key that is about to change.
func remember(seen map[int]map[string]uint64, key []byte, model map[string]uint64) {
	for _, s := range seen {
		if _, ok := s[string(key)]; !ok {
			s[string(key)] = model[string(key)]
		}
	}
}

// verify compares a snapshot with what is known of it; values are never 0.
func verify(t *testing.T, seed uint64, s Snapshot, want map[string]uint64) {
	t.Helper()
	found := map[string]uint64{}
	err := s.Entries(0, func(e Entry) error {
		found[string(e.Key)] = binary.LittleEndian.Uint64(e.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range want {
		if found[key] != v {
			t.Fatalf("seed %d: the snapshot has %q as %d, want %d", seed, key, found[key], v)
		}
	}
}

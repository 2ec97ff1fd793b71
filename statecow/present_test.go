package statecow_test

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/statecow"
)

// TestPresentFindsWhatUpsertHasMade adds to keys of 4 or 8 bytes in runs, with snapshots and
// deletions in between, and hashes that several keys have.
func TestPresentFindsWhatUpsertHasMade(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		table, err := statecow.NewTable[uint64](statecow.Options{MaxGroups: 16, Groups: statecow.Groups{End: 16}, SegmentSize: 64 << 10, Budget: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.SampledFrom([]int{4, 8}).Draw(t, "size")
		bits := rapid.IntRange(1, 32).Draw(t, "bits")
		hash := func(k []byte) uint32 { return statecow.Hash(k) & (1<<bits - 1) << (32 - bits) }
		want := map[uint32]uint64{}
		var open []statecow.Snapshot
		for range rapid.IntRange(1, 30).Draw(t, "runs") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				snap, err := table.Map().Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, snap)
			case 1:
				k := rapid.Uint32Range(0, 20).Draw(t, "gone")
				if err := table.Delete(hash(key(k, size)), key(k, size)); err != nil {
					t.Fatal(err)
				}
				delete(want, k)
			}
			list := rapid.SliceOfN(rapid.Uint32Range(0, 20), 1, 64).Draw(t, "keys")
			var keys []byte
			var hashes []uint32
			for _, k := range list {
				keys = append(keys, key(k, size)...)
				hashes = append(hashes, hash(key(k, size)))
			}
			for values := make([]*uint64, len(list)); len(list) > 0; {
				n := table.Present(hashes, keys, values)
				for i := range n {
					if *values[i] != want[list[i]] {
						t.Fatalf("key %d has %d, want %d", list[i], *values[i], want[list[i]])
					}
					*values[i]++
					want[list[i]]++
				}
				if found += n; n == len(list) {
					break
				}
				v, added, err := table.Upsert(hashes[n], keys[n*size:][:size])
				if err != nil || *v != want[list[n]] || added != (*v == 0) {
					t.Fatalf("key %d: %d, added %v, %v, want %d", list[n], *v, added, err, want[list[n]])
				}
				*v++
				want[list[n]]++
				hashes, keys, list = hashes[n+1:], keys[(n+1)*size:], list[n+1:]
			}
		}
		for k, n := range want {
			if v := table.Get(hash(key(k, size)), key(k, size)); v == nil || *v != n {
				t.Fatalf("key %d: %v, want %d", k, v, n)
			}
		}
		for _, s := range open {
			s.Release()
		}
		if err := table.Map().Close(); err != nil {
			t.Fatal(err)
		}
	})
	if found == 0 {
		t.Fatal("it never finds anything")
	}
}

func key(n uint32, size int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n))[:size] }

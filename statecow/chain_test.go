package statecow_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

// link writes a random increment of n changes to a stream and to what it has to lead to.
// Keys change, go and come again, also within it.
func link(t *testing.T, rng *rand.Rand, want map[string]string, since statecow.Mark, n, keys int, hash func([]byte) uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	w := statecow.NewStreamWriter(&b, since, since+1, n)
	for i := range n {
		key := fmt.Appendf(nil, "key %d", rng.IntN(keys))
		e := statecow.Entry{Hash: hash(key), Key: key}
		if e.Deleted = since > 0 && rng.IntN(3) == 0; e.Deleted {
			delete(want, string(key))
		} else {
			e.Value = fmt.Appendf(nil, "%d of %d", i, since)
			want[string(key)] = string(e.Value)
		}
		must(t, w.Add(e))
	}
	_, err := w.Close()
	must(t, err)
	return b.Bytes()
}

// TestRestoreOfAChain restores chains of which there are enough entries for bulk loading,
// with room for all of them and without.
func TestRestoreOfAChain(t *testing.T) {
	for _, c := range []struct {
		name           string
		full, more     int
		links, keys    int
		sized, segment int
		hash           func([]byte) uint32
	}{
		{"room for all", 20_000, 2_000, 4, 30_000, 4, 0, statecow.Hash},
		{"room for some", 20_000, 9_000, 4, 30_000, 4, 0, statecow.Hash},
		{"sizes unknown", 20_000, 3_000, 3, 20_000, 0, 0, statecow.Hash},
		{"several buckets", 60_000, 10_000, 2, 50_000, 2, 0, statecow.Hash},
		{"more deletions than have numbers", 60_000, 40_000, 1, 90_000, 1, 64 << 10, statecow.Hash},
		{"few hashes", 5_000, 600, 2, 3_000, 2, 0, sloped},
		{"highest hashes", 5_000, 600, 2, 3_000, 2, 0, high},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng, want := rand.New(rand.NewPCG(7, uint64(c.full))), map[string]string{}
			streams := [][]byte{link(t, rng, want, 0, c.full, c.keys, c.hash)}
			sizes := []int64{int64(len(streams[0]))}
			for i := range c.links {
				streams = append(streams, link(t, rng, want, statecow.Mark(i+1), c.more, c.keys, c.hash))
				sizes = append(sizes, int64(len(streams[i+1])))
			}
			for _, parts := range []int{1, 3} {
				left := maps.Clone(want)
				for i := range parts {
					g := statecow.Groups{First: i * 128 / parts, End: (i + 1) * 128 / parts}
					m, err := statecow.New(statecow.Options{Budget: 64 << 20, Groups: g, SegmentSize: c.segment})
					must(t, err)
					restoreChain(t, m, streams, sizes[:1+c.sized])
					takeAll(t, m, left)
					must(t, m.Close())
				}
				if len(left) > 0 {
					t.Fatalf("%d keys are in none of %d parts", len(left), parts)
				}
			}
		})
	}
}

func restoreChain(t *testing.T, m *statecow.Map, streams [][]byte, sizes []int64) {
	t.Helper()
	c := m.RestoreChain(statecow.Groups{First: 0, End: 128}, sizes...)
	for _, s := range streams {
		must(t, c.Apply(bytes.NewReader(s)))
	}
	must(t, c.Close())
}

// takeAll takes what is in the map, by every way to it, from both.
func takeAll(t *testing.T, m *statecow.Map, left map[string]string) {
	t.Helper()
	live, hashes := int64(0), map[string]uint32{}
	must(t, m.Range(statecow.Groups{First: 0, End: 128}, func(hash uint32, key, value []byte) bool {
		if v, ok := left[string(key)]; !ok || v != string(value) {
			t.Fatalf("%s is %s, want %s, %v", key, value, v, ok)
		}
		delete(left, string(key))
		hashes[string(key)] = hash
		live += int64(8+len(key)+len(value)+7) / 8 * 8
		return true
	}))
	if st := m.Stats(); st.LiveBytes != live || st.Keys != len(hashes) {
		t.Fatalf("%d bytes live of %d keys, want %d of %d", st.LiveBytes, st.Keys, live, len(hashes))
	}
	for key, hash := range hashes {
		if ok, err := m.Delete(hash, []byte(key)); !ok || err != nil {
			t.Fatalf("Delete of %s: %v, %v", key, ok, err)
		}
	}
	if m.Len() != 0 {
		t.Fatalf("%d keys are left", m.Len())
	}
}

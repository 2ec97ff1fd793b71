package statecow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

// stream is a written snapshot of n entries, number i of key i%keys and value i, whose
// header announces hint of them. hash makes their hashes.
func stream(t testing.TB, n, keys, hint int, hash func(key []byte) uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	w := statecow.NewStreamWriter(&b, 0, 1, hint)
	for i := range n {
		key := fmt.Appendf(nil, "key %d", i%keys)
		must(t, w.Add(statecow.Entry{Hash: hash(key), Key: key, Value: binary.LittleEndian.AppendUint64(make([]byte, i%5*8), uint64(i))}))
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sloped is a hash with few bits, most of them the same.
func sloped(key []byte) uint32 { return statecow.Hash(key) % 16 }

// high is the same at the other end.
func high(key []byte) uint32 { return ^sloped(key) }

// TestRestoreOfManyEntries restores streams that are larger than bulk loading needs, and
// those that it cannot go on with: where the header announced too few, where hashes are
// bad and where keys come again.
func TestRestoreOfManyEntries(t *testing.T) {
	for _, c := range []struct {
		name          string
		n, keys, hint int
		hash          func([]byte) uint32
	}{
		{"just enough", 4096, 4096, 4096, statecow.Hash},
		{"one bucket", 12_000, 12_000, 12_000, statecow.Hash},
		{"several", 60_000, 60_000, 60_000, statecow.Hash},
		{"too few announced", 60_000, 60_000, 5_000, statecow.Hash},
		{"too many announced", 6_000, 6_000, 300_000, statecow.Hash},
		{"keys come again", 30_000, 7_000, 30_000, statecow.Hash},
		{"keys come again in several buckets", 60_000, 40_000, 60_000, statecow.Hash},
		{"lowest hashes only", 5_000, 4_500, 5_000, sloped},
		{"highest hashes only", 5_000, 4_500, 5_000, high},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := stream(t, c.n, c.keys, c.hint, c.hash)
			for _, parts := range []int{1, 3} {
				restoreParts(t, data, parts, c.n, c.keys, c.hash)
			}
		})
	}
}

// restoreParts restores a stream into maps that share its key groups, and goes on to use them.
func restoreParts(t *testing.T, data []byte, parts, n, keys int, hash func([]byte) uint32) {
	t.Helper()
	total := 0
	for i := range parts {
		g := statecow.Groups{First: i * 128 / parts, End: (i + 1) * 128 / parts}
		m, err := statecow.New(statecow.Options{Budget: 64 << 20, Groups: g})
		must(t, err)
		must(t, m.Restore(bytes.NewReader(data)))
		total += m.Len()
		live := int64(0)
		for k := range keys {
			key := fmt.Appendf(nil, "key %d", k)
			h := hash(key)
			last := n - 1 - (n-1-k)%keys
			v, ok, _ := m.Get(h, key)
			if mine := g.Contains(statecow.KeyGroup(h, 128)); ok != mine || mine && binary.LittleEndian.Uint64(v[len(v)-8:]) != uint64(last) {
				t.Fatalf("%s of %d parts: %v, %v", key, parts, v, ok)
			}
			if ok {
				live += int64(8+len(key)+len(v)+7) / 8 * 8
			}
		}
		if st := m.Stats(); st.LiveBytes != live {
			t.Fatalf("%d bytes live, want %d", st.LiveBytes, live)
		}
		for k := range keys {
			key := fmt.Appendf(nil, "key %d", k)
			if h := hash(key); g.Contains(statecow.KeyGroup(h, 128)) && k%2 == 0 {
				if ok, err := m.Delete(h, key); !ok || err != nil {
					t.Fatalf("Delete of %s: %v, %v", key, ok, err)
				}
			}
		}
		must(t, m.Close())
	}
	if total != keys {
		t.Fatalf("%d parts hold %d keys, want %d", parts, total, keys)
	}
}

// TestRestoreBeyondTheBudget has to fail in time, and to leave a map that works.
func TestRestoreBeyondTheBudget(t *testing.T) {
	const n = 100_000
	data := stream(t, n, n, n, statecow.Hash)
	m, err := statecow.New(statecow.Options{Budget: 4 << 20})
	must(t, err)
	defer m.Close()
	if err := m.Restore(bytes.NewReader(data)); !errors.Is(err, statecow.ErrBudget) {
		t.Fatalf("Restore = %v", err)
	}
	if st := m.Stats(); st.MemoryBytes > 4<<20 || st.Keys == 0 {
		t.Fatalf("%+v", st)
	}
	for k := range n {
		key := fmt.Appendf(nil, "key %d", k)
		if _, err := m.Delete(statecow.Hash(key), key); err != nil {
			t.Fatal(err)
		}
	}
	if m.Len() != 0 {
		t.Fatalf("%d keys are left", m.Len())
	}
}

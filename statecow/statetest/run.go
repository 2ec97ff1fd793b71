package statetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

// Config is what a test needs of a store.
type Config struct {
	MaxGroups int             // of the job
	Groups    statecow.Groups // owned
}

// Factory returns a new, empty store. Run closes it.
type Factory func(t testing.TB, c Config) statecow.Store

// maxGroups is the number of key groups in these tests.
const maxGroups = 128

func all() Config { return Config{maxGroups, statecow.Groups{First: 0, End: maxGroups}} }

// Run runs all tests against stores of the factory.
func Run(t *testing.T, f Factory) {
	for _, test := range []struct {
		name string
		run  func(*harness)
	}{
		{"GetReturnsWhatWasPut", getPut},
		{"UpdateSeesTheOldValueAndMayDelete", update},
		{"EmptyKeysAndValues", empties},
		{"LongKeysAndValues", long},
		{"RangeSelectsKeyGroups", ranges},
		{"SnapshotIsFrozen", frozen},
		{"SnapshotsNest", nested},
		{"IncrementHoldsChangesAndDeletions", increment},
		{"IncrementOfNothingIsSmall", nothing},
		{"IncrementNeedsAKnownBase", base},
		{"ChainRestoresAtAnotherSplit", split},
		{"ReleasedSnapshotRefuses", released},
		{"DamageIsRefused", damage},
		{"ExpiredEntriesGoAway", expiry},
		{"RandomOperationsEqualAModel", random},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &harness{T: t, factory: f}
			h.store = h.open(all())
			test.run(h)
		})
	}
}

// harness is a test with its store.
type harness struct {
	*testing.T
	factory Factory
	store   statecow.Store
}

// open returns a store that the test's end closes.
func (h *harness) open(c Config) statecow.Store {
	h.Helper()
	s := h.factory(h, c)
	h.Cleanup(func() {
		if err := s.Close(); err != nil {
			h.Errorf("Close: %v", err)
		}
	})
	return s
}

func (h *harness) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *harness) put(key, value string) {
	h.Helper()
	h.must(h.store.Put(statecow.Hash([]byte(key)), []byte(key), []byte(value)))
}

func (h *harness) remove(key string) bool {
	h.Helper()
	ok, err := h.store.Delete(statecow.Hash([]byte(key)), []byte(key))
	h.must(err)
	return ok
}

func (h *harness) get(key string) (string, bool) {
	h.Helper()
	v, ok, err := h.store.Get(statecow.Hash([]byte(key)), []byte(key))
	h.must(err)
	return string(v), ok
}

func (h *harness) fill(n int, value string) {
	h.Helper()
	for i := range n {
		h.put(key(i), value+fmt.Sprint(i))
	}
}

func key(i int) string { return fmt.Sprintf("key-%d", i) }

func (h *harness) snapshot() statecow.Snapshot {
	h.Helper()
	s, err := h.store.Snapshot()
	h.must(err)
	return s
}

// content is what a store holds.
func (h *harness) content(s statecow.Store, g statecow.Groups) map[string]string {
	h.Helper()
	got := map[string]string{}
	h.must(s.Range(g, func(hash uint32, key, value []byte) bool {
		if hash != statecow.Hash(key) || !g.Contains(statecow.KeyGroup(hash, maxGroups)) {
			h.Fatalf("Range lent %q with hash %x", key, hash)
		}
		got[string(key)] = string(value)
		return true
	}))
	return got
}

// changes is what a snapshot holds since a base; deleted keys have the value "-".
func (h *harness) changes(s statecow.Snapshot, since statecow.Mark) map[string]string {
	h.Helper()
	got := map[string]string{}
	h.must(s.Entries(since, func(e statecow.Entry) error {
		if got[string(e.Key)] = string(e.Value); e.Deleted {
			got[string(e.Key)] = "-"
		}
		return nil
	}))
	return got
}

// write writes a snapshot and confirms it.
func (h *harness) write(s statecow.Snapshot, since statecow.Mark) []byte {
	h.Helper()
	var b bytes.Buffer
	stats, err := s.Write(&b, since)
	h.must(err)
	if stats.Bytes != int64(b.Len()) {
		h.Fatalf("Write says %d bytes and wrote %d", stats.Bytes, b.Len())
	}
	h.store.Confirm(s.Mark())
	return b.Bytes()
}

package lsm_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
	"github.com/overtake-stream/overtake/statecow/statetest"
)

// manyStores reports whether a test opens so many stores that it is enough to run
// it with stores in memory.
func manyStores(t testing.TB) bool { return strings.HasSuffix(t.Name(), "/DamageIsRefused") }

func newMap(t testing.TB, c statetest.Config) statecow.Store {
	t.Helper()
	m, err := statecow.New(statecow.Options{Budget: 64 << 20, MaxGroups: c.MaxGroups, Groups: c.Groups})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newStore(t testing.TB, o lsm.Options) *lsm.Store {
	t.Helper()
	s, err := lsm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inMemory(c statetest.Config) lsm.Options {
	return lsm.Options{Dir: "state", FS: vfs.NewMem(), MaxGroups: c.MaxGroups, Groups: c.Groups, CacheSize: 1 << 20}
}

func TestStoreConforms(t *testing.T) {
	statetest.Run(t, func(t testing.TB, c statetest.Config) statecow.Store { return newStore(t, inMemory(c)) })
}

// TestStoreConformsOnDisk has a memtable so small that there are many tables.
func TestStoreConformsOnDisk(t *testing.T) {
	dir, n := t.TempDir(), 0
	statetest.Run(t, func(t testing.TB, c statetest.Config) statecow.Store {
		if manyStores(t) {
			return newMap(t, c)
		}
		n++
		return newStore(t, lsm.Options{
			Dir: filepath.Join(dir, strconv.Itoa(n)), MaxGroups: c.MaxGroups, Groups: c.Groups, MemtableSize: 256 << 10,
		})
	})
}

// TestStreamsAreThoseOfTheMap restores what one kind of store wrote in the other.
func TestStreamsAreThoseOfTheMap(t *testing.T) {
	for _, name := range []string{"FromMap", "FromStore"} {
		t.Run(name, func(t *testing.T) {
			seen := map[testing.TB]bool{}
			statetest.Run(t, func(t testing.TB, c statetest.Config) statecow.Store {
				first := !seen[t]
				seen[t] = true
				if first == (name == "FromMap") || manyStores(t) {
					return newMap(t, c)
				}
				return newStore(t, inMemory(c))
			})
		})
	}
}

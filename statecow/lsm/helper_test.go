package lsm_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const maxGroups = 128

func groups(first, end int) statecow.Groups { return statecow.Groups{First: first, End: end} }

// model is a store with what it should hold.
type model struct {
	*testing.T
	*lsm.Store
	want map[string]string
}

// open returns a store whose memtable is small, so that there are many tables.
func open(t *testing.T, o lsm.Options) *model {
	t.Helper()
	o.MaxGroups = maxGroups
	if o.MemtableSize == 0 {
		o.MemtableSize = lsm.MinMemtableSize
	}
	m := &model{T: t, Store: newStore(t, o), want: map[string]string{}}
	t.Cleanup(m.end)
	return m
}

func (m *model) end() {
	if err := m.Close(); err != nil {
		m.Errorf("Close: %v", err)
	}
}

func (m *model) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func key(i int) string { return fmt.Sprintf("key-%06d", i) }

func (m *model) put(k, v string) {
	m.Helper()
	m.must(m.Put(statecow.Hash([]byte(k)), []byte(k), []byte(v)))
	m.want[k] = v
}

func (m *model) remove(k string) {
	m.Helper()
	_, err := m.Delete(statecow.Hash([]byte(k)), []byte(k))
	m.must(err)
	delete(m.want, k)
}

func (m *model) fill(from, to int, value string) {
	m.Helper()
	for i := from; i < to; i++ {
		m.put(key(i), value+strings.Repeat(".", 100))
	}
}

// checkpoint makes a finished checkpoint.
func (m *model) checkpoint(dir string) lsm.Checkpoint {
	m.Helper()
	p, err := m.Checkpoint(dir)
	m.must(err)
	c, err := p.Finish()
	m.must(err)
	return c
}

// restored returns a store begun with a checkpoint, owning groups.
func restored(t *testing.T, o lsm.Options, from string, want map[string]string) *model {
	t.Helper()
	o.MaxGroups, o.MemtableSize = maxGroups, lsm.MinMemtableSize
	s, err := lsm.Open(o, from)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{T: t, Store: s, want: maps.Clone(want)}
	t.Cleanup(m.end)
	return m
}

func content(t *testing.T, s statecow.Store, g statecow.Groups) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := s.Range(g, func(_ uint32, k, v []byte) bool {
		got[string(k)] = string(v)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func equal(t *testing.T, want, got map[string]string) {
	t.Helper()
	if maps.Equal(want, got) {
		return
	}
	t.Fatalf("%d keys, want %d: %s", len(got), len(want), cmp.Diff(want, got)[:2000])
}

func (m *model) check() {
	m.Helper()
	equal(m.T, m.want, content(m.T, m.Store, groups(0, maxGroups)))
}

// of is what of want is in groups.
func of(want map[string]string, g statecow.Groups) map[string]string {
	part := map[string]string{}
	for k, v := range want {
		if g.Contains(statecow.KeyGroup(statecow.HashString(k), maxGroups)) {
			part[k] = v
		}
	}
	return part
}

func (m *model) write(s statecow.Snapshot, since statecow.Mark) []byte {
	m.Helper()
	var b bytes.Buffer
	_, err := s.Write(&b, since)
	m.must(err)
	return b.Bytes()
}

// openFiles are the files below dir that this process has open.
func openFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Skip("no list of open files here")
	}
	for _, l := range links {
		if f, err := os.Readlink(l); err == nil && strings.HasPrefix(f, dir) {
			files = append(files, f)
		}
	}
	return files
}

// firstBlock is an offset in the first block of data of a table.
const firstBlock = 100

// damageTables flips a bit of the byte at an offset in every table in dir that has been
// written.
func damageTables(t *testing.T, fs vfs.FS, dir string, off int64) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, n := range names {
		if !strings.HasSuffix(n, ".sst") {
			continue
		}
		f, err := fs.OpenReadWrite(fs.PathJoin(dir, n), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		at := []byte{0}
		_, err = f.ReadAt(at, off)
		if err == nil {
			at[0] ^= 0x10
			_, err = f.WriteAt(at, off)
			damaged++
		} else if err == io.EOF { // it has just been created: nobody reads it yet
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if damaged == 0 {
		t.Fatalf("%s has no table to damage", dir)
	}
}

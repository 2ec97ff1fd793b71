package lsm_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

func TestCheckpointReopens(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a")})
	m.fill(0, 2000, "first")
	for i := range 200 {
		m.remove(key(7 * i))
	}
	c := m.checkpoint(filepath.Join(dir, "chk"))
	frozen := maps.Clone(m.want)
	m.fill(1000, 2500, "later")
	m.check()

	r := restored(t, lsm.Options{Dir: filepath.Join(dir, "b")}, filepath.Join(dir, "chk"), frozen)
	r.check()
	if n := r.Len(); n != len(frozen) {
		t.Fatalf("Len = %d, want %d", n, len(frozen))
	}
	// The checkpoint is the base of an increment.
	r.fill(100, 200, "after")
	r.remove(key(1501))
	s, err := r.Snapshot()
	r.must(err)
	defer s.Release()
	got := map[string]string{}
	r.must(s.Entries(c.Mark, func(e statecow.Entry) error {
		got[string(e.Key)] = string(e.Value)
		return nil
	}))
	if len(got) != 101 || got[key(1501)] != "" {
		t.Fatalf("increment since the checkpoint has %d entries, want 101", len(got))
	}
	// The first checkpoint is as it was, whatever came after.
	again := restored(t, lsm.Options{Dir: filepath.Join(dir, "c")}, filepath.Join(dir, "chk"), frozen)
	again.check()
}

func TestCheckpointSplitsAndMerges(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a")})
	m.fill(0, 2500, "v")
	m.checkpoint(filepath.Join(dir, "whole"))
	bounds := []int{0, 40, 41, maxGroups}
	for i, name := range []string{"p0", "p1", "p2"} {
		g := groups(bounds[i], bounds[i+1])
		part := restored(t, lsm.Options{Dir: filepath.Join(dir, name), Groups: g}, filepath.Join(dir, "whole"), of(m.want, g))
		part.check()
		part.fillOwned(7000, 7500, "new", g)
		part.check()
		part.checkpoint(filepath.Join(dir, name+".chk"))
	}
	m.fill(7000, 7500, "new")
	merged := open(t, lsm.Options{Dir: filepath.Join(dir, "merged"), Groups: groups(10, 120)})
	for _, name := range []string{"p2", "p0", "p1"} {
		merged.must(merged.Import(filepath.Join(dir, name+".chk")))
	}
	merged.want = of(m.want, groups(10, 120))
	merged.check()
	if n, want := merged.Len(), len(merged.want); n != want {
		t.Fatalf("Len = %d, want %d", n, want)
	}
	merged.checkpoint(filepath.Join(dir, "merged.chk"))
	last := restored(t, lsm.Options{Dir: filepath.Join(dir, "last"), Groups: groups(100, 110)}, filepath.Join(dir, "merged.chk"), of(m.want, groups(100, 110)))
	last.check()
}

func (m *model) fillOwned(from, to int, value string, g statecow.Groups) {
	for i := from; i < to; i++ {
		if g.Contains(statecow.KeyGroup(statecow.HashString(key(i)), maxGroups)) {
			m.fill(i, i+1, value)
		}
	}
}

// TestUploadsSendOnlyNewFiles follows a remote place through checkpoints, and opens
// one from what it holds.
func TestUploadsSendOnlyNewFiles(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a"), MemtableSize: 256 << 10})
	remote, refs := map[string][]byte{}, lsm.NewReferences()
	var kept []lsm.Checkpoint
	for round := range 8 {
		if round == 0 {
			m.fill(0, 8000, "base")
		}
		m.fill(100*round, 100*round+100, "changed")
		at := filepath.Join(dir, "chk")
		if round%2 == 1 {
			m.must(m.Prepare())
		}
		c := m.checkpoint(at)
		for _, f := range refs.Add(c) {
			m.must(f.Verify(vfs.Default, at))
			data, err := os.ReadFile(filepath.Join(at, f.Name))
			m.must(err)
			remote[f.Object()] = data
			refs.Sent(f)
		}
		m.Confirm(c.Mark)
		m.must(os.RemoveAll(at))
		if kept = append(kept, c); len(kept) > 2 {
			for _, f := range refs.Remove(kept[0]) {
				delete(remote, f.Object())
			}
			kept = kept[1:]
		}
		if len(remote) != refs.Len() {
			t.Fatalf("remote has %d files, %d are needed", len(remote), refs.Len())
		}
	}
	from := filepath.Join(dir, "fetched")
	m.must(os.Mkdir(from, 0o755))
	for _, f := range kept[1].Files {
		m.must(os.WriteFile(filepath.Join(from, f.Name), remote[f.Object()], 0o600))
	}
	if _, err := lsm.ReadCheckpoint(vfs.Default, from); !errors.Is(err, lsm.ErrNoCheckpoint) {
		t.Fatalf("without its list: %v", err)
	}
	list, err := kept[1].Encode()
	m.must(err)
	m.must(os.WriteFile(filepath.Join(from, lsm.ListName), list, 0o600))
	r := restored(t, lsm.Options{Dir: filepath.Join(dir, "b")}, from, m.want)
	r.check()
}

func TestReferencesCountShares(t *testing.T) {
	file := func(name string, sum byte) lsm.File { return lsm.File{Name: name, Size: 1, Sum: lsm.Sum{sum}} }
	a := lsm.Checkpoint{Files: []lsm.File{file("1.sst", 1), file("2.sst", 2)}}
	b := lsm.Checkpoint{Files: []lsm.File{file("2.sst", 2), file("7.sst", 2), file("3.sst", 3)}}
	r := lsm.NewReferences()
	if n := len(r.Add(a)); n != 2 {
		t.Fatalf("first sends %d files", n)
	}
	if n := len(r.Add(b)); n != 2 {
		t.Fatalf("second sends %d files: one that was not sent yet is missing", n)
	}
	r.Sent(file("2.sst", 2))
	if drop := r.Remove(a); len(drop) != 1 || drop[0].Name != "1.sst" {
		t.Fatalf("removing the first drops %v", drop)
	}
	if n := len(r.Add(a)); n != 1 {
		t.Fatalf("again sends %d files", n)
	}
	r.Remove(a)
	if n := len(r.Remove(b)); n != 2 || r.Len() != 0 {
		t.Fatalf("removing all drops %d and leaves %d", n, r.Len())
	}
}

func TestDamagedCheckpointsAreNamed(t *testing.T) {
	dir := t.TempDir()
	m := open(t, lsm.Options{Dir: filepath.Join(dir, "a")})
	m.fill(0, 1500, "v")
	at := filepath.Join(dir, "chk")
	c := m.checkpoint(at)
	for i, f := range append(c.Files, lsm.File{Name: lsm.ListName}) {
		path := filepath.Join(at, f.Name)
		good, err := os.ReadFile(path)
		m.must(err)
		if len(good) == 0 {
			continue
		}
		var table *lsm.TableError
		m.must(os.Remove(path)) // the store's own file is a link to it
		m.must(os.WriteFile(path, good[:len(good)-1], 0o600))
		if _, err := lsm.Open(lsm.Options{Dir: filepath.Join(dir, "short")}, at); !errors.As(err, &table) || table.File != path {
			t.Fatalf("%s is too short: %v", f.Name, err)
		}
		bad := append([]byte(nil), good...)
		bad[len(bad)/2] ^= 1
		m.must(os.WriteFile(path, bad, 0o600))
		if i < len(c.Files) {
			if err := f.Verify(vfs.Default, at); !errors.As(err, &table) || table.File != path {
				t.Fatalf("%s is damaged: Verify = %v", f.Name, err)
			}
		} else if _, err := lsm.ReadCheckpoint(vfs.Default, at); !errors.As(err, &table) {
			t.Fatalf("list is damaged: %v", err)
		}
		m.must(os.WriteFile(path, good, 0o600))
	}
	restored(t, lsm.Options{Dir: filepath.Join(dir, "b")}, at, m.want).check()
}

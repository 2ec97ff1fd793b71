package files_test

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

// itself is the folder that a row names.
func itself(dst []byte, v string, _ time.Time) []byte { return append(dst, v...) }

// byName is a sink in the folders that rows name.
func byName(dir string, maxOpen int) operators.Sink[string] {
	return files.Partitioned(dir, files.TSV[string], files.Partitions[string]{Folder: itself, MaxOpen: maxOpen})
}

// mustHoldTree checks that a folder and those in it have these files and no others.
func mustHoldTree(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(readFolder(t, dir))); !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
}

func TestPartitionsOfAJobAreFoldersByEventTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	job := overtake.NewJob("orders", overtake.Options{Parallelism: 1})
	in := overtake.From(job, memory.Slice(0, 3_600_000, 1, 86_400_000))
	timed := overtake.AssignTimes(in, func(ms int) int64 { return int64(ms) }, 0)
	overtake.To(timed, files.Partitioned(dir, files.CSV[int], files.Partitions[int]{Folder: files.ByTime[int]("dt=2006-01-02/hour=15")}))
	if err := job.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"dt=1970-01-01/hour=00/part-00000-0-0.csv": "value\n0\n1\n",
		"dt=1970-01-01/hour=01/part-00000-0-1.csv": "value\n3600000\n",
		"dt=1970-01-02/hour=00/part-00000-0-2.csv": "value\n86400000\n",
	}
	for name, content := range readFolder(t, dir) {
		if want[name] != string(content) {
			t.Errorf("%s has %q, want %q", name, content, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %q", want)
	}
	_, err := files.Partitioned(dir, files.CSV[int], files.Partitions[int]{Folder: files.ByTime[int]("2006")}).Open(attempt(0, 0, 1))
	wants(t, err, files.ErrLeft, "hour=00/part-00000-0-0.csv") // nothing is replaced
}

func TestNamesOfPartitionsAreChecked(t *testing.T) {
	dir := t.TempDir()
	for name, says := range map[string]string{
		"":                               "it is empty",
		"/etc":                           "it is an absolute path",
		"..":                             "begins with a dot",
		"a/../../b":                      `".." begins with a dot`,
		".":                              "begins with a dot",
		"a/.lock-0":                      "begins with a dot",
		"a//b":                           "it has a / too many",
		"a/":                             "it has a / too many",
		`a\..\..\b`:                      "backslash",
		"a\x00":                          "control character",
		"a\nb":                           "control character",
		"a\x7f":                          "control character",
		"a\xff":                          "it is not UTF-8",
		strings.Repeat("a", 256):         "has 256 bytes, more than 255",
		strings.Repeat("a/", 512) + "b":  "it has 1025 bytes, more than 1024",
		"x/" + strings.Repeat("ö", 128):  "has 256 bytes, more than 255",
		strings.Repeat("y", 2000) + "/z": "it has 2002 bytes, more than 1024",
	} {
		w := mustOpen(t, byName(dir, 0), attempt(1, 0, 1))
		err := w.Write(name)
		wants(t, err, files.ErrFolder, says)
		wants(t, err, files.ErrFolder, dir)
		if len(err.Error()) > 800 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		mustClose(t, w, true)
		mustHoldTree(t, dir)
	}
	w := mustOpen(t, byName(dir, 0), attempt(1, 0, 1))
	long := strings.Repeat("a", 255)
	feed(t, w, long, "dt=2026-11-30/hm=09:05", "ä b/…", strings.Repeat("b/", 511)+"c")
	if err := w.Commit(mustPrepare(t, w)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	if n := len(readFolder(t, dir)); n != 4 {
		t.Errorf("%d files, want 4", n)
	}
}

// Whatever names records have, what is written is below the folder, or nothing is.
func TestNoNameLeadsOutOfTheFolder(t *testing.T) {
	outer := quickFolder(t)
	dir := filepath.Join(outer, "in", "out")
	rapid.Check(t, func(rt *rapid.T) {
		emptyFolder(t, outer)
		w, err := byName(dir, 0).Open(attempt(1, 0, 1))
		if err != nil {
			rt.Fatal(err)
		}
		name := rapid.StringOfN(rapid.SampledFrom([]rune("./\\a~\x00:%é")), -1, 12, -1).Draw(rt, "name")
		two := w.(operators.TwoPhaseWriter[string])
		if err = w.Write(name); err == nil {
			b, err := two.Prepare(nil)
			if err = errors.Join(err, two.Commit(b)); err != nil {
				rt.Fatal(err)
			}
		} else if !errors.Is(err, files.ErrFolder) {
			rt.Fatal(err)
		}
		if err := w.Close(true); err != nil {
			rt.Fatal(err)
		}
		part := filepath.Join(dir, name, "part-00000-1-0.tsv")
		if _, there := os.Stat(part); err == nil && (there != nil || !strings.HasPrefix(part, dir+"/")) {
			rt.Fatalf("%s: %v", part, there)
		}
		if all := readFolder(rt, outer); len(all) > 1 || err != nil && len(all) > 0 {
			rt.Fatalf("files %q", slices.Collect(maps.Keys(all)))
		}
	})
}

func TestColumnsInNamesMayHaveAnyValue(t *testing.T) {
	dir := quickFolder(t)
	rapid.Check(t, func(rt *rapid.T) {
		emptyFolder(rt, dir)
		value := rapid.StringN(-1, -1, 80).Draw(rt, "value")
		name := string(files.AppendColumn(files.AppendColumn(nil, "dt", []byte("2026-11-30")), "of", value))
		w, err := byName(dir, 0).Open(attempt(0, 0, 1))
		if err = errors.Join(err, w.Write(name), w.Close(true)); err != nil {
			rt.Fatal(err)
		}
		text, ok := strings.CutPrefix(name, "dt=2026-11-30/of=")
		back, err := url.PathUnescape(text)
		if !ok || err != nil || back != value && (value != "" || back != "__HIVE_DEFAULT_PARTITION__") {
			rt.Fatalf("%q, %v", name, err)
		}
	})
	if got := string(files.AppendColumn(nil, "hm", "09:05")); got != "hm=09%3A05" {
		t.Errorf("%q", got)
	}
}

func TestPartitionsAreValidated(t *testing.T) {
	_, err := files.Partitioned(t.TempDir(), files.TSV[string], files.Partitions[string]{MaxOpen: -1}).Open(attempt(1, 0, 1))
	wants(t, err, nil, "Folder is missing")
	wants(t, err, nil, "MaxOpen is -1")
}

// The file that is ended is the one that has had no row for the longest.
func TestPartitionsBeyondTheBoundBeginNewParts(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, byName(dir, 2), attempt(1, 0, 1))
	feed(t, w, "a", "b", "a", "c", "a", "b", "b")
	mustHoldTree(t, dir, ".lock-0", ".pending-1-0-0.tsv", ".pending-1-0-1.tsv", ".pending-1-0-2.tsv", ".pending-1-0-3.tsv")
	b := mustPrepare(t, w)
	feed(t, w, "a")
	c := mustPrepare(t, w)
	if err := errors.Join(w.Commit(c), w.Commit(b), w.Commit(b)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	mustHoldTree(t, dir, "a/part-00000-1-0.tsv", "a/part-00000-1-4.tsv", "b/part-00000-1-1.tsv", "b/part-00000-1-3.tsv", "c/part-00000-1-2.tsv")
	mustRead(t, filepath.Join(dir, "a/part-00000-1-0.tsv"), "a\na\na\n")
	mustRead(t, filepath.Join(dir, "b/part-00000-1-3.tsv"), "b\nb\n")
	wants(t, w.Abort(b), nil, "is published")

	w = mustOpen(t, byName(dir, 1), attempt(2, 0, 1))
	if err := w.Recovered(); err != nil {
		t.Fatal(err)
	}
	feed(t, w, "a", "b") // the first is ended, and in no checkpoint
	wants(t, w.Close(true), nil, "must end with one")
	if n := len(readFolder(t, dir)); n != 5 {
		t.Errorf("%d files, want 5", n)
	}
}

func TestPartsOfAnotherRunAreRefusedInAnyPartition(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, byName(dir, 0), attempt(3, 1, 2))
	feed(t, w, "a/b")
	if err := w.Commit(mustPrepare(t, w)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	_, err := byName(dir, 0).Open(attempt(2, 0, 1))
	wants(t, err, files.ErrLeft, "a/b/part-00001-3-0.tsv")
	w = mustOpen(t, byName(dir, 0), attempt(4, 0, 1)) // a new job that was tried again
	feed(t, w, "c")
	_, err = w.Prepare(nil)
	wants(t, err, files.ErrLeft, "a/b/part-00001-3-0.tsv")
	mustClose(t, w, false)

	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil { // who has read it removes it
		t.Fatal(err)
	}
	w = mustOpen(t, byName(dir, 0), attempt(5, 0, 1))
	feed(t, w, "a/b")
	if err := w.Commit(mustPrepare(t, w)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	mustHoldTree(t, dir, "a/b/part-00000-5-0.tsv")
}

// A crash of the system may leave a file that was being moved to another folder with both
// of its names.
func TestAFileWithBothNamesIsCommitted(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, byName(dir, 0), attempt(1, 0, 1))
	feed(t, w, "a")
	b := mustPrepare(t, w)
	mustClose(t, w, false)
	pending, part := filepath.Join(dir, ".pending-1-0-0.tsv"), filepath.Join(dir, "a", "part-00000-1-0.tsv")
	if err := errors.Join(os.Mkdir(filepath.Dir(part), 0o700), os.Link(pending, part)); err != nil {
		t.Skip(err) // no file system with links
	}
	w = mustOpen(t, byName(dir, 0), attempt(2, 0, 1))
	if err := errors.Join(w.Commit(b), w.Recovered()); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	mustHoldTree(t, dir, "a/part-00000-1-0.tsv")
}

// What checkpoints had before there were partitions.
func TestOldDescriptionsAreCommitted(t *testing.T) {
	const old = "\x01\x00\x01\x00\x04\x8c\x86\xb1\xa6" // version, subtask, epoch, number, bytes, CRC-32C
	for name, now := range map[string]func(dir string) operators.Sink[string]{
		"one folder": func(dir string) operators.Sink[string] { return files.Transactional(dir, files.TSV[string]) },
		"partitions": func(dir string) operators.Sink[string] { return byName(dir, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := openTransactionTSV(t, dir, 1)
			feed(t, w, "row")
			if b := mustPrepare(t, w); string(b) != old {
				t.Errorf("prepared %q, want %q", b, old)
			}
			mustClose(t, w, false)
			w = mustOpen(t, now(dir), attempt(2, 0, 1))
			if err := errors.Join(w.Commit([]byte(old)), w.Recovered()); err != nil {
				t.Fatal(err)
			}
			mustClose(t, w, true)
			mustHoldTree(t, dir, "part-00000-1-0.tsv")
		})
	}
}

func TestDamagedDescriptionsOfPartitionsAreNoPanic(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "out")
	w := mustOpen(t, byName(dir, 0), attempt(1, 0, 1))
	feed(t, w, "aa/b", "c")
	b := mustPrepare(t, w)
	before := fmt.Sprint(slices.Sorted(maps.Keys(readFolder(t, outer))))
	for i := range b {
		wants(t, w.Commit(b[:i]), nil, "")
		wants(t, w.Abort([]byte(strings.Replace(string(b), "aa/b", "../b", 1))), nil, "damaged")
		for bit := range 8 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			other := mustOpen(t, byName(filepath.Join(outer, "none"), 0), attempt(2, 0, 1))
			wants(t, other.Commit(c), nil, "none")
			mustClose(t, other, false)
		}
	}
	if after := fmt.Sprint(slices.Sorted(maps.Keys(readFolder(t, outer)))); after != before {
		t.Errorf("%s, want %s", after, before)
	}
	mustClose(t, w, false)
}

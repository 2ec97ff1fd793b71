package files_test

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

type row struct {
	Name  string
	Count int64
	Rate  float64
	OK    bool
}

func write(t *testing.T, sink overtake.Sink[row], fail error) error {
	t.Helper()
	job := overtake.NewJob("write", overtake.Options{Parallelism: 1})
	in := overtake.From(job, memory.Slice(row{"tab\there", 1, 0.5, true}, row{`quote "and, comma`, -2, 3, false}))
	checked := overtake.TryMap(in, func(_ *overtake.Context, r row) (row, error) { return r, fail })
	overtake.To(checked, sink)
	return job.Run(context.Background())
}

func TestFormats(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		sink func(path string) overtake.Sink[row]
		want string
	}{
		{"tsv", files.TSV[row], "tab\\there\t1\t0.5\ttrue\nquote \"and, comma\t-2\t3\tfalse\n"},
		{"csv", files.CSV[row], "Name,Count,Rate,OK\ntab\there,1,0.5,true\n\"quote \"\"and, comma\",-2,3,false\n"},
		{"jsonl", files.JSONLines[row], `{"Name":"tab\there","Count":1,"Rate":0.5,"OK":true}` + "\n" + `{"Name":"quote \"and, comma","Count":-2,"Rate":3,"OK":false}` + "\n"},
		{"rows", func(path string) overtake.Sink[row] {
			return files.Rows(path, func(dst []byte, r row) []byte { return append(append(dst, "name: "...), r.Name...) })
		}, "name: tab\there\nname: quote \"and, comma\n"},
	} {
		path := filepath.Join(dir, c.name)
		if err := write(t, c.sink(path), nil); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	mustHold(t, dir, "csv", "jsonl", "rows", "tsv")
}

// mustHold checks that a folder has these files and no others.
func mustHold(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("files %q, want %q", got, want)
	}
}

// put writes records straight to a sink's only writer.
func put[T any](sink operators.Sink[T], ok bool, records ...T) error {
	w, err := sink.Open(&operators.Context{Parallelism: 1})
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return errors.Join(err, w.Close(false))
		}
	}
	return errors.Join(w.Flush(), w.Close(ok))
}

type (
	level  uint8
	origin struct {
		IP   netip.Addr
		Port uint16
	}
	stamped struct{ At time.Time }
	event   struct {
		stamped
		From   origin
		Level  level
		Raw    []byte
		Ratio  float32
		Took   time.Duration
		hidden int
	}
)

func TestColumnsAreTheFieldsOfNestedStructs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.csv")
	v := event{
		stamped: stamped{time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)},
		From:    origin{netip.MustParseAddr("::1"), 80},
		Level:   3, Raw: []byte("a,b"), Ratio: 0.1, Took: time.Second, hidden: 9,
	}
	if err := put(files.CSV[event](path), true, v); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	want := "At,From.IP,From.Port,Level,Raw,Ratio,Took\n2026-02-03T04:05:06Z,::1,80,3,\"a,b\",0.1,1000000000\n"
	if string(got) != want {
		t.Fatalf("%q, want %q", got, want)
	}
	for want, err := range map[string]error{
		"Value.M is a []string": put(files.TSV[overtake.Pair[string, struct{ M []string }]](path), true),
		"value is a chan int":   put(files.CSV[chan int](path), true),
		"has none":              put(files.TSV[struct{ hidden int }](path), true),
		"P is a *int":           put(files.TSV[struct{ P *int }](path), true),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and the path", err, want)
		}
	}
}

func TestAFileIsSeenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	w, err := files.TSV[string](path).Open(&operators.Context{Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(strings.Repeat("x", 1<<20)), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the file can be seen while it is written: %v", err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, "out")
	info, err := os.Stat(path)
	if err != nil || info.Size() != 1<<20+1 {
		t.Fatal(info, err)
	}
}

func TestWhatFailsLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if err := write(t, files.TSV[row](path), boom); !errors.Is(err, boom) {
		t.Fatalf("error %v, want %v", err, boom)
	}
	if err := put(files.JSONLines[float64](path), true, 1, math.NaN()); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v, want one that names the file", err)
	}
	if err := put(files.CSV[row](path), false, row{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("content %q, want the old one", got)
	}
	mustHold(t, dir, "out")
}

func TestPathsThatCannotBeWrittenFailAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "out"), ""} {
		err := put(files.TSV[int](path), true)
		if err == nil || !strings.Contains(err.Error(), "files: "+path+" cannot be written") {
			t.Errorf("%q: error %v", path, err)
		}
	}
	mustHold(t, dir)
}

func TestPartsHaveAFileForEachSubtask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	job := overtake.NewJob("parts", overtake.Options{Parallelism: 3})
	overtake.To(overtake.From(job, memory.Slice(0, 1, 2, 3, 4, 5)), files.Parts(dir, files.TSV[int]))
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, "part-00000", "part-00001", "part-00002")
	for i, want := range []string{"0\n3\n", "1\n4\n", "2\n5\n"} {
		if got, _ := os.ReadFile(filepath.Join(dir, "part-0000"+string(rune('0'+i)))); string(got) != want {
			t.Errorf("part %d is %q, want %q", i, got, want)
		}
	}
	if err := put(files.Parts(dir, files.TSV[int]), true); err == nil || !strings.Contains(err.Error(), "part-00001: it is left") {
		t.Errorf("error %v of a job with fewer subtasks", err)
	}
}

func TestRowsCostNoAllocation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	type wide struct {
		Key   string
		Value int64
		Raw   []byte
		Rate  float64
		OK    bool
		At    time.Time
	}
	v := wide{Key: "tab\t,\"", Value: -7, Raw: []byte("raw"), Rate: 1.25, At: time.Unix(1_700_000_000, 5)}
	for name, sink := range map[string]operators.Sink[wide]{
		"tsv": files.TSV[wide](path), "csv": files.CSV[wide](path), "transactional": files.Transactional(t.TempDir(), files.TSV[wide]),
		"partitioned": files.Partitioned(t.TempDir(), files.TSV[wide], files.Partitions[wide]{MaxOpen: 2, Folder: func(dst []byte, v wide, _ time.Time) []byte {
			return files.AppendColumn(dst, "odd", strconv.FormatBool(v.Value%2 > 0))
		}}),
		"rows": files.Rows(path, func(dst []byte, v wide) []byte { return append(dst, v.Key...) }),
	} {
		w, err := sink.Open(&operators.Context{Parallelism: 1})
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { v.Value++; err = errors.Join(err, w.Write(v)) }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
	}
}

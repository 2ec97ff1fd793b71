package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/memory"
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
}

func TestAFailedJobLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.tsv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if err := write(t, files.TSV[row](path), boom); !errors.Is(err, boom) {
		t.Fatalf("error %v, want %v", err, boom)
	}
	got, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	if string(got) != "old" || len(entries) != 1 {
		t.Fatalf("content %q, %d files, want the old one alone", got, len(entries))
	}
}

func TestAColumnThatIsNoneIsRefused(t *testing.T) {
	job := overtake.NewJob("bad", overtake.Options{})
	overtake.To(overtake.From(job, memory.Slice(struct{ M []string }{})), files.TSV[struct{ M []string }](filepath.Join(t.TempDir(), "x")))
	if err := job.Run(context.Background()); err == nil {
		t.Fatal("no error")
	}
}

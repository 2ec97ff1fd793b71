package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/state"
)

// TestMain lets the test binary be what the command starts copies of.
func TestMain(m *testing.M) {
	switch {
	case bench.Child(), state.Child():
	case overtake.IsCopy(), os.Getenv(envCommand) != "":
		os.Exit(run(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// overtakes runs a command line and returns its exit code, standard output and
// standard error.
func overtakes(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	realArgs, realOut, realErr := os.Args, os.Stdout, os.Stderr
	defer func() { os.Args, os.Stdout, os.Stderr = realArgs, realOut, realErr }()
	capture := func(file **os.File) func() string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		*file = w
		text := make(chan string)
		go func() {
			b, _ := io.ReadAll(r)
			text <- string(b)
		}()
		return func() string {
			w.Close()
			return <-text
		}
	}
	out, errs := capture(&os.Stdout), capture(&os.Stderr)
	os.Args = append([]string{realArgs[0]}, args...)
	code = run(args)
	return code, out(), errs()
}

func TestWordcountEqualsAPlainCount(t *testing.T) {
	dir := t.TempDir()
	counts := map[string]int{}
	word := regexp.MustCompile(`[A-Za-z0-9_]+`)
	for i := range 30 {
		var text bytes.Buffer
		for n := range 400 * (i % 3) {
			fmt.Fprintf(&text, "line %d: häuser_%d x--y;%s\r\n", n, n%37, strings.Repeat("z", n%90))
		}
		text.WriteString("last line without end")
		for _, w := range word.FindAllString(text.String(), -1) {
			counts[w]++
		}
		name := filepath.Join(dir, fmt.Sprint("d", i%4), fmt.Sprint(i, ".txt"))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for w, n := range counts {
		want = append(want, fmt.Sprint(w, "\t", n))
	}
	slices.Sort(want)
	for _, flags := range [][]string{{"-p", "1"}, {"-p", "3"}, {"-p", "2", "--processes", "2"}, {"-p", "7", "--processes", "3"}} {
		output := filepath.Join(t.TempDir(), "counts.tsv")
		code, _, stderr := overtakes(t, append([]string{"run", "wordcount", "--input", dir, "--glob", "**/*.txt", "--output", output}, flags...)...)
		if code != 0 {
			t.Fatalf("%v: exit code %d\n%s", flags, code, stderr)
		}
		b, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v: %s", flags, diff)
		}
		if !strings.Contains(stderr, "done in") {
			t.Errorf("%v: no summary on standard error:\n%s", flags, stderr)
		}
	}
}

func TestTotalsGoToStandardOutput(t *testing.T) {
	code, stdout, stderr := overtakes(t, "run", "totals", "--keys", "3", "--count", "300", "-p", "2", "-q")
	if code != 0 || strings.Count(stdout, "\n") != 3 || stderr != "" {
		t.Fatalf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
}

func TestWrongCommandLinesSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"run wordcount --input x", 2, "--output"},
		{"run nonsense", 2, "nonsense"},
		{"run throughput --buffer-size 32", 2, "write a number and B, KiB"},
		{"run throughput --buffer-size 30KiB", 1, "power of two"},
		{"run throughput --memory 1MiB -p 64", 1, "raise the network memory"},
		{"run throughput --cluster a:1,b:2 --index 5", 1, "Cluster.Index 5"},
		{"run throughput --cluster a:1,b:2 --processes 2", 1, "exclude each other"},
		{"run wordcount --input /nowhere --output /tmp/x", 1, "/nowhere"},
		{"run totals --keys 0", 2, "at least one key"},
		{"run totals --from latest --savepoint-on-stop x", 2, "needs --checkpoint-dir"},
		{"run totals --checkpoint-mode none", 2, "at-least-once"},
		{"run totals --checkpoint-dir /dev/null/x --count 1", 1, "/dev/null"},
		{"bench exchange --filter nothing-like-this", 1, "no case"},
		{"bench compare /nowhere /nowhere", 1, "/nowhere"},
	} {
		code, _, stderr := overtakes(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
}

func TestBenchPrintsOneDocument(t *testing.T) {
	for _, args := range [][]string{
		{"exchange", "--filter", "local/map-hop"},
		{"state", "--sizes", "2000", "--records", "2000", "--folder", t.TempDir(), "--filter", "8+8/2k/get"},
	} {
		code, stdout, stderr := overtakes(t, append([]string{"bench", "--quiet", args[0], "--quick", "--json"}, args[1:]...)...)
		var d bench.Document
		if err := json.Unmarshal([]byte(stdout), &d); code != 0 || err != nil {
			t.Fatalf("%s: exit code %d, %v\n%s%s", args[0], code, err, stdout, stderr)
		}
		if d.Suite != args[0] || len(d.Cases) != 1 || len(d.Cases[0].Ours.Runs) != 3 || d.Environment.Cores == 0 || d.Environment.Kernel == "" {
			t.Fatalf("%+v", d)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if code, stdout, _ := overtakes(t, "version"); code != 0 || !strings.HasPrefix(stdout, "overtake ") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, stdout, _ := overtakes(t, "completion", shell); code != 0 || !strings.Contains(stdout, "wordcount") {
			t.Errorf("%s: exit code %d, %q", shell, code, stdout)
		}
	}
}

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	kills     = flag.Int("kills", 20, "how often TestKill kills a job")
	killSeed  = flag.Uint64("seed", 0, "of TestKill; 0: another one each time")
	killTrial = flag.Int("trial", -1, "the only trial of TestKill to run; -1: all")
)

// killsPerTrial is how often a job is killed before it is left alone.
const killsPerTrial = 5

// TestKill kills jobs, or one of their processes, with SIGKILL at random moments, starts
// them again with another parallelism, mode and number of processes, and compares what
// they have committed with the output of a run that nobody has disturbed. One trial in
// five is at-least-once: there it looks for what is missing only.
func TestKill(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	program := buildProgram(t)
	jobs := []*killedJob{
		{name: "wordcount", output: "counts.tsv", args: []string{"wordcount", "--input", filepath.Join(goRoot(t), "src", "encoding"), "--slow-read", "3ms", "--slow-sink", "10us"}},
		{name: "totals", output: "parts/", args: []string{"totals", "--every", "--count", "150000", "--keys", "300", "--slow-sink", "5us"}},
	}
	for _, j := range jobs {
		j.want = j.undisturbed(t, program)
	}
	for i := range (*kills + killsPerTrial - 1) / killsPerTrial {
		if *killTrial >= 0 && i != *killTrial {
			continue
		}
		k := &killer{
			t: t, program: program, job: jobs[i%len(jobs)], r: rand.New(rand.NewPCG(seed, uint64(i))),
			left: min(killsPerTrial, *kills-i*killsPerTrial), dir: t.TempDir(), started: time.Now(),
			modes: []string{"aligned", "unaligned", "auto"},
		}
		if i%5 == 2 {
			k.modes = []string{"at-least-once"}
		}
		k.note("go test -run Kill -kills %d -seed %d -trial %d: %s", *kills, seed, i, k.job.name)
		k.run()
		if t.Failed() {
			t.Fatalf("the plan:\n%s", strings.Join(k.plan, "\n"))
		}
		if err := os.RemoveAll(k.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// buildProgram builds the command.
func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "overtake")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func goRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no Go source tree to count words of:", runtime.Version(), err)
	}
	return strings.TrimSpace(string(out))
}

// killedJob is a job whose output is the same in each run, but for its order.
type killedJob struct {
	name, output string
	args         []string
	want         []string
}

// undisturbed is the output of a run without checkpoints.
func (j *killedJob) undisturbed(t *testing.T, program string) []string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"run", "--quiet"}, j.args...)
	args = append(args, "--output", filepath.Join(dir, "out", j.output), "-p", "3")
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(j.output, "/") {
		args[len(args)-3] += "/" // Join has removed it
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, _ := committed(t, filepath.Join(dir, "out"))
	if len(lines) == 0 {
		t.Fatal("no output")
	}
	return lines
}

// difference says what is missing and what is too much, shortly.
func lineDifference(want, got []string) string {
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		count[l]--
	}
	var missing, extra []string
	for l, n := range count {
		switch {
		case n > 0:
			missing = append(missing, fmt.Sprintf("%q x%d", l, n))
		case n < 0:
			extra = append(extra, fmt.Sprintf("%q x%d", l, -n))
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return fmt.Sprintf("%d lines, want %d; %d missing: %v; %d too much: %v", len(got), len(want),
		len(missing), missing[:min(5, len(missing))], len(extra), extra[:min(5, len(extra))])
}

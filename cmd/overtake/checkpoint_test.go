package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envCommand, if set, makes the test binary be the command.
const envCommand = "OVERTAKE_TEST_COMMAND"

// job is a command that runs in a process of its own.
type job struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan error
}

func startJob(t *testing.T, args ...string) *job {
	t.Helper()
	j := &job{t: t, cmd: exec.Command(os.Args[0], args...), ended: make(chan error, 1)}
	j.cmd.Env = append(os.Environ(), envCommand+"=1")
	j.cmd.Stdout, j.cmd.Stderr = &j.stderr, &j.stderr
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { j.ended <- j.cmd.Wait() }()
	t.Cleanup(func() { _ = j.cmd.Process.Kill() })
	return j
}

// ask waits until the job listens, and asks it.
func (j *job) ask(socket, line string) string {
	j.t.Helper()
	for range 1000 {
		answer, err := request(socket, line)
		if err == nil {
			return answer
		}
		select {
		case err := <-j.ended:
			j.t.Fatalf("it has ended: %v\n%s", err, j.stderr.String())
		case <-time.After(10 * time.Millisecond): // another process: there is nothing to wait for
		}
		if !strings.Contains(err.Error(), "no job listens") {
			j.t.Fatalf("%s: %v", line, err)
		}
	}
	j.t.Fatal("it does not listen")
	return ""
}

// wait waits for a good end and returns what it has said.
func (j *job) wait() string {
	j.t.Helper()
	select {
	case err := <-j.ended:
		if err != nil {
			j.t.Fatalf("%v\n%s", err, j.stderr.String())
		}
	case <-time.After(time.Minute):
		j.t.Fatal("it does not end")
	}
	return j.stderr.String()
}

// must runs a command that succeeds and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := overtakes(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
	}
	return stdout
}

// refused runs a command that fails and says why.
func refused(t *testing.T, want string, args ...string) {
	t.Helper()
	if code, _, stderr := overtakes(t, args...); code != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%v: exit code %d, want 1 with %q:\n%s", args, code, want, stderr)
	}
}

func totals(dir, store string, more ...string) []string {
	return append([]string{
		"run", "totals", "--every", "--count", "40000", "--keys", "50", "--output", filepath.Join(dir, "out") + "/",
		"--checkpoint-dir", filepath.Join(dir, store), "--checkpoint-interval", "20ms", "--buffer-size", "1KiB", "--retain", "3",
	}, more...)
}

func TestATerminatedJobGoesOn(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	j := startJob(t, totals(dir, "store", "-p", "2", "--slow-sink", "200us", "--checkpoint-mode", "unaligned")...)
	for range 2 {
		j.ask(filepath.Join(store, "control"), "checkpoint")
	}
	if info, err := os.Stat(filepath.Join(store, "control")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	refused(t, "in use by another process", "checkpoint", "dispose", store, "1")
	if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said := j.wait()
	for _, want := range []string{"checkpoint 1: ", " checkpoints, ", "the next start goes on"} {
		if !strings.Contains(said, want) {
			t.Errorf("it did not say %q:\n%s", want, said)
		}
	}
	said = startJob(t, totals(dir, "store", "-p", "3", "--checkpoint-mode", "aligned")...).wait()
	if !strings.Contains(said, "going on from a checkpoint") {
		t.Errorf("it has begun anew:\n%s", said)
	}
	if got, left := committed(t, filepath.Join(dir, "out")); len(got) != 40000 || len(left) > 0 {
		t.Errorf("%d lines, want 40000, and these are left: %v", len(got), left)
	}
	said = startJob(t, totals(dir, "store")...).wait()
	if !strings.Contains(said, "finished already with checkpoint") {
		t.Errorf("it was finished:\n%s", said)
	}
}

func TestSavepointsOfARunningJob(t *testing.T) {
	dir := t.TempDir()
	store, extra, last := filepath.Join(dir, "a"), filepath.Join(dir, "extra"), filepath.Join(dir, "last one")
	socket := "unix:" + filepath.Join(dir, "s")
	j := startJob(t, totals(dir, "a", "-p", "2", "--slow-sink", "200us", "--control", socket)...)
	var stats struct{ Operators []struct{ Name string } }
	if err := json.Unmarshal([]byte(j.ask(filepath.Join(dir, "s"), "stats")), &stats); err != nil || len(stats.Operators) == 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	must(t, "savepoint", store, extra, "--control", socket)
	refused(t, "is there and is not empty", "savepoint", store, extra, "--control", socket)
	refused(t, "no job listens", "savepoint", store, extra)
	must(t, "savepoint", store, last, "--control", socket, "--stop")
	j.wait()
	for _, s := range []string{extra, last} {
		if out := must(t, "checkpoint", "verify", s); !strings.Contains(out, "whole") {
			t.Errorf("%s: %s", s, out)
		}
	}
	startJob(t, totals(dir, "b", "-p", "1", "--from", last)...).wait()
	if got, left := committed(t, filepath.Join(dir, "out")); len(got) != 40000 || len(left) > 0 {
		t.Errorf("%d lines, want 40000, and these are left: %v", len(got), left)
	}
}

func TestLookingAtCheckpoints(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	startJob(t, totals(dir, "store", "-p", "2", "--slow-sink", "10us", "--checkpoint-mode", "unaligned")...).wait()
	var all []listed
	if err := json.Unmarshal([]byte(must(t, "checkpoint", "list", store, "--json")), &all); err != nil || len(all) < 2 || !all[0].End {
		t.Fatalf("%v, %+v", err, all)
	}
	a, b := fmt.Sprint(all[0].ID), fmt.Sprint(all[1].ID)
	if out := must(t, "checkpoint", "list", store); !strings.Contains(out, "end of the job") || strings.Count(out, "\n") != len(all)+1 {
		t.Error(out)
	}
	var x inspected
	if err := json.Unmarshal([]byte(must(t, "checkpoint", "inspect", store, b, "--json")), &x); err != nil || len(x.Operators) != 4 {
		t.Errorf("%v, %+v", err, x)
	}
	for _, want := range []string{`of job "totals"`, "operator total (total), parallelism 2", "groups 64-127", "splits"} {
		if out := must(t, "checkpoint", "inspect", store, b); !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if out := must(t, "checkpoint", "diff", store, a, b); strings.Count(out, "\n") != 5 {
		t.Error(out)
	}
	refused(t, "from which the job would go on", "checkpoint", "dispose", store, a)
	must(t, "checkpoint", "dispose", store, b)
	refused(t, "has no checkpoint "+b, "checkpoint", "dispose", store, b)
	refused(t, "has no checkpoint "+b, "checkpoint", "verify", store, b)
	refused(t, "is not the ID", "checkpoint", "inspect", store, "x")
	refused(t, "neither checkpoints nor a savepoint", "checkpoint", "list", dir)
	refused(t, "no such file", "checkpoint", "list", filepath.Join(dir, "nowhere"))
	damage(t, filepath.Join(store, "manifests", "c"+a+".manifest"))
	refused(t, "damaged", "checkpoint", "verify", store)
	refused(t, "damaged", "checkpoint", "inspect", store, a)
	if out := must(t, "checkpoint", "list", store); !strings.Contains(out, "damaged") {
		t.Error(out)
	}
}

// damage changes a byte in the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

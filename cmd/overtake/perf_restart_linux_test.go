package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/overtake-stream/overtake/perf"
	perfview "github.com/overtake-stream/overtake/perf/view"
)

// While one looks, a worker is killed, and the job goes on with another process and new
// connections. All of these are followed, and it is said what ended and what came.
func TestPerfWhileTheJobRestarts(t *testing.T) {
	needProbePoints(t)
	addr := watchedJob(t, os.Args[0], nil, "--processes", "3", "-p", "3", "--checkpoint-dir", t.TempDir(),
		"--checkpoint-interval", "100ms", "--restart-delay", "50ms")
	job, err := perfview.OpenJob(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	killed := job.Workers()[2].PID
	looking := exec.Command(os.Args[0], "perf", "latency", "--addr", addr, "-d", "6s")
	looking.Env = append(os.Environ(), envCommand+"=1")
	var out strings.Builder
	looking.Stdout = &out
	stderr, err := looking.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := looking.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 1<<10)
	n, _ := stderr.Read(said) // "attached to …", or an error, which Wait tells
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := looking.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, said[:n], out.String())
	}
	if job, err = perfview.OpenJob(t.Context(), addr); err != nil {
		t.Fatal(err)
	}
	came := job.Workers()[2].PID
	wants := []string{
		fmt.Sprintf("process %d: run queue n/a: the process has ended", killed),
		fmt.Sprintf("process %d has ended meanwhile", killed),
		"the job was restarted ",
	}
	if !strings.Contains(out.String(), "tier C") {
		wants = append(wants, "0 edges out of order",
			fmt.Sprintf("process %d has come in its place", came),
			fmt.Sprintf("process %d: ran ", came),
			fmt.Sprintf("\nprocess %d (", came)) // the table of what it sends
	}
	for _, want := range wants {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not said: %s\n%s", want, out.String())
		}
	}
}

// A process that has taken another one's place counts anew.
func TestRestartsBetweenSnapshots(t *testing.T) {
	s := func(pid, restarts int) perf.JobSnapshot { return perf.JobSnapshot{PID: pid, Restarts: restarts} }
	for want, c := range map[int][2][]perf.JobSnapshot{
		0: {{s(1, 2), s(2, 2)}, {s(1, 2), s(2, 2)}},
		1: {{s(1, 2), s(2, 2)}, {s(3, 0), s(2, 3)}},
		3: {{s(1, 2), s(2, 2)}, {s(1, 5), s(4, 1)}},
	} {
		if got := restarts(c[0], c[1]); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

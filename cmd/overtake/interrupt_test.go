package main

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A sink that sleeps for an hour hears of no cancellation. Whoever goes on interrupting
// wants the program to end.
func TestInterruptsEndAJobThatDoesNotLookUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	cmd := exec.Command(os.Args[0], "run", "throughput", "--count", "1000", "--slow-sink", "1h", "--listen", "0")
	cmd.Env = append(os.Environ(), envCommand+"=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), "watch this job") { // from then on it takes signals
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	late := time.After(20 * time.Second)
	for again := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("it ended well")
			}
			return
		case <-late:
			t.Fatal("it goes on")
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		}
	}
}

package ckpt

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/checkpoint"
)

// envTask has the task of a copy of this program.
const envTask = "OVERTAKE_BENCH_CHECKPOINT"

// Roles of a copy.
const (
	roleWorker = "worker" // the second worker of a job under backpressure
	roleCount  = "count"  // a counting job that is going to be killed
)

// task is what a copy does.
type task struct {
	Role     string
	Dir      string
	Pressure pressure
	Counting counting
	Fill     bool // the state is to be made, not restored
	Links    int  // increments that follow the first checkpoint
}

// Child does the task that the environment asks for, if there is one, and reports
// whether there was. Programs that run suites call it first in main, and exit if it
// returns true.
func Child() bool {
	text := os.Getenv(envTask)
	if text == "" {
		return false
	}
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = t.do(context.Background())
	}
	if err != nil {
		say("error", err.Error())
	}
	return true
}

func (t task) do(ctx context.Context) error {
	switch t.Role {
	case roleWorker:
		blobs, err := checkpoint.OpenBlobs(t.Dir, checkpoint.Options{NoSync: t.Pressure.Store == unsynced})
		if err != nil {
			return err
		}
		never := checkpoint.NewMemory() // only the first worker's store is used
		return t.Pressure.job(t.Pressure.options(1, never, t.Pressure.More.Blobs(blobs))).Run(ctx)
	case roleCount:
		return t.count(ctx)
	}
	return fmt.Errorf("ckpt: no role %q", t.Role)
}

// mark begins a line that a copy says.
const mark = "overtake bench checkpoint: "

// say prints a word and what belongs to it, for copied.hear.
func say(word string, text any) { fmt.Fprintf(os.Stdout, "\n%s%s %v\n", mark, word, text) }

// copied is a copy of this program that is at work. A nil one is none.
type copied struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startCopy(ctx context.Context, t task) (*copied, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envTask+"="+string(text))
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, bench.Offspring()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &copied{cmd, bufio.NewScanner(out)}, cmd.Start()
}

// hear waits until the copy says a word.
func (c *copied) hear(word string) (string, error) {
	for c.lines.Scan() {
		said, ok := strings.CutPrefix(c.lines.Text(), mark)
		if !ok {
			continue
		}
		first, rest, _ := strings.Cut(said, " ")
		switch first {
		case word:
			return rest, nil
		case "error":
			return "", errors.New(rest)
		}
	}
	return "", errors.Join(c.lines.Err(), fmt.Errorf("ckpt: the copy ended before it said %q: %w", word, io.ErrUnexpectedEOF))
}

// kill kills the copy, and waits for its end.
func (c *copied) kill() {
	if c == nil || c.cmd.Process == nil {
		return
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

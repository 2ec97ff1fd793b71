package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

// envChild has the task of a copy of this program that a measurement started.
const envChild = "OVERTAKE_BENCH_CHILD"

// task is what a measurement's second process does.
type task struct {
	Role  string // "raw", "raw-echo", "sink", "echo"
	Addrs []string
	Wire  wire
}

// report is what it says when it is done.
type report struct {
	CPU   float64 // seconds
	Bytes int64   // payload received
	Err   string

	Busiest int64 // bytes of the channel that had most
	Stalls  int64 // times that a reader stood still
}

// Child does the task that the environment asks for, if there is one, and reports
// whether there was. Programs that run suites call it first in main, and exit if it
// returns true.
func Child() bool {
	text := os.Getenv(envChild)
	if text == "" {
		return false
	}
	var t task
	err := json.Unmarshal([]byte(text), &t)
	var r report
	if err == nil {
		r, err = t.do(context.Background())
	}
	if err != nil {
		r.Err = err.Error()
	}
	b, _ := json.Marshal(r)
	fmt.Fprintf(os.Stdout, "\n%s%s\n", reportMark, b)
	return true
}

const reportMark = "overtake bench child: "

func (t task) do(ctx context.Context) (report, error) {
	t.Wire.takeProcessors()
	switch t.Role {
	case "raw":
		if t.Wire.Transport == overTLS {
			return t.Wire.connReceive(t.Addrs[1], t.Wire.Bytes, int64(t.Wire.Record))
		}
		return rawReceive(t.Addrs[1], t.Wire.Bytes, int64(t.Wire.Record))
	case "raw-echo":
		return t.Wire.rawEcho(t.Addrs[1])
	case "sink":
		return t.Wire.receive(ctx, t.Addrs)
	case "echo":
		return t.Wire.echo(ctx, t.Addrs)
	}
	return report{}, fmt.Errorf("bench: no role %q", t.Role)
}

// with starts a copy of this program with a task, runs the other side here, and
// returns what the copy reports.
func (t task) with(ctx context.Context, here func(addrs []string) error) (r report, err error) {
	addrs, cleanup, err := t.Wire.addresses(2)
	if err != nil {
		return r, err
	}
	defer cleanup()
	t.Addrs = addrs
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // kills the copy when this side fails
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envChild+"="+string(text))
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, Offspring()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	if err := here(t.Addrs); err != nil {
		cancel()
		return r, errors.Join(err, cmd.Wait())
	}
	err = json.Unmarshal([]byte(lastReport(bufio.NewScanner(out))), &r)
	if err == nil && r.Err != "" {
		err = errors.New(r.Err)
	}
	return r, errors.Join(err, cmd.Wait())
}

func lastReport(lines *bufio.Scanner) (text string) {
	for lines.Scan() {
		if s, ok := strings.CutPrefix(lines.Text(), reportMark); ok {
			text = s
		}
	}
	return text
}

// FreeAddresses returns loopback addresses that nobody listens on at the moment.
func FreeAddresses(n int) (addrs []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
	"github.com/overtake-stream/overtake/perf/top"
)

func TestListenAddresses(t *testing.T) {
	for _, c := range []struct {
		listen            string
		worker, processes int
		want, err         string
	}{
		{"", 0, 1, "", ""},
		{"7070", 0, 1, "127.0.0.1:7070", ""},
		{"0", 0, 1, "127.0.0.1:0", ""},
		{":7070", 0, 1, ":7070", ""},
		{"0.0.0.0:7070", 2, 3, "0.0.0.0:7072", ""},
		{"[::1]:7070", 1, 2, "[::1]:7071", ""},
		{"127.0.0.1", 0, 1, "", "HOST:PORT"},
		{"localhost:http", 0, 1, "", "HOST:PORT"},
		{"65536", 0, 1, "", "HOST:PORT"},
		{"0", 0, 2, "", "a port of its own"},
		{"65535", 0, 2, "", "from 1 to 65534"},
		{"65534", 1, 2, "127.0.0.1:65535", ""},
	} {
		got, err := listenFlags{Listen: c.listen}.at(c.worker, c.processes)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q of worker %d of %d: %q, %v", c.listen, c.worker, c.processes, got, err)
		}
	}
}

// A job that cannot be watched as asked does not start: it leaves nothing behind.
func TestAJobDoesNotStartWithoutItsEndpoint(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct{ listen, processes, want string }{
		{taken.Addr().String(), "1", "another program listens there"},
		{taken.Addr().String(), "2", "another program listens there"},
		{"no-such-host.invalid:7070", "1", `"no-such-host.invalid" is no name of this machine`},
		{"192.0.2.1:7070", "1", "no network interface of this machine has that address"},
		{"nonsense", "1", `"nonsense" is no port: write HOST:PORT`},
		{"localhost:http", "1", `"http" is no port`},
		{"70700", "1", "a number from 0 (any that is free) to 65535"},
		{"0", "2", "a port of its own"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := overtakes(t, "run", "totals", "--keys", "3", "--count", "300", "--listen", c.listen, "--processes", c.processes, "--checkpoint-dir", dir)
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("--listen %s: exit code %d, output %q:\n%s", c.listen, code, stdout, stderr)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("--listen %s: %d files in the checkpoint folder, %v", c.listen, len(names), err)
		}
	}
}

// Root may use any port, so the kernel's answer to others is made here.
func TestAPortThatIsForbidden(t *testing.T) {
	err := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	if got := listenAdvice(err); !strings.Contains(got, "from 1024 on") {
		t.Error(got)
	}
	if got := listenAdvice(syscall.EMFILE); strings.Contains(got, "listens") || got == "" {
		t.Error(got)
	}
}

// A client that does not read is left, but a profile may take longer than an answer may.
func TestTheEndpointsTimeouts(t *testing.T) {
	s := newServer(serve.Handler(serve.Options{Snapshot: func() perf.JobSnapshot { return perf.JobSnapshot{} }, Profiles: true}))
	if s.ReadHeaderTimeout <= 0 || s.WriteTimeout < 5*time.Second || s.IdleTimeout <= 0 || s.ReadTimeout != 0 {
		t.Errorf("%+v", s)
	}
	s.WriteTimeout = 300 * time.Millisecond
	served := make(chan error, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { served <- s.Serve(l) }()
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		_ = s.Close()
		<-served
	}()
	resp, err := http.Get("http://" + l.Addr().String() + "/debug/pprof/trace?seconds=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(b) < 100 {
		t.Errorf("a trace of a second: %s, %d bytes, %v", resp.Status, len(b), err)
	}
	slow, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	for err == nil { // without reading: the answers fill what the kernel buffers, and then the server must give up
		_ = slow.SetWriteDeadline(time.Now().Add(30 * time.Second))
		_, err = io.WriteString(slow, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 100))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server waits for a client that does not read")
	}
}

func TestAnEndpointLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	code, stdout, stderr := overtakes(t, "run", "totals", "--keys", "3", "--count", "300", "-p", "2", "-q", "--listen", "0")
	if code != 0 || strings.Count(stdout, "\n") != 3 || !strings.Contains(stderr, "url=http://127.0.0.1:") {
		t.Errorf("exit code %d, output %q:\n%s", code, stdout, stderr)
	}
}

// watchable starts a copy of this program as a job, and returns the address of its endpoint.
func watchable(t *testing.T, args ...string) (addr string, wait func() error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"run"}, args...)...)
	cmd.Env = append(os.Environ(), envCommand+"=1")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	wait = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = wait()
	})
	said := ""
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if m := regexp.MustCompile(`url=http://([^/]+)/`).FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // it ends with the process
			return m[1], wait
		}
	}
	_ = wait()
	t.Fatalf("the job tells no address:\n%s", said)
	return "", nil
}

// pair is a port that is free, as is the one above it, as far as can be known.
func pair(t *testing.T) string {
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		l.Close()
		if err == nil {
			second.Close()
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no two ports in a row")
	return ""
}

func TestTopShowsARunningJob(t *testing.T) {
	if !perf.Enabled {
		t.Skip("built with the tag noperf: no account is kept")
	}
	for processes, listen := range map[string]string{"1": "0", "2": pair(t)} {
		addr, _ := watchable(t, "backpressure", "-q", "-p", "2", "--count", "0", "--listen", listen, "--processes", processes)
		code, stdout, stderr := overtakes(t, "top", "--addr", addr, "--once", "--interval", "300ms")
		for _, want := range []string{"overtake top: backpressure, " + processes + " worker", `Backpressure begins at "slow"`, "generate → map", "No complete checkpoint"} {
			if code != 0 || !strings.Contains(stdout, want) {
				t.Errorf("%s processes: exit code %d, no %q in\n%s%s", processes, code, want, stdout, stderr)
			}
		}
		code, stdout, stderr = overtakes(t, "top", "--addr", addr, "--json", "--interval", "300ms")
		var f top.Figures
		if err := json.Unmarshal([]byte(stdout), &f); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
		}
		slow := f.Operators[len(f.Operators)-1]
		if f.Whole || f.Seconds < 0.3 || f.RootCause.Operator != "slow" || slow.Busy < 0.5 || slow.Running != 2 || f.Process.Network != (processes == "2") {
			t.Errorf("%s processes: %+v", processes, f)
		}
	}
}

func TestTopSaysWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"top --once --addr 127.0.0.1:1":          "connection refused",
		"top --json --addr 127.0.0.1:1":          "no job answers",
		"top --json --addr 1":                    "127.0.0.1:1: connection refused",
		"top --json --addr http://127.0.0.1:1/":  "127.0.0.1:1: connection refused",
		"top --json --addr nonsense":             "nonsense: ",
		"top --once --json":                      "can't be used together",
		"top --interval 1ns":                     "10ms or more",
		"top --addr 127.0.0.1:1":                 "not a terminal",
		"top --once --addr 127.0.0.1:1 -i 1s /x": "unexpected argument",
	} {
		if code, stdout, stderr := overtakes(t, strings.Fields(args)...); code == 0 || stdout != "" && code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, no %q in:\n%s%s", args, code, want, stdout, stderr)
		}
	}
}

// Whoever watches learns that the job has ended: the endpoint does not just go away.
func TestAWatcherLearnsOfTheEnd(t *testing.T) {
	addr, wait := watchable(t, "backpressure", "-q", "-p", "2", "--count", "600", "--listen", "0")
	defer http.DefaultClient.CloseIdleConnections()
	for {
		resp, err := http.Get("http://" + addr + "/snapshot")
		if err != nil {
			t.Fatalf("the endpoint went away without a word: %v", err)
		}
		var s perf.JobSnapshot
		err = json.NewDecoder(resp.Body).Decode(&s)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if s.Ended {
			break
		}
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
}

package main

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

func needProbePoints(t *testing.T) {
	t.Helper()
	if !perf.Enabled {
		t.Skip("SKIPPED: this build has no probe points (noperf)")
	}
}

// watchedJob starts a job of two processes that goes on until the test ends, and returns
// the address of its first worker. user may be nil. More flags override those it has.
func watchedJob(t *testing.T, program string, user *syscall.SysProcAttr, flags ...string) (addr string) {
	t.Helper()
	for range 5 {
		addr = net.JoinHostPort("127.0.0.1", pair(t))
		cmd := exec.Command(program, "run", "throughput", "--processes", "2", "-p", "2", "--count", "0", "--rate", "20000", "--listen", addr, "-q")
		cmd.Args = append(cmd.Args, flags...)
		cmd.Env, cmd.Dir, cmd.SysProcAttr = append(os.Environ(), envCommand+"=1"), "/", user
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if moving(addr, ended) {
			t.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt)
				if err := <-ended; err != nil {
					t.Errorf("the job: %v\n%s", err, errs.String())
				}
			})
			return addr
		}
		_ = cmd.Process.Kill()
		t.Logf("the job does not move, perhaps as others have taken its port: %s", errs.String())
	}
	t.Fatal("the job does not start")
	return ""
}

// moving waits until data has gone from one worker to the other.
func moving(addr string, ended chan error) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-tick.C:
		}
		resp, err := http.Get("http://" + addr + "/snapshot")
		if err != nil {
			continue
		}
		var s perf.JobSnapshot
		err = json.NewDecoder(resp.Body).Decode(&s)
		resp.Body.Close()
		if err == nil && s.Network != nil && s.Network.FramesIn > 10 {
			return true
		}
	}
	return false
}

// refusal is what commands say of what the kernel refuses.
type refusalText struct{ Part, Reason, Loses, Remedy string }

func TestPerfOfARunningJob(t *testing.T) {
	needProbePoints(t)
	addr := watchedJob(t, os.Args[0], nil)
	t.Run("latency", func(t *testing.T) { perfLatency(t, addr) })
	t.Run("conns", func(t *testing.T) { perfConns(t, addr) })
	t.Run("runq", func(t *testing.T) { perfRunQ(t, addr) })
	t.Run("offcpu", func(t *testing.T) { perfOffCPU(t, addr) })
	t.Run("nobody", func(t *testing.T) { perfAsNobody(t, addr) })
}

// perfJSON runs a command and parses its output.
func perfJSON(t *testing.T, v any, args ...string) {
	t.Helper()
	code, stdout, stderr := overtakes(t, append([]string{"perf", "-q"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), v); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
}

type latencyJSON struct {
	Tier     string
	Matched  uint64
	Kernel   uint64 `json:"with_kernel"`
	Refusals []refusalText
	Blame    string
	Edges    []struct {
		Total  struct{ Count uint64 }
		Stages []struct {
			Stage string
			Share float64
		}
		Missing []string
	}
	Connections []any
	RunQueues   []any `json:"run_queues"`
	Job         []struct {
		From, To   string
		Buffers    uint64
		FlushDelay struct{ Count uint64 } `json:"flush_delay"`
	}
}

func perfLatency(t *testing.T, addr string) {
	svg, page := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "a.html")
	var r latencyJSON
	perfJSON(t, &r, "latency", "--addr", addr, "-d", "1500ms", "--json", "--svg", svg, "--html", page)
	if len(r.Connections) == 0 || len(r.RunQueues) != 2 || r.Blame == "" {
		t.Errorf("%+v", r)
	}
	if len(r.Job) != 2 || r.Job[0].Buffers == 0 || r.Job[0].FlushDelay.Count == 0 {
		t.Errorf("the job's account: %+v", r.Job)
	}
	picture := wellFormed(t, svg)
	if !strings.Contains(picture, "worker 1, process") {
		t.Error("no credits in the picture")
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "flush delay") {
		t.Errorf("the page: %v\n%s", err, b)
	}
	if r.Tier == "C" {
		t.Skipf("SKIPPED: the kernel refuses: %+v", r.Refusals)
	}
	if r.Matched == 0 || len(r.Edges) != 2 {
		t.Fatalf("%d messages, edges %+v", r.Matched, r.Edges)
	}
	for _, e := range r.Edges {
		sum := 0.0
		for _, s := range e.Stages {
			sum += s.Share
		}
		if sum < 0.999 || sum > 1.001 || e.Total.Count == 0 {
			t.Errorf("shares add up to %v: %+v", sum, e)
		}
	}
	if !strings.Contains(picture, "<title>process:") {
		t.Error("no stages in the picture")
	}
}

// wellFormed reads a picture as XML.
func wellFormed(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(b))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return string(b)
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
	}
}

func perfRunQ(t *testing.T, addr string) {
	var list []struct {
		PID      int
		Waits    *struct{ Buckets []uint64 }
		P50      *int64 `json:"p50_ns"`
		Refusals []refusalText
	}
	perfJSON(t, &list, "runq", "--addr", addr, "-d", "300ms", "--json")
	if len(list) != 2 || list[0].PID == list[1].PID {
		t.Fatalf("%+v", list)
	}
	for _, p := range list {
		switch {
		case p.Waits == nil && len(p.Refusals) == 0:
			t.Errorf("nothing, and no reason: %+v", p)
		case p.Waits == nil:
			t.Skipf("SKIPPED: the kernel refuses: %+v", p.Refusals)
		case p.P50 == nil:
			t.Errorf("no waits of a job that works: %+v", p)
		}
	}
	if _, stdout, _ := overtakes(t, "perf", "runq", "--addr", addr, "-d", "200ms"); strings.Count(stdout, "in all: p50 <") != 2 || !strings.Contains(stdout, "|@") {
		t.Errorf("no two histograms:\n%s", stdout)
	}
}

func perfOffCPU(t *testing.T, addr string) {
	profile := filepath.Join(t.TempDir(), "off.pprof")
	code, stdout, stderr := overtakes(t, "perf", "offcpu", "--addr", addr, "-d", "1s", "--pprof", profile)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if strings.Contains(stderr, "refused") {
		t.Skipf("SKIPPED: the kernel refuses: %s", stderr)
	}
	for line := range strings.Lines(stdout) {
		stack, time, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(time[strings.LastIndexByte(time, ' ')+1:], 10, 64); !ok || stack == "" || err != nil {
			t.Fatalf("%q: %d, %v", line, n, err)
		}
	}
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := gzip.NewReader(f); err != nil {
		t.Error(err)
	}
}

func TestPerfCheck(t *testing.T) {
	var s struct {
		Tier, Kernel string
		Refusals     []refusalText
		Costs        []struct {
			Probe, NA string
			Each      float64 `json:"each_ns"`
		}
	}
	perfJSON(t, &s, "check", "--json")
	if len(s.Tier) != 1 || s.Kernel == "" || len(s.Costs) < 4 || s.Tier != "A" && len(s.Refusals) == 0 {
		t.Errorf("%+v", s)
	}
	if code, stdout, stderr := overtakes(t, "perf", "check"); code != 0 || !strings.Contains(stdout, "tier ") || !strings.Contains(stdout, "PROBE") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestPerfSaysWhatIsWrong(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	type wrong struct {
		args string
		code int
		want string
	}
	tests := []wrong{
		{"latency", 2, "--pid N,... or --addr"},
		{"latency --pid 1 --addr x:1", 2, "exclude each other"},
		{"latency --pid 0", 2, "more than 0"},
		{"latency --pid 1 -d 0s", 2, "--duration 0s"},
		{"latency --pid 1 --no-messages", 2, "--histograms"},
		{"latency --pid 1 --histograms --no-messages --svg x", 2, "nothing to draw"},
		{"latency --pid 1 --interval 1s", 2, "--interval needs"},
		{"latency --pid 1 --svg x --interval 1us", 2, "2000 columns"},
		{"latency --pid 1 --rate 3", 2, "--rate"},
		{"latency --pid 99999999", 1, "no process 99999999"},
		{"conns --addr 127.0.0.1:1", 1, "started with --listen"},
		{"offcpu --pid 1 --json --out x", 2, "--json goes to standard output"},
	}
	var s struct{ Tier string }
	if perfJSON(t, &s, "check", "--json"); s.Tier != "C" {
		tests = append(tests, wrong{fmt.Sprint("latency -q -d 1s --pid ", stranger.Process.Pid), 1, "no probe points"})
	}
	for _, c := range tests {
		code, _, stderr := overtakes(t, append([]string{"perf"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
}

// A profile names the operators. In its string table, which is field 6, strings are as they
// are.
func TestProfilesHaveTheOperatorsAsLabels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	code, _, stderr := overtakes(t, "run", "throughput", "--profile", "cpu", "--profile-dir", dir, "--processes", "2", "-p", "2", "--count", "60000000", "-q")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	for _, name := range []string{"cpu.pprof", "worker-1/cpu.pprof"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range []string{"operator", "subtask", "map"} {
			if !strings.Contains(string(b), "\x32"+string(rune(len(label)))+label) {
				t.Errorf("%s: no label %s", name, label)
			}
		}
	}
	if code, _, stderr := overtakes(t, "run", "throughput", "--profile-dir", dir); code != 2 || !strings.Contains(stderr, "needs --profile") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := overtakes(t, "bench", "exchange", "--profile", "nonsense"); code != 2 || !strings.Contains(stderr, "mutex") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

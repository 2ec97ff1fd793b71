package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asNobody is the user nobody, with some capabilities.
func asNobody(caps ...uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: caps}
}

// programForAll is a copy of this program that everybody may run.
func programForAll(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user")
	}
	dir, err := os.MkdirTemp("", "overtake")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "overtake")
	copyProgram(t, program)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// lookAs runs "overtake perf" as another user.
func lookAs(program string, user *syscall.SysProcAttr, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(program, append([]string{"perf"}, args...)...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = append(os.Environ(), envCommand+"=1"), "/", user
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	return string(out), errs.String(), err
}

// An ordinary user sees connections and run queues, which is no failure.
func perfAsNobody(t *testing.T, foreign string) {
	program := programForAll(t)
	look := func(addr string) (string, error) {
		stdout, stderr, err := lookAs(program, asNobody(), "latency", "--addr", addr, "-d", "200ms")
		return stdout + stderr, err
	}
	own := watchedJob(t, program, asNobody())
	if text, err := look(own); err != nil || !strings.Contains(text, "tier C") || !strings.Contains(text, "messages: n/a") ||
		!strings.Contains(text, "cap_bpf") || !strings.Contains(text, "flush delay") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := look(foreign); err == nil || !strings.Contains(text, "another user's") {
		t.Errorf("of root's job: %v\n%s", err, text)
	}
}

// With CAP_BPF and CAP_PERFMON alone, one sees as much of one's own job as root does, and with either
// of them the command says what the kernel refuses.
func TestPerfWithTwoCapabilities(t *testing.T) {
	needProbePoints(t)
	const perfmon, bpf = 38, 39
	program := programForAll(t)
	var root struct {
		Tier     string
		Refusals []refusalText
	}
	if perfJSON(t, &root, "check", "--json"); root.Tier != "A" {
		t.Skipf("SKIPPED: root itself has tier %s: the kernel refuses: %+v", root.Tier, root.Refusals)
	}
	addr := watchedJob(t, program, asNobody())
	stdout, stderr, err := lookAs(program, asNobody(bpf, perfmon), "latency", "-q", "--addr", addr, "-d", "1s", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var r latencyJSON
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if r.Tier != "A" || len(r.Refusals) != 0 || r.Matched == 0 || r.Kernel != r.Matched || len(r.Edges) != 2 || len(r.Job) != 2 {
		t.Errorf("%+v\n%s", r, stderr)
	}
	for name, one := range map[string]uintptr{"CAP_BPF": bpf, "CAP_PERFMON": perfmon} {
		stdout, stderr, err := lookAs(program, asNobody(one), "latency", "--addr", addr, "-d", "100ms")
		if err != nil || !strings.Contains(stdout, "tier C") || !strings.Contains(stdout, "refused: ") || !strings.Contains(stdout, "not permitted") {
			t.Errorf("with %s alone: %v\n%s%s", name, err, stdout, stderr)
		}
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.Chmod(to, 0o755)); err != nil {
		t.Fatal(err)
	}
}

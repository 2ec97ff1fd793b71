//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// measure is a child that looks at others, and prints what it finds.
func (c *childConfig) measure() error {
	var pids []int
	for s := range strings.SplitSeq(c.pids, ",") {
		pid, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		pids = append(pids, pid)
	}
	support, err := Check(context.Background())
	if err != nil {
		return err
	}
	wrong := 0
	r, err := Latency(context.Background(), pids, time.Second, LatencyOptions{OnMessage: func(m *Message) {
		if m.Total() != time.Duration(m.Ended-m.Opened) {
			wrong++
		}
	}})
	if err != nil {
		return err
	}
	var stages []string
	for i := range r.Edges {
		for _, s := range r.Edges[i].Stages {
			stages = append(stages, s.Stage.String())
		}
	}
	out, err := json.Marshal(struct {
		Check   Tier // as a number: text is for people
		Support *Support
		Matched uint64
		Kernel  uint64
		Conns   int
		Text    string
		Stages  string

		WrongSums int
	}{support.Tier, support, r.Matched, r.Kernel, len(r.Connections), fmt.Sprint(r.Refusals), strings.Join(stages, ", "), wrong})
	if err != nil {
		return err
	}
	fmt.Println(string(out))
	return nil
}

// found is what a measuring child has printed.
type found struct {
	Check   string
	Matched uint64
	Kernel  uint64
	Conns   int
	Text    string
	Stages  string

	WrongSums int
}

// measureAs looks at a pair of children as the user nobody with some capabilities.
func measureAs(t *testing.T, caps ...uintptr) (f found) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user")
	}
	as := func(caps []uintptr) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: caps}
			cmd.Dir = "/"
		}
	}
	receive, addr := start(t, as(nil), "-role=receive")
	send, _ := start(t, as(nil), "-role=send", "-addr="+addr)
	_, line := start(t, as(caps), "-role=measure", fmt.Sprintf("-pids=%d,%d", send.Process.Pid, receive.Process.Pid))
	t.Log(line)
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return f
}

func TestTwoCapabilitiesSuffice(t *testing.T) {
	if r := rootTier(t); r != TierA {
		t.Skipf("SKIPPED: root itself has tier %v", r)
	}
	f := measureAs(t, capBPF, capPerfmon)
	if f.Check != "A" || f.Matched == 0 || f.Kernel != f.Matched {
		t.Errorf("%+v", f)
	}
}

func rootTier(t *testing.T) Tier {
	t.Helper()
	s, err := Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Tier
}

// Without privileges there are no stages, but connections, and a way out.
func TestOrdinaryUser(t *testing.T) {
	f := measureAs(t)
	if f.Check != "C" || f.Matched != 0 || f.Conns != 2 {
		t.Errorf("%+v", f)
	}
	for _, want := range []string{"operation not permitted", "CAP_BPF", "CAP_PERFMON", "setcap cap_bpf,cap_perfmon+ep /"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("the refusal does not say %q: %s", want, f.Text)
		}
	}
}

// threads returns the thread ids of a process.
func threads(t *testing.T, pid int) (tids []int) {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(names) == 0 {
		t.Fatalf("threads of %d: %v, %v", pid, names, err)
	}
	for _, name := range names {
		tid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		tids = append(tids, tid)
	}
	return tids
}

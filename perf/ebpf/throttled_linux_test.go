//go:build linux && (amd64 || arm64)

package ebpf

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// namespace makes a network namespace whose loopback device has a queueing discipline, and
// returns what lets a command run inside.
func namespace(t *testing.T, discipline ...string) (inside func(*exec.Cmd)) {
	t.Helper()
	name := fmt.Sprintf("overtake-test-%d", os.Getpid())
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: no network namespace with a slow link here: %v: %v: %s", args, err, out)
		}
	}
	run("ip", "netns", "add", name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	run("ip", "-n", name, "link", "set", "lo", "mtu", "1500", "up")
	run(append([]string{"tc", "-n", name, "qdisc", "add", "dev", "lo", "root"}, discipline...)...)
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = ip, append([]string{"ip", "netns", "exec", name, self}, cmd.Args[1:]...)
	}
}

// A link that lets fewer bytes through than are written: what has been written waits in
// the socket and behind it.
func TestBlameThrottledLink(t *testing.T) {
	inside := namespace(t, "tbf", "rate", "1mbit", "burst", "16kb", "latency", "2s")
	receive, send := startPairIn(t, inside, nil, []string{"-wait", "-burst=4"})
	r := blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every64}, SocketQueue, KernelSend)
	if r.Unmatched > 0 || r.Drops > 0 {
		t.Errorf("%+v, %d drops", r.MatchCounts, r.Drops)
	}
}

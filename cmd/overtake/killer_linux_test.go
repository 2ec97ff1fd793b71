package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
)

// killer kills one job again and again until it is left alone and finishes.
type killer struct {
	t       *testing.T
	program string
	job     *killedJob
	r       *rand.Rand
	left    int // kills to come
	modes   []string
	dir     string
	started time.Time
	plan    []string
}

func (k *killer) note(format string, args ...any) {
	k.plan = append(k.plan, fmt.Sprintf("%8.3f  ", time.Since(k.started).Seconds())+fmt.Sprintf(format, args...))
}

func (k *killer) fail(format string, args ...any) {
	k.note(format, args...)
	k.t.Fail()
}

func (k *killer) store() string { return filepath.Join(k.dir, "store") }

// run starts the job until it finishes, and checks what it has left.
func (k *killer) run() {
	if err := os.Mkdir(filepath.Join(k.dir, "out"), 0o700); err != nil {
		k.t.Fatal(err)
	}
	for !k.start() && !k.t.Failed() {
	}
	if k.t.Failed() {
		return
	}
	got, left := committed(k.t, filepath.Join(k.dir, "out"))
	if k.modes[0] == "at-least-once" {
		k.checkAtLeast(got)
	} else if strings.Join(got, "") != strings.Join(k.job.want, "") {
		k.fail("%s", lineDifference(k.job.want, got))
	}
	if len(left) > 0 {
		k.fail("left in the output: %v", left)
	}
	k.checkStore()
	k.again()
}

// checkAtLeast checks that no key has come out with less than it should.
func (k *killer) checkAtLeast(got []string) {
	want, have := highest(k.job.want), highest(got)
	for key, n := range want {
		if have[key] < n {
			k.fail("%q has %d, want at least %d", key, have[key], n)
			return
		}
	}
	if len(have) != len(want) {
		k.fail("%d keys, want %d", len(have), len(want))
	}
}

// highest is the highest number of each key, of lines "key<TAB>number".
func highest(lines []string) map[string]int {
	most := map[string]int{}
	for _, l := range lines {
		key, number, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		n, _ := strconv.Atoi(number) // the command's own output; 0 is too little
		most[key] = max(most[key], n)
	}
	return most
}

// arguments are those of the next start, at random.
func (k *killer) arguments() []string {
	output := filepath.Join(k.dir, "out", k.job.output)
	if strings.HasSuffix(k.job.output, "/") {
		output += "/"
	}
	args := append([]string{"run", "--quiet"}, k.job.args...)
	args = append(args, "--output", output, "--checkpoint-dir", k.store(), "--max-parallelism", "24", "--checkpoint-interval", "20ms")
	random := []string{
		"-p", fmt.Sprint(1 + k.r.IntN(7)), "--processes", fmt.Sprint(1 + k.r.IntN(2)),
		"--checkpoint-mode", k.modes[k.r.IntN(len(k.modes))],
		"--alignment-timeout", fmt.Sprint(time.Duration(k.r.IntN(20)) * time.Millisecond),
		"--max-concurrent-checkpoints", fmt.Sprint(1 + k.r.IntN(3)), "--retain", fmt.Sprint(1 + k.r.IntN(3)),
		"--restarts", "100", "--restart-delay", "1ms", "--tolerable-failures", "3",
	}
	k.note("start %s", strings.Join(random, " "))
	return append(args, random...)
}

// start starts the job once and kills it or lets it finish. It reports the latter.
func (k *killer) start() (finished bool) {
	cmd := exec.Command(k.program, k.arguments()...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		var moment <-chan struct{}
		stop := make(chan struct{})
		if k.left > 0 {
			moment = k.moment(stop)
		}
		select {
		case <-time.After(2 * time.Minute):
			_ = cmd.Process.Signal(syscall.SIGQUIT)
			k.fail("it hangs: %v\n%s", <-ended, stderr.String())
			close(stop)
			return true
		case err := <-ended:
			close(stop)
			k.note("ended: %v", err)
			if err != nil {
				k.fail("it failed by itself:\n%s", stderr.String())
			}
			return true
		case <-moment:
			close(stop)
			k.left--
			if k.killCopy(cmd.Process.Pid) {
				continue
			}
			k.note("kill the first process")
			_ = cmd.Process.Kill()
			<-ended
			return false
		}
	}
}

// killCopy kills one of the job's copies, if there is one and chance has it.
func (k *killer) killCopy(pid int) bool {
	if k.r.IntN(2) == 0 {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	children := strings.Fields(string(text))
	if err != nil || len(children) == 0 {
		return false
	}
	child, err := strconv.Atoi(children[k.r.IntN(len(children))])
	if err != nil {
		return false
	}
	k.note("kill a copy")
	return syscall.Kill(child, syscall.SIGKILL) == nil
}

// moment is closed when it is time to kill: at any time, while starting or restoring,
// while a manifest is written, or when sinks are about to commit.
func (k *killer) moment(stop <-chan struct{}) <-chan struct{} {
	now := make(chan struct{})
	kind := k.r.IntN(4)
	wait := time.Duration(k.r.IntN(500)) * time.Millisecond
	little := time.Duration(k.r.IntN(3000)) * time.Microsecond
	if kind == 0 {
		wait /= 6
	}
	k.note("to be killed: %s", []string{"early", "at any time", "while publishing", "while committing"}[kind]+" "+wait.String()+" "+little.String())
	go func() {
		defer close(now)
		sleep(stop, wait)
		switch kind {
		case 2:
			watch(stop, func() bool { return len(matches(k.store(), "*/*.tmp")) > 0 })
		case 3:
			before := newest(k.store())
			watch(stop, func() bool { return newest(k.store()) != before })
			sleep(stop, little)
		}
	}()
	return now
}

func sleep(stop <-chan struct{}, d time.Duration) {
	select {
	case <-stop:
	case <-time.After(d):
	}
}

// watch waits for something that is seen in files, but not forever.
func watch(stop <-chan struct{}, seen func() bool) {
	for range 2000 {
		if seen() {
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Microsecond):
		}
	}
}

func matches(dir, pattern string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are right
	return names
}

// newest names one of the manifests; that it is another one says that there is a new one.
func newest(dir string) string {
	names := matches(dir, "manifests/*.manifest")
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// checkStore verifies all that is there, and that nothing is there for no reason.
func (k *killer) checkStore() {
	if out, err := exec.Command(k.program, "checkpoint", "verify", k.store()).CombinedOutput(); err != nil {
		k.fail("verify: %v\n%s", err, out)
	}
	for _, pattern := range []string{"*/*.tmp", "*.tmp", "control*"} {
		if names := matches(k.store(), pattern); len(names) > 0 {
			k.fail("left in the store: %v", names)
		}
	}
	v, err := openView(k.store())
	if err != nil {
		k.fail("%v", err)
		return
	}
	owned := map[string]bool{}
	for _, id := range v.ids {
		m, err := v.blobs.Manifest(context.Background(), id)
		if err != nil {
			k.fail("%v", err)
			return
		}
		m.Blobs(func(ref checkpoint.BlobRef) { owned[ref.Name.String()+".blob"] = true })
	}
	names, err := os.ReadDir(filepath.Join(k.store(), "blobs"))
	if err != nil {
		k.fail("%v", err)
	}
	for _, n := range names {
		if !owned[n.Name()] {
			k.fail("no checkpoint has %s", n.Name())
		}
	}
}

// again starts the finished job once more: it has nothing to do, and does nothing.
func (k *killer) again() {
	before, _ := committed(k.t, k.dir)
	out, err := exec.Command(k.program, k.arguments()...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "finished already") {
		k.fail("a finished job was started: %v\n%s", err, out)
	}
	after, _ := committed(k.t, k.dir)
	if strings.Join(before, "") != strings.Join(after, "") {
		k.fail("a finished job that was started has changed something")
	}
}

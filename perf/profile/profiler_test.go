package profile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/perf/profile"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryModeWritesOneFile(t *testing.T) {
	var p profile.Profiler
	for _, mode := range profile.Modes() {
		dir := filepath.Join(t.TempDir(), "made", "for it")
		stop, err := p.Start(mode, dir)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if err := errors.Join(stop(), stop()); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: files %v, error %v", mode, files, err)
		}
	}
}

func TestOneProfileAtATime(t *testing.T) {
	var p profile.Profiler
	stop, err := p.Start("goroutine", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start("heap", t.TempDir()); !errors.Is(err, profile.ErrRunning) {
		t.Fatalf("error %v, want %v", err, profile.ErrRunning)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stop, err = p.Start("heap", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := t.TempDir()
	if err := os.Mkdir(filepath.Join(taken, "cpu.pprof"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ mode, dir, want string }{
		{"gpu", t.TempDir(), "cpu, heap,"},
		{"cpu", "", "no folder"},
		{"cpu", file, file},
		{"cpu", taken, "cpu.pprof"},
	} {
		var p profile.Profiler
		if _, err := p.Start(c.mode, c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Start(%q, %q): %v, want an error that says %q", c.mode, c.dir, err, c.want)
		}
		stop, err := p.Start("goroutine", t.TempDir()) // a failed start holds nothing
		if err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProfilesOfOtherCodeAreNoticed(t *testing.T) {
	var p profile.Profiler
	if err := trace.Start(io.Discard); err != nil {
		t.Skip("the test itself is traced")
	}
	_, err := p.Start("trace", t.TempDir())
	trace.Stop()
	if !errors.Is(err, profile.ErrRunning) {
		t.Errorf("trace: %v", err)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("the test itself is profiled")
	}
	defer pprof.StopCPUProfile()
	stop, err := p.Start("cpu", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("cpu: %v", err)
	}
}

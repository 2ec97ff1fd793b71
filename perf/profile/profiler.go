package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pkg/profile"
)

// ErrRunning says that a profile is being taken already.
var ErrRunning = errors.New("profile: one is running already: stop it first")

// Profiler takes one profile at a time. A program has one; the zero value is ready.
type Profiler struct{ running atomic.Bool }

// mode is a kind of profile, and the file that pkg/profile writes it to.
type mode struct {
	name, file string
	options    []func(*profile.Profile)
}

var modes = []mode{
	{"cpu", "cpu.pprof", []func(*profile.Profile){profile.CPUProfile}},
	{"heap", "mem.pprof", []func(*profile.Profile){profile.MemProfile, profile.MemProfileHeap}},
	{"allocs", "mem.pprof", []func(*profile.Profile){profile.MemProfile, profile.MemProfileAllocs}},
	{"mutex", "mutex.pprof", []func(*profile.Profile){profile.MutexProfile}},
	{"block", "block.pprof", []func(*profile.Profile){profile.BlockProfile}},
	{"goroutine", "goroutine.pprof", []func(*profile.Profile){profile.GoroutineProfile}},
	{"threads", "threadcreation.pprof", []func(*profile.Profile){profile.ThreadcreationProfile}},
	{"clock", "clock.pprof", []func(*profile.Profile){profile.ClockProfile}},
	{"trace", "trace.out", []func(*profile.Profile){profile.TraceProfile}},
}

// Modes returns the names that Start knows: cpu, heap (in use at the end), allocs
// (since the start), mutex and block (waiting), goroutine and threads (at the end),
// clock (wall time, on and off the processor) and trace.
func Modes() []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = m.name
	}
	return names
}

// Start begins a profile that goes to a file in dir, which is made if need be. The
// program calls stop before it ends: it completes the file, and returns an error if
// nothing was written. More calls of stop return the same.
//
// Start returns ErrRunning, or an error that names the mode or the file.
func (p *Profiler) Start(name, dir string) (stop func() error, err error) {
	m, err := find(name)
	if err != nil {
		return nil, err
	}
	if !p.running.CompareAndSwap(false, true) {
		return nil, ErrRunning
	}
	file, err := m.prepare(dir)
	if err != nil {
		p.running.Store(false)
		return nil, err
	}
	session := profile.Start(append([]func(*profile.Profile){profile.Quiet, profile.NoShutdownHook, profile.ProfilePath(dir)}, m.options...)...)
	return sync.OnceValue(func() error {
		session.Stop()
		p.running.Store(false)
		return written(file)
	}), nil
}

func find(name string) (mode, error) {
	for _, m := range modes {
		if m.name == name {
			return m, nil
		}
	}
	return mode{}, fmt.Errorf("profile: no mode %q: it is one of %s", name, strings.Join(Modes(), ", "))
}

// prepare does what would end the process if it failed later.
func (m mode) prepare(dir string) (file string, err error) {
	if m.name == "trace" && trace.IsEnabled() {
		return "", fmt.Errorf("profile: a trace is being taken by other code of this program: %w", ErrRunning)
	}
	if dir == "" {
		return "", errors.New("profile: no folder to write to: name one")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("profile: %w", err)
	}
	file = filepath.Join(dir, m.file)
	f, err := os.Create(file)
	if err != nil {
		return "", fmt.Errorf("profile: %w", err)
	}
	return file, f.Close()
}

func written(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("profile: %s is empty: the disk is full, or other code of this program takes a profile of the same kind", file)
	}
	return nil
}

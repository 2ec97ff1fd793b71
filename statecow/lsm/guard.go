package lsm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// guard stands between a store and Pebble's background work. It remembers the
// first failure, wakes the owner when a flush or compaction ends, and stops what
// Pebble would try again forever.
//
// Pebble blocks writes that run ahead of flushes, also when these fail. So its
// limits are set out of reach, and the owner asks the guard instead.
type guard struct {
	dir      string
	once     sync.Once
	failed   atomic.Pointer[failure]
	broken   chan struct{} // closed at the first failure
	closing  chan struct{} // closed when the store closes
	progress chan struct{} // gets one when a flush or compaction has ended
}

type failure struct{ err error }

func newGuard(dir string) *guard {
	return &guard{dir: dir, broken: make(chan struct{}), closing: make(chan struct{}), progress: make(chan struct{}, 1)}
}

// err is the first failure, typed.
func (g *guard) err() error {
	if f := g.failed.Load(); f != nil {
		return f.err
	}
	return nil
}

// fail remembers err if it is the first.
func (g *guard) fail(err error) {
	g.once.Do(func() {
		g.failed.Store(&failure{typed(g.dir, err)})
		close(g.broken)
	})
}

func (g *guard) advanced() {
	select {
	case g.progress <- struct{}{}:
	default:
	}
}

// wait returns when background work has advanced or failed, which it returns.
func (g *guard) wait() error {
	select {
	case <-g.progress:
	case <-g.broken:
	}
	return g.err()
}

// await waits for done, or a failure.
func (g *guard) await(done <-chan struct{}) error {
	select {
	case <-done:
	case <-g.broken:
	}
	return g.err()
}

func (g *guard) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: g.fail,
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			g.fail(&TableError{File: i.Path, Err: i.Details})
		},
		FlushEnd:      func(pebble.FlushInfo) { g.advanced() },
		CompactionEnd: func(pebble.CompactionInfo) { g.advanced() },
	}
}

// Infof implements pebble.Logger.
func (g *guard) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (g *guard) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger. Pebble calls it when the manifest cannot be
// written; then it gives up the version at hand, and the store is broken.
func (g *guard) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			g.fail(err)
		}
	}
	g.fail(fmt.Errorf(format, args...))
}

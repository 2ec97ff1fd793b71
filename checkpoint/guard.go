package checkpoint

import (
	"fmt"
	"sync/atomic"
)

// guard keeps the first failure of the disk under the catalogue.
//
// Pebble takes a failed write as the end of its process, or repeats it for ever. But
// the catalogue can be made again, so here it is the end of the catalogue only: the
// guard notes the failure, and from then on Pebble is told that all its writes
// succeed, while none reaches the disk. So it can be closed like any other. Whoever
// used it looks at the guard.
type guard struct{ failure atomic.Pointer[error] }

// fail records the first failure.
func (g *guard) fail(err error) { g.failure.CompareAndSwap(nil, &err) }

// err returns the first failure, nil if there was none.
func (g *guard) err() error {
	if p := g.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Infof implements pebble.Logger.
func (g *guard) Infof(string, ...any) {}

// Errorf implements pebble.Logger. What fails is returned, too.
func (g *guard) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger. It returns, and whoever used Pebble looks at err.
func (g *guard) Fatalf(format string, args ...any) { g.fail(fmt.Errorf(format, args...)) }

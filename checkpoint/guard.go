package checkpoint

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// guard stands between Pebble and the disk. Pebble takes a failed write of its log
// as the end of the process. The catalogue can be made again, so it is the end of
// the catalogue only: from then on nothing that Pebble does reaches the disk.
//
// It is the logger that Pebble reports such failures to, and the injector that
// fails what comes after.
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

// Fatalf implements pebble.Logger. It returns, and Pebble's callers look at err.
func (g *guard) Fatalf(format string, args ...any) {
	var cause error
	for _, a := range args {
		if err, ok := a.(error); ok {
			cause = err
		}
	}
	if cause == nil {
		cause = fmt.Errorf(format, args...)
	}
	g.fail(cause)
}

// MaybeError implements errorfs.Injector.
func (g *guard) MaybeError(errorfs.Op) error { return g.err() }

// String implements errorfs.Injector.
func (g *guard) String() string { return "guard" }

// catalogueFS is the file system that Pebble sees.
type catalogueFS struct{ vfs.FS }

// Lock implements vfs.FS: the store's own lock covers the catalogue, and is released
// even if Pebble is in no state to be closed.
func (catalogueFS) Lock(string) (io.Closer, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Close() error { return nil }

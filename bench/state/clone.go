package state

import (
	"maps"
	"runtime"
)

// clone is the snapshot of a builtin map: a copy of all. Values behind pointers are
// shared, which would not do for real, but is the least that it takes.
func clone[M ~map[K]V, K comparable, V any](m M) func() {
	c := maps.Clone(m)
	return func() {
		runtime.KeepAlive(c)
		c = nil
		runtime.GC() // so that two copies never are in memory together
	}
}

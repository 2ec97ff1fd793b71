// Package invariant holds checks that are compiled in by the build tag
// "invariants" and cost nothing without it.
//
// The tag never changes what production code does; it only looks harder:
//
//	if invariant.Enabled {
//		invariant.Check(refs > 0, "buffer %d: released twice", i)
//	}
//
// The constant guard lets the compiler drop the call and its arguments.
package invariant

import "fmt"

// Check panics with the formatted message when cond is false. Guard calls with
// Enabled, so that arguments are neither evaluated nor boxed in other builds.
func Check(cond bool, format string, args ...any) {
	if !cond {
		panic("invariant violated: " + fmt.Sprintf(format, args...))
	}
}

// PoisonByte fills freed memory, so that a use after release reads as
// 0xDB 0xDB … and is recognised in a dump at sight.
const PoisonByte = 0xDB

// Poison overwrites freed memory with PoisonByte; it does nothing unless Enabled.
func Poison(b []byte) {
	if !Enabled {
		return
	}
	for i := range b {
		b[i] = PoisonByte
	}
}

// Poisoned reports whether b still holds only poison: false means that
// somebody wrote to memory that had been freed.
func Poisoned(b []byte) bool {
	for _, c := range b {
		if c != PoisonByte {
			return false
		}
	}
	return true
}

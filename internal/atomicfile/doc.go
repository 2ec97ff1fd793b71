// Package atomicfile writes files that are there as a whole or not at all: whoever reads
// one while it is written again, or after the program has died, has the old content or the
// new one.
//
// Nothing here starts a goroutine or keeps state.
package atomicfile

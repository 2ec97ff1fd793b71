// Package memory has sources and sinks inside the process: slices and channels to
// read, functions and lists to write. They are for embedding and for tests.
//
// The reader of a channel starts a goroutine when the channel is empty: it waits for
// one value, and is joined by the reader's Close. Nothing else here has goroutines.
package memory

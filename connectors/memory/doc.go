// Package memory has sources and sinks inside the process: slices and channels to
// read, functions and lists to write. They are for embedding and for tests.
//
// Slices are replayed from any position. Channels are not. A Committed takes part in
// checkpoints, so that it has every record exactly once whatever fails but the process;
// Func and List have again what is processed again.
//
// The reader of a channel starts a goroutine when the channel is empty: it waits for
// one value, and is joined by the reader's Close. Nothing else here has goroutines.
package memory

// Package memory has sources and sinks inside the process: slices and channels to
// read, functions and lists to write. They are for embedding and for tests.
package memory

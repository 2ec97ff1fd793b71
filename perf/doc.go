// Package perf measures the data plane from within: the clock that code takes
// instead of reading the time itself, and the account of how a subtask spends it.
//
// The data plane imports this package, so it imports the standard library alone,
// starts no goroutine and allocates nothing while measuring. Each account has one
// goroutine that writes it; any goroutine may read.
package perf

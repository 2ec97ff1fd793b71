// Package perf measures the data plane from within: the clock that code takes
// instead of reading the time itself, the account of how a subtask spends it, and
// histograms and counters.
//
// The data plane imports this package, so it imports the standard library alone,
// starts no goroutine and allocates nothing while measuring. Accounts have one
// goroutine that writes them, histograms and counters preferably so; any goroutine
// may read at any time.
package perf

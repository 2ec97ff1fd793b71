// Package storetest is what every store of checkpoints must do: tests that take a
// store and know only its interface, and helpers to make checkpoints.
//
// It starts no goroutines and keeps nothing between tests.
package storetest

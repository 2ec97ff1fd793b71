// Package unaligned holds the records that barriers have overtaken: channel state.
//
// A Capture shares the buffers that a barrier passes at the sender, and those that come
// at the receiver before the channel's own barrier, or copies them. Its records are
// written straight from where they lie, those of several subtasks into one blob by a
// Combiner, with an index that says which bytes are of which channel.
//
// The barriers themselves are package checkpoint/protocol's: one machine for all modes,
// since checkpoints of different modes may be in flight together. Package internal/task
// captures and replays, package internal/recovery deals what was captured to subtasks.
//
// # Ownership and goroutines
//
// There are no goroutines. A Capture belongs to one at a time; a Combiner to all.
package unaligned

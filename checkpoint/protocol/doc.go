// Package protocol holds the two ends of checkpointing as pure state machines: events
// in, actions out; no clock, no I/O, no goroutines, no locks. Callers serialise access.
// Times are int64 nanoseconds that the caller reads from its own clock.
//
// Coordinator decides for the job: when a checkpoint begins, whether it is complete,
// what happens to it then. Barriers decides for one subtask: when its channels are
// blocked or captured and its state is snapshotted.
//
//	coordinator                        members (subtasks)
//	Trigger n            ───────────►  sources, and members that have finished
//	                                   barriers flow from there to the others
//	Ack n, state handles ◄───────────  each member, once all it wrote is durable
//	Publish n            (the manifest becomes visible, or not at all)
//	NotifyComplete n     ───────────►  all members: commit what was prepared up to n
//
// # Invariants of the coordinator
//
//   - IDs grow and are never used again. Any number of checkpoints may be in flight.
//   - Publish comes after the acknowledgements of all members, and one at a time.
//   - NotifyComplete comes after Published, and its IDs grow: a checkpoint never
//     completes after a later one. Periodic ones that a later one overtakes are
//     aborted as subsumed. Nothing overtakes a savepoint: it is somebody's.
//   - Every checkpoint that was triggered ends exactly once, complete or aborted, if
//     time passes. Every token is answered exactly once.
//   - An event that comes twice, late, early or from nowhere changes nothing and is
//     named in a Note, in every state.
//
// # What an abort means
//
// Sources do not go back when a checkpoint is aborted, so what a sink has prepared for it
// is not rolled back: the next complete checkpoint covers it. Only a restart rolls
// back. NotifyAborted lets members free what they hold for the checkpoint itself, and
// ends the pause of sources that an aborted stop with a savepoint has stopped.
//
// A savepoint belongs to its user, who may delete it, so recovery must not depend on
// it: it subsumes nothing and members commit nothing when it completes. After a
// StopSavepoint they do: the job ends with it.
//
// # Publishing in doubt
//
// PublishFailed promises that the manifest is not visible and never will be. Until
// Published or PublishFailed is here, a checkpoint that was handed to Publish may be
// found by a recovery, so its blobs are not discarded when it is aborted meanwhile: that
// waits for the outcome.
//
// # Ownership
//
// Payloads are opaque and pass through. Slices in commands belong to the receiver.
package protocol

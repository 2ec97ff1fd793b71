// Package recovery is both ends of a checkpoint of a whole job: Gather puts a manifest
// together from what the subtasks have saved, and a Dealer deals a manifest's state and
// in-flight records to the subtasks of a job, which may have another parallelism than
// the one that wrote it.
//
// # Who gets what
//
// Keyed state goes by key groups. What else operators and sources have saved goes to the
// subtask of the same number, modulo today's parallelism; the positions of a source whose
// parallelism has changed go to its subtasks in turn. A record in flight goes to where its
// sender would send it today.
//
// # Invariants
//
//   - With one parallelism before and after, every subtask gets what it had.
//   - Every record in flight goes to exactly one subtask; but one on a broadcast edge goes
//     to the subtask that takes the place of each receiver.
//   - The records of a channel keep their order.
//
// The package does nothing but read blobs. A Dealer belongs to one goroutine; what it has
// dealt belongs to the receiver, which may not change the bytes.
package recovery

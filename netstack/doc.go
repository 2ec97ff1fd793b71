// Package netstack is the exchange: it moves pooled buffers between the subtasks
// of a job under credit-based flow control, by reference inside a process and
// over one connection per pair of workers between processes.
//
// A Partition is a subtask's output: it fills buffers, one open builder per
// subpartition, and queues them. A Gate is a subtask's input: it takes buffers
// from many channels. A channel joins one subpartition to one gate.
//
//	subtask A                                       subtask B
//	Partition ─ subpartition 0 ── local channel ──▶ Gate ─ channel 0
//	          └ subpartition 1 ─┐                        └ channel 1 ◀─┐
//	                            └▶ Stack ══ TCP, Unix, TLS ══ Stack ───┘
//
// The package moves opaque bytes. It knows two kinds of events: ordered ones stay
// behind the data queued before them, priority ones go ahead of it. It does not
// know what they mean.
//
// # Ownership
//
// A Partition's builders, and a Gate's queues, belong to the subtask's goroutine.
// What a transport touches from its own goroutine is under one mutex each: a
// subpartition's queue (subpartition.mu) and a gate's inbox (Gate.inbox). Neither
// is held while the other is taken, nor while anything is woken. A buffer has one
// owner at a time: builder, queue, transport, inbox, channel queue, consumer; a
// broadcast shares one buffer among several queues by reference count.
//
// # Waiting
//
// Nothing here blocks except Partition.Space when a record's output overflows
// even the overdraft, which waits through PartitionOptions.Wait. Everything else
// reports "not now" and wakes the subtask's Waker later. A wake-up is never lost:
// it is registered under the lock that guards the condition.
package netstack

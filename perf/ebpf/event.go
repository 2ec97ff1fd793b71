package ebpf

import "github.com/overtake-stream/overtake/perf/probe"

// Kind is what an Event tells.
type Kind uint32

// The kinds, in the order of bpf/latency.c.
const (
	WriteBegin Kind = iota // a sampled message is about to be written
	Sent                   // write returned; Seq: all that was written so far
	Ready                  // bytes became readable; Seq: all that arrived so far
	Waking                 // a thread is woken for them
	Run                    // that thread runs
	Received               // read returned; Seq: all that was read so far
	Processed              // a sampled message's records have been processed
	Waited                 // a thread has a processor again, for which it has waited since Enter
)

// Event is what the kernel side reports. Sequence numbers are TCP's, modulo 2^32.
type Event struct {
	Kind      Kind
	Direction uint32        // of a connection: the sender's number for it
	Time      int64         // CLOCK_MONOTONIC, ns
	Enter     int64         // Sent, Received: when the system call began; Run, Waited: the wait; 0: not known
	Seq       uint32        // see Kind
	Base      uint32        // Sent: sequence number of the stream's first byte
	PID, TID  uint32        // of who did it; Waking, Run, Waited: TID of who is woken, or waited
	Waker     uint32        // Run, Waited: the thread of the same process that began the wait; 0: none, it was preempted or woken from outside
	Message   probe.Message // WriteBegin, Processed
}

// NoDirection is the Direction of a message on a connection that is not followed.
const NoDirection = ^uint32(0)

// reached reports whether sequence number a is at b or behind it, at most 2 GiB.
func reached(a, b uint32) bool { return int32(a-b) >= 0 }

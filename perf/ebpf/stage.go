package ebpf

import "fmt"

// Stage is a part of a message's way. They are in the order in which they happen.
type Stage uint8

// The stages, each named by what the message waits for. Those of the sending program
// come first, then the kernel's, then the receiving program's.
const (
	Fill         Stage = iota // for more records, until its buffer is full or due
	Credit                    // for the receiver to have room
	SendQueue                 // for its turn on the connection
	Batch                     // for those that are written with it
	GoEntry                   // for the system call to begin; with SystemCalls
	KernelSend                // in write, until the receiver's socket has the bytes
	SocketQueue               // in the sender's socket after write has returned
	Network                   // all from write to read, where the kernel cannot be seen
	Wake                      // for the kernel to wake the receiver's thread
	Runnable                  // for a processor to run that thread on, or any other that has the message in its hands
	GoScheduler               // for the Go scheduler and epoll, until read begins; with SystemCalls
	ReadCall                  // in read, or from when the thread ran without SystemCalls
	Unread                    // in the receiver's socket, whose thread was busy or stopped
	Decode                    // for the rest of its read to be decoded
	ReceiveQueue              // at the gate, for the subtask
	Process                   // for its records to be processed
	Stages                    // number of stages
)

type stageText struct{ name, blame string }

var stageTexts = [Stages]stageText{
	Fill:         {"fill", "buffers wait to be full or flushed: a shorter flush interval would send them earlier"},
	Credit:       {"credit", "the receiver has no room: it is slower than the sender"},
	SendQueue:    {"send queue", "buffers with credit wait for the connection: it is busy, or its socket takes no more"},
	Batch:        {"batch", "the sender's I/O loop takes long between collecting and writing"},
	GoEntry:      {"go entry", "the sender's thread is interrupted before its write"},
	KernelSend:   {"kernel send", "the kernel takes long to carry the bytes over, or its send buffer is full"},
	SocketQueue:  {"socket queue", "bytes wait in the sender's socket: the network or the receiver's socket is slower than the sender"},
	Network:      {"network", "the time is between write and read, and the kernel cannot be seen there"},
	Wake:         {"wake", "the kernel takes long to wake the receiver's thread"},
	Runnable:     {"run queue", "threads could go on, but no processor is free for them: the machine is saturated"},
	GoScheduler:  {"go scheduler", "the receiver's thread runs, but the Go scheduler has other goroutines to run first"},
	ReadCall:     {"read", "the receiver's read takes long"},
	Unread:       {"unread", "bytes are there, but the receiver does not read: its I/O loop is busy, or the process is stopped"},
	Decode:       {"decode", "the receiver's I/O loop is busy with what it has read"},
	ReceiveQueue: {"receive queue", "buffers wait at the gate: the receiving subtask is slower than its input"},
	Process:      {"process", "the time is spent in the receiving subtask's own operators"},
}

// String is the stage's name in tables.
func (s Stage) String() string {
	if s < Stages {
		return stageTexts[s].name
	}
	return fmt.Sprintf("stage %d", uint8(s))
}

// Blame says what it means that a stage takes the most time.
func (s Stage) Blame() string {
	if s < Stages {
		return stageTexts[s].blame
	}
	return s.String()
}

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Package ebpf attributes the latency of messages between processes to stages, down to
// those in the kernel, and tells where the threads and connections of a process spend
// their time. It is for programs that profile: the data plane does not import it.
//
// Latency follows sampled messages (see package probe) through two uprobes and five
// kernel tracepoints, and matches what they report by the message's place in the TCP
// stream. The stages of a message sum exactly to the time from its first record's
// append to the end of its last one's processing.
//
//	fill ─ credit ─ queue ─ batch ─ go entry ─ kernel send ─ socket queue      sender
//	  ─▶ wake ─ run queue ─ go scheduler ─ read (or unread)                    kernel
//	      ─ decode ─ receive queue ─ process                                   receiver
//
// A stage that was not seen is "n/a" and never 0, and its time belongs to the one after
// it; where the kernel cannot be seen at all, everything between the two programs is
// one stage, network.
//
// # Tiers
//
//	A  the kernel's tracepoints with BTF: everything
//	B  uprobes alone: the stages of both programs, and network between them
//	C  nothing: TCP_INFO, run-queue times of /proc
//	C+ and, for sockets of one's own, the kernel's time stamps (SocketStamps)
//
// Check says which it is, why, and what would help. A needs CAP_BPF and CAP_PERFMON, and
// to look into another user's process CAP_SYS_PTRACE. Both processes must be on this
// machine and in one network namespace.
//
// # Goroutines and ownership
//
// All functions work on the caller's goroutine and have detached everything when they
// return; a context that ends makes them return early with what they have. Matcher is
// pure: no clock, no I/O.
//
// The kernel's programs are in bpf/, compiled ones are committed (see generate.go).
package ebpf

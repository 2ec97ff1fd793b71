// Package probe is where a profiler looks at messages on their way: two places in the
// code that cost a load and a branch while nobody looks (0.3 ns), and about a
// microsecond each when a kernel probe is attached and the message is sampled.
//
// A message is a buffer of the exchange. The sender decides which ones are sampled
// (Sampler) and marks them on the wire, so that both ends report the same ones. What
// happens to one between the two places is kept as time stamps in its Message, and is
// reported along with it: a trap costs forty times as much as reading the clock.
//
//	sender    Opened ─ Sealed ─ Granted ─ Taken ─ WriteBegin (trap) ──▶ the kernel
//	receiver  Read ─ Decoded ─ Dequeued ─ Processed (trap)
//
// # How to attach
//
// WriteBegin and Processed are assembly: they load their argument, a *Message, into
// the first argument register of the C ABI and contain a no-op for the kernel to patch
// (5 bytes on amd64, with one of 1 byte in front for kernels that cannot optimise
// those; 4 bytes on arm64). An uprobe there reads the Message, which is 72 bytes in
// the layout that C gives the same struct.
//
// The gate is 8 bytes behind the 16 bytes of Magic in the writable data of the
// program's file. They are four semaphores of 16 bits, which the kernel increments
// while an uprobe is attached that names one (ref_ctr_offset): any of them opens the
// gate, and which one says how much is sampled (Rate).
//
// Package perf/ebpf does all of this. On systems other than Linux, and on other
// processors, the gate is never open.
//
// # Ownership
//
// Nothing here starts a goroutine, allocates or locks. The gate's memory belongs to
// the kernel; it is read without synchronisation, and whoever sees it change late
// misses some messages at the beginning.
package probe

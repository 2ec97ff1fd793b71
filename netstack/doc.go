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
// # Overtaking
//
// A priority event passes data in two places. In the partition's queue it goes to the
// head (Emit; or Overtake, which also shares what it passed with the caller; or
// Promote, which does that for an ordered event that is stuck). On the way nothing
// passes anything. At the gate it is handed out ahead of all that waits there, and
// Item.Overtaken counts what of its channel that is, for EachQueued. So for each
// channel
//
//	handed out before the event | overtaken at the gate | passed in the partition
//
// is exactly what was written before the event, in order, wherever the link had it;
// what is written after it is behind it at both ends. This holds for several events
// in one channel, for blocked channels, and for ordered events that were made to
// overtake later: by Partition.Promote before they left, by Gate.Promote after they
// arrived, by Gate.Hasten in between.
//
// What Next returned counts as handed out, a record that is cut over buffers as the
// buffers that it is cut into: a gate's user that has the first pieces of a record
// finds the next ones among those overtaken.
//
// # Ownership
//
// A Partition's builders, and a Gate's queues, belong to the subtask's goroutine.
// What a transport touches from its own goroutine is under one mutex each: a
// subpartition's queue (subpartition.mu) and a gate's inbox (Gate.inbox). Neither
// is held while the other is taken, nor while anything is woken. A buffer has one
// owner at a time: builder, queue, transport, inbox, channel queue, consumer; a
// broadcast shares one buffer among several queues by reference count, and so does
// who is told of passed data. Holders of a shared buffer read its payload and release
// it; a transport does not write its header into one (a reference is only ever made
// from one that is held, so a buffer that looks unshared to its holder is).
//
// # Waiting
//
// Nothing here blocks except Partition.Space when a record's output overflows
// even the overdraft, which waits through PartitionOptions.Wait. Everything else
// reports "not now" and wakes the subtask's Waker later. A wake-up is never lost:
// it is registered under the lock that guards the condition.
//
// # Between workers
//
// A Stack holds one connection per pair of workers. All channels share it, both
// ways, and so do control messages. What is sent always has a buffer waiting for
// it (see package credit), so the reader never stops reading, and a channel whose
// consumer stands still does not hold up another.
//
// Everything on a connection is a frame: a header of 32 bytes, little-endian, and a
// payload. A buffer has 32 bytes of headroom for it, so a data frame is contiguous
// in memory, and a full one is exactly one segment:
//
//	 0      1       2         4            8           12            16
//	+------+-------+---------+------------+-----------+-------------+
//	| type | flags | epoch   | channel    | length    | backlog     |
//	+------+-------+---------+------------+-----------+-------------+
//	| sequence                            | payload   | header      |
//	|                                     | CRC32C    | CRC32C      |
//	+-------------------------------------+-----------+-------------+
//	 16                                    24          28            32
//
//	type     channel  length             backlog         sequence
//	data     >= 1     up to a buffer     buffers queued  number of the buffer, from 0
//	event    >= 1     <= MaxEventPayload -               kind
//	credit   >= 1     0                  -               limit: buffers that may be sent
//	backlog  >= 1     0                  buffers queued  -
//	control  0        <= MaxControl      -               -
//	goodbye  0        0                  -               -
//	question 0        0                  -               when it was asked
//	answer   0        16                 -               that of the question
//
//	flags: 1 the buffer ends inside a record, 2 priority event, 4 payload CRC present,
//	8 zeros follow the payload up to the size of a buffer, 16 sampled: a profiler looks
//	at the buffer, at both ends (see package probe)
//
// epoch is the low half of the attempt's number: frames of another attempt are
// refused. The header's checksum is tested before anything in it is believed, and
// the length against its bound before memory is touched. Whatever is wrong closes
// the connection and fails the attempt with a *PeerError; connections are not
// mended, the attempt is started again.
//
// A connection begins with a handshake (hello or refusal, see HandshakeError): both
// ends compare protocol version, job, attempt, worker list, graph, record layouts
// and buffer size. Beyond loopback it is TLS 1.3, with certificates on both sides.
// It ends with a goodbye each way behind all that was queued.
//
// # Clocks
//
// No clocks need to be set alike. With StackOptions.ClockInterval the peers ask each other
// for the time, as in NTP: a question has the asker's time, its answer, besides, when the
// question was received and when the answer left, on the other's clock (any clock, in
// nanoseconds). Package offset has what follows from that, PeerClock the result, with its
// error. Workers of a protocol version without these frames are refused, as all others of
// another version: a job is one program, so this takes nothing from anybody.
//
// # Goroutines
//
// Of a Stack: the acceptor; one per handshake, at most 64; one per peer while it is
// dialed; and the driver. That is one epoll loop for all connections on Linux, and a
// reader and a writer per connection plus one for posted work with TLS or elsewhere.
// Both run the same protocol (conn, inbound, outbound, remoteIn, remoteOut, gateIn),
// which does no I/O, one step at a time. Subtasks hand it work through a mailbox,
// and so does a timer with ClockInterval.
// Close joins them all.
package netstack

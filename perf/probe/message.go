package probe

// Message describes a sampled message to who is attached. Its layout is that of the
// same struct in C: change perf/ebpf/bpf with it.
type Message struct {
	Flow     uint64   // cookie of the connection's socket at this end, 0: none
	Channel  uint64   // the same at both ends
	Sequence uint64   // of the message within its channel
	End      uint64   // offset of the byte behind it in the connection's stream
	Start    uint64   // WriteBegin: offset of the first byte of the write
	Stamps   [4]int64 // of Now, ns; 0: not taken
}

// Indices of Message.Stamps at WriteBegin.
const (
	Opened  = iota // the message's first record was appended
	Sealed         // it was queued to be sent
	Granted        // credit came for it, if it had to wait for that
	Taken          // it was its turn: it was taken out of the queue
)

// Indices of Message.Stamps at Processed.
const (
	Read     = iota // the read that brought its last byte returned
	Decoded         // it was complete and handed to its gate
	Dequeued        // the subtask took it out of the gate
)

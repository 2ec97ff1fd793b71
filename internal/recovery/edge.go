package recovery

import "github.com/overtake-stream/overtake/netstack/record"

// Pattern says what decides where a record of an edge goes.
type Pattern uint8

// Patterns of edges.
const (
	Placed    Pattern = iota // its sender: forward, rebalance, rescale
	Keyed                    // its key group
	Custom                   // the user's partitioner
	Broadcast                // nothing: it goes to all
)

// Edge is an input of a subtask.
type Edge struct {
	Key         string // names it in checkpoints
	Sender      string // UID of the operator that it comes from
	Receiver    string // and of the one that it leads to
	Input       int    // which of the gate's
	Senders     int    // parallelism of the sender, today
	Parallelism int    // of the receiver, today
	Pattern     Pattern
	// Choose asks the partitioner for the receiver among n of an encoded record. Custom.
	Choose func(r *record.Record, n int) (int, error)
}

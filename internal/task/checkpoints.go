package task

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/unaligned"
)

// Checkpoints connects a subtask with the checkpoints of its job.
type Checkpoints struct {
	Subtask uint32           // its number in the job, for the names of its blobs
	Epoch   uint64           // of the attempt
	Auto    bool             // barriers may turn into overtaking ones
	Last    protocol.ID      // checkpoints up to here have ended before
	Blobs   checkpoint.Blobs // where it writes; any goroutine
	Context context.Context  // ends when the attempt does
	UIDs    []string         // of Config.Ops, in order
	Source  string           // UID of Config.Source
	Stores  *Stores
	Outputs []Output     // by partition, as in the chain's Context
	Inputs  []Channel    // by channel of the gate
	Tell    func(Notice) // takes what the subtask has to say; any goroutine, must not block
	// Combiner, if set, lets subtasks share blobs.
	Combiner *unaligned.Combiner
	// Prune, if set, removes those of the worker's local copies that keep is false for.
	Prune func(keep func(checkpoint.BlobName) bool) error
	// Defer, if set, runs the asynchronous part of a checkpoint at a time of its choice,
	// before the subtask's End; nil: on a goroutine.
	Defer func(write func())
	Now   func() int64 // Unix nanoseconds
}

// Channel names a channel for the life of the job's state.
type Channel = unaligned.Channel

// Output names the channels of a partition.
type Output struct {
	Edge  string
	From  int
	First int // the subtask that subpartition 0 leads to
}

// NoticeKind says what a Notice is.
type NoticeKind uint8

// What a subtask has to say.
const (
	// Acked: everything of checkpoint ID is durable.
	Acked NoticeKind = iota
	// Declined: the subtask cannot take part in checkpoint ID. Err.
	Declined
	// Finished: all input has ended and everything is sent.
	Finished
)

// Notice is what a subtask says to the coordinator.
type Notice struct {
	Kind  NoticeKind
	ID    protocol.ID
	Saved []Saved
	Cost  Cost
	Err   error
}

// Saved is what one operator of the subtask has in a checkpoint.
type Saved struct {
	UID      string
	Finished bool
	Parts    []checkpoint.Part
}

// Cost is what a checkpoint cost a subtask.
type Cost struct {
	Delay    time.Duration // from the trigger to the first barrier
	Align    time.Duration // from the first barrier to the last
	Pause    time.Duration // nothing was processed: the synchronous part
	Async    time.Duration // from there until everything was durable
	Bytes    int64         // written
	InBytes  int64         // captured from input channels
	OutBytes int64         // and from output queues
	Overtook bool          // its barriers have overtaken data
}

// errSuperseded is why a checkpoint is declined whose barrier will not come.
var errSuperseded = errors.New("a later barrier has come on one of its channels")

// checkpoints is the state of a subtask's checkpoints. It belongs to the subtask's
// goroutine, but for what says otherwise.
type checkpoints struct {
	Checkpoints
	machine  *protocol.Barriers
	rounds   []*round
	blank    atomic.Pointer[round] // for the next one; made by snapshot writers
	passing  []netstack.Passing    // by partition: what barriers pass is captured by overtook
	overtook *round
	ordered  bool // an Auto barrier was sent that waits behind data
	splits   [][]byte
	numbers  []int // of splits
	scratch  [scratchSize]byte
	subs     int  // subpartitions of all outputs
	finished bool // everything is sent
	ending   bool // the job's last checkpoint is complete
	held     bool // a source that stands still for a stop with a savepoint
	heldBy   protocol.ID
	shared   atomic.Int64     // buffers that captures hold; changed by snapshot writers too
	copies   unaligned.Memory // of what captures do not share
	writers  sync.WaitGroup   // snapshot writers
	first    map[protocol.ID]int64
	looked   time.Duration // when queued barriers were last looked for
	missed   bool          // it was too early to look again

	underway  protocol.ID // has begun here, and is not known to have ended; 0: none
	promoting protocol.ID // barriers up to here are to be taken out of the gate's queues
	hastened  protocol.ID // barriers up to here overtake on their way
}

// scratchSize is how much an operator may have besides keyed state without an allocation.
const scratchSize = 512

func newCheckpoints(c *Checkpoints, gate *netstack.Gate) *checkpoints {
	channels := 0
	if gate != nil {
		channels = gate.Channels()
	}
	return &checkpoints{
		Checkpoints: *c, machine: protocol.NewBarriers(channels, c.Last), first: map[protocol.ID]int64{},
	}
}

// over notes that a checkpoint has ended, and those before it.
func (c *checkpoints) over(id protocol.ID) {
	if id >= c.underway {
		c.underway = 0
	}
}

func (c *checkpoints) find(id protocol.ID) *round {
	for _, r := range c.rounds {
		if r.barrier.ID == id {
			return r
		}
	}
	return nil
}

// spare reports whether a round may hold on to one more buffer. At least every second
// one is left to the exchange, however slowly captures are written: each channel has
// two or more, and captures share one for each.
func (c *checkpoints) spare(r *round) bool {
	return !r.copies && c.shared.Load() < int64(len(c.Inputs)+c.subs)
}

func (c *checkpoints) remove(r *round) {
	for i, o := range c.rounds {
		if o == r {
			c.rounds = append(c.rounds[:i], c.rounds[i+1:]...)
			return
		}
	}
}

package ebpf

import (
	"context"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// LatencyOptions say how Latency looks. The zero value samples adaptively and follows
// messages without system calls.
type LatencyOptions struct {
	// Rate says how many messages are sampled.
	Rate probe.Rate

	// SystemCalls also looks at the beginning of system calls, for the stages go entry and
	// go scheduler. All threads of the machine pay for that: 0.1 us per call.
	SystemCalls bool

	// Histograms counts how long kernel stages take in the kernel, for all data and not only for
	// sampled messages.
	Histograms bool

	// NoEvents follows no messages at all: for long runs, with Histograms.
	NoEvents bool

	// OnMessage is lent each message that has been put together, if it is set. It runs on
	// Latency's goroutine.
	OnMessage func(*Message)

	// Processes returns the processes to look at as they are now. It is asked once one has ended,
	// until another one is in its place, which is then looked at, too. An error means that it
	// cannot be told yet. nil: what takes a process's place is not looked at. It runs on Latency's
	// goroutine, and has a second.
	Processes func(ctx context.Context) ([]int, error)

	// OnAttached is called once everything is attached, if it is set.
	OnAttached func()
}

// Distribution describes times.
type Distribution struct {
	Count uint64        `json:"count"` // 0: n/a, and the rest says nothing
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p999_ns"`
	Max   time.Duration `json:"max_ns"`
	Mean  time.Duration `json:"mean_ns"`
}

// StageRow is a stage of an edge. Percentiles are of the messages that had it; Mean and Share
// are of all, so that they add up to the total.
type StageRow struct {
	Stage Stage `json:"stage"`
	Distribution
	Share float64 `json:"share"` // of the time of all messages, 0 to 1
}

// Edge is one direction of a connection between two processes.
type Edge struct {
	Sender   int          `json:"sender_pid"`
	Receiver int          `json:"receiver_pid"`
	From     string       `json:"from"` // addresses
	To       string       `json:"to"`
	Channels int          `json:"channels"` // that had messages
	Total    Distribution `json:"total"`
	Stages   []StageRow   `json:"stages"`   // those that were seen, in order
	Missing  []Stage      `json:"missing"`  // those that no message had, or that were not looked for: n/a
	Dominant Stage        `json:"dominant"` // the stage with the greatest share
	Blame    string       `json:"blame"`
}

// Histogram counts times by powers of two, as the kernel does.
type Histogram struct {
	Name    string     `json:"name"`
	Buckets [64]uint64 `json:"buckets"` // [i]: of 2^i to 2^(i+1)-1 ns
}

// Count is the number of times counted.
func (h *Histogram) Count() (n uint64) {
	for _, b := range h.Buckets {
		n += b
	}
	return n
}

// Quantile is an upper bound of the least time that a share q of all is not above, at most twice
// that; 0 if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank, seen := uint64(q*float64(h.Count())+0.5), uint64(0)
	for i, b := range h.Buckets {
		if seen += b; b > 0 && seen >= rank {
			return time.Duration(min(uint64(1)<<(i+1), 1<<63) - 1)
		}
	}
	return 0
}

// LatencyReport is what Latency found.
type LatencyReport struct {
	Tier     Tier          `json:"tier"`
	Duration time.Duration `json:"duration_ns"`
	Edges    []Edge        `json:"edges"`
	Refusals []Refusal     `json:"refusals"`

	MatchCounts        // what became of the messages
	Drops       uint64 `json:"drops"`  // events that had no room: their messages are incomplete
	Faults      uint64 `json:"faults"` // messages that could not be read from the program's memory

	Histograms  []Histogram    `json:"histograms"`
	Connections []Connection   `json:"connections"` // at the end
	Followed    int            `json:"followed"`    // connections between the processes, over which messages can be followed
	Moved       uint64         `json:"moved_bytes"` // over these, meanwhile
	Gone        []int          `json:"gone"`        // processes that have ended meanwhile
	Joined      []int          `json:"joined"`      // those that have come in their places, and are looked at since
	OneProcess  bool           `json:"one_process"` // the job has no other process: for who knows to set
	NoMessages  bool           `json:"no_messages"` // LatencyOptions.NoEvents
	RunQueues   []ProcessQueue `json:"run_queues"`  // from /proc, in all tiers

	Cost OwnCost `json:"cost"`
}

// OwnCost is what looking has cost.
type OwnCost struct {
	CPU    time.Duration `json:"cpu_ns"`    // of this process
	Attach time.Duration `json:"attach_ns"` // until everything was attached
	Events uint64        `json:"events"`    // reported by the kernel
	Traps  uint64        `json:"traps"`     // of them, of the programs looked at

	// Trap is the time of a trap as measured afterwards, nil if that was not possible, and Lost what the
	// programs lost to all of them.
	Trap *time.Duration `json:"trap_ns"`
	Lost *time.Duration `json:"lost_ns"`
}

// ProcessQueue is how long a process's threads waited for a processor.
type ProcessQueue struct {
	PID    int           `json:"pid"`
	Ran    time.Duration `json:"ran_ns"`
	Waited time.Duration `json:"waited_ns"`
	Slices uint64        `json:"slices"` // times that a thread got a processor
	Ended  int           `json:"ended"`  // threads that ended meanwhile: what they did is not in the sums
	NA     string        `json:"na,omitempty"`
}

// Dominant returns the edge that has the most time in its messages, nil if none has any.
func (r *LatencyReport) Dominant() *Edge {
	var most *Edge
	for i := range r.Edges {
		if e := &r.Edges[i]; most == nil || e.time() > most.time() {
			most = e
		}
	}
	return most
}

func (e *Edge) time() float64 { return float64(e.Total.Count) * float64(e.Total.Mean) }

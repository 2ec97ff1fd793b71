package perf

import "time"

// JobSnapshot is what one worker's part of a job has done so far, and how it is at the
// moment: plain data in base units, seconds and bytes. Counts and times begin with the
// attempt, that is, anew with each restart. Figures are read one after the other while
// the job goes on, so sums are of slightly different moments.
type JobSnapshot struct {
	Job      string    `json:"job"`
	Worker   int       `json:"worker"`
	Workers  int       `json:"workers"`
	At       time.Time `json:"at"`
	PID      int       `json:"pid"`      // of the worker's process: another one if that was started again; 0: not told
	Restarts int       `json:"restarts"` // that this process has seen
	Ended    bool      `json:"ended"`    // the job, not only this attempt
	Measured bool      `json:"measured"` // false: built with the tag noperf; what has to be measured is 0

	Operators   []OperatorSnapshot   `json:"operators"` // chains of operators, all of the job's, in the order of the job
	Edges       []EdgeSnapshot       `json:"edges"`     // between chains, all of the job's
	Buffers     BufferSnapshot       `json:"buffers"`
	Network     *NetworkSnapshot     `json:"network,omitempty"`     // nil: there is no other worker
	Connections []ConnectionSnapshot `json:"connections,omitempty"` // to other workers
	Latencies   []LatencySnapshot    `json:"latencies,omitempty"`   // none without latency markers
	Checkpoints []CheckpointSnapshot `json:"checkpoints,omitempty"` // that are complete, the first worker's; oldest first
	Runtime     RuntimeSnapshot      `json:"runtime"`
}

// OperatorSnapshot is a chain of operators that share a subtask.
type OperatorSnapshot struct {
	ID          string            `json:"id"`   // of the first operator: its UID, if it has one
	Name        string            `json:"name"` // of all: "read -> split"
	Parallelism int               `json:"parallelism"`
	Source      bool              `json:"source"`
	Subtasks    []SubtaskSnapshot `json:"subtasks"` // this worker's
}

// SubtaskSnapshot is one subtask. Wall is Busy, Idle and Backpressured.
type SubtaskSnapshot struct {
	Index         int     `json:"index"`
	Running       bool    `json:"running"`
	Wall          float64 `json:"wall_seconds"` // from its start until now or its end
	Busy          float64 `json:"busy_seconds"`
	Idle          float64 `json:"idle_seconds"`          // waiting for input
	Backpressured float64 `json:"backpressured_seconds"` // waiting for output
	Blocked       float64 `json:"blocked_seconds"`       // of Backpressured: hard, in the middle of a record, where checkpoints wait too

	RecordsIn  uint64 `json:"records_in"`
	RecordsOut uint64 `json:"records_out"` // to other chains; one that goes to several receivers counts for each
	BuffersIn  uint64 `json:"buffers_in"`
	BuffersOut uint64 `json:"buffers_out"`
	BytesIn    uint64 `json:"bytes_in"`
	BytesOut   uint64 `json:"bytes_out"`

	QueuedIn  int `json:"queued_in"`  // buffers in its gate
	QueuedOut int `json:"queued_out"` // buffers in its output queues

	// Watermark is the subtask's event time, Unix time; Lag is how far it is behind the
	// wall clock. nil: there is none, or it is over.
	Watermark *float64 `json:"watermark_seconds,omitempty"`
	Lag       *float64 `json:"watermark_lag_seconds,omitempty"`

	// Process is the busy time for a buffer of the input; of a source, for the records
	// between two looks at the clock, about 50 µs.
	Process Distribution `json:"process"`
}

// PerRecord is the mean busy time per record read, in seconds.
func (s *SubtaskSnapshot) PerRecord() float64 {
	if s.RecordsIn == 0 {
		return 0
	}
	return s.Busy / float64(s.RecordsIn)
}

// EdgeSnapshot is a stream between two chains: what this worker's subtasks send and
// receive on it.
type EdgeSnapshot struct {
	From    string `json:"from"` // OperatorSnapshot.ID
	To      string `json:"to"`
	Input   int    `json:"input"`   // which input of To
	Pattern string `json:"pattern"` // "keyBy"

	Sent     Traffic `json:"sent"`
	Received Traffic `json:"received"` // its Records are not counted

	FlushDelay  Distribution `json:"flush_delay"`  // first record in a buffer → buffer queued for the receiver
	BufferWait  Distribution `json:"buffer_wait"`  // a sender had no buffer to write to, once for each wait
	OutputQueue Distribution `json:"output_queue"` // buffer queued → on its way
	CreditWait  Distribution `json:"credit_wait"`  // of that, without credit: a channel had data and no credit, once for each time it ran out
	QueueTime   Distribution `json:"queue_time"`   // buffer arrived at the receiver's gate → dequeued

	Senders   []SenderSnapshot   `json:"senders"`
	Receivers []ReceiverSnapshot `json:"receivers"`
}

// Traffic is what has passed one end of an edge. What goes to several receivers counts
// for each.
type Traffic struct {
	Records uint64 `json:"records"`
	Buffers uint64 `json:"buffers"`
	Bytes   uint64 `json:"bytes"`
}

// Add adds other.
func (t *Traffic) Add(other Traffic) {
	t.Records += other.Records
	t.Buffers += other.Buffers
	t.Bytes += other.Bytes
}

// SenderSnapshot is a subtask's output to an edge.
type SenderSnapshot struct {
	Subtask  int `json:"subtask"`
	Channels int `json:"channels"`
	Traffic
	QueuedBuffers   int `json:"queued_buffers"`
	FullChannels    int `json:"full_channels"`    // whose queue is full
	Credits         int `json:"credits"`          // buffers that may be sent at once
	StarvedChannels int `json:"starved_channels"` // that have data and no credit
	PoolHeld        int `json:"pool_held"`        // buffers that the output's pool holds
	PoolLimit       int `json:"pool_limit"`       // and may hold

	FlushDelay  Distribution `json:"flush_delay"`
	BufferWait  Distribution `json:"buffer_wait"`
	OutputQueue Distribution `json:"output_queue"`
	CreditWait  Distribution `json:"credit_wait"`
}

// ReceiverSnapshot is a subtask's input from an edge.
type ReceiverSnapshot struct {
	Subtask  int `json:"subtask"`
	Channels int `json:"channels"`
	Traffic
	QueuedBuffers int          `json:"queued_buffers"`
	QueueTime     Distribution `json:"queue_time"`
}

// BufferSnapshot says who holds the worker's network buffers.
type BufferSnapshot struct {
	SegmentBytes int            `json:"segment_bytes"`
	Segments     int            `json:"segments"`
	Free         int            `json:"free"`
	InUse        int            `json:"in_use"`
	States       map[string]int `json:"states"` // buffers in use, by what for; "idle": they wait in a pool
	Pools        []PoolSnapshot `json:"pools"`

	ResidentBytes int64 `json:"resident_bytes"` // that are in memory; 0 on systems other than Linux
	FreedBytes    int64 `json:"freed_bytes"`    // given back to the system so far, since they lay idle
}

// PoolSnapshot is the account of a pool of buffers.
type PoolSnapshot struct {
	Name   string         `json:"name"`
	Min    int            `json:"min"`
	Limit  int            `json:"limit"`
	Held   int            `json:"held"`
	States map[string]int `json:"states,omitempty"`
}

// NetworkSnapshot is what the worker's connections have done.
type NetworkSnapshot struct {
	Reads      uint64 `json:"reads"` // system calls
	Writes     uint64 `json:"writes"`
	BytesIn    uint64 `json:"bytes_in"` // with headers
	BytesOut   uint64 `json:"bytes_out"`
	FramesIn   uint64 `json:"frames_in"`
	FramesOut  uint64 `json:"frames_out"`
	HandedOver uint64 `json:"frames_handed_over"` // data frames received into the buffer that was handed on, with no copy
}

// ConnectionSnapshot is what waits for another worker, and what that has room for: sums of
// all channels that this worker sends to it, in buffers.
type ConnectionSnapshot struct {
	Worker   int    `json:"worker"`
	Peer     int    `json:"peer"`   // the other worker
	Cookie   uint64 `json:"cookie"` // the kernel's name of the socket at this end, 0: it has none
	Channels int    `json:"channels"`

	Granted         uint64 `json:"granted"`          // that the other worker has given credit for
	Credits         int    `json:"credits"`          // of them, left: they may be sent at once
	StarvedChannels int    `json:"starved_channels"` // that have data and no credit
	QueuedBuffers   int    `json:"queued_buffers"`
	QueuedBytes     int    `json:"queued_bytes"` // in these buffers
}

// LatencySnapshot is how long latency markers have taken from a source to a subtask.
type LatencySnapshot struct {
	Source      string       `json:"source"`   // its name
	Operator    string       `json:"operator"` // its name
	Subtask     int          `json:"subtask"`  // of the operator
	Sink        bool         `json:"sink"`     // nothing comes behind the operator
	Times       Distribution `json:"times"`
	OffsetError float64      `json:"offset_error_seconds"` // by how much any time may be wrong, since workers' clocks differ
	Lost        uint64       `json:"lost"`                 // markers that were not measured
}

// CheckpointSnapshot is a complete checkpoint.
type CheckpointSnapshot struct {
	ID            uint64    `json:"id"`
	Savepoint     bool      `json:"savepoint,omitempty"`
	Triggered     time.Time `json:"triggered"`
	Duration      float64   `json:"duration_seconds"`
	Pause         float64   `json:"pause_seconds"`
	Alignment     float64   `json:"alignment_seconds"`
	Delay         float64   `json:"delay_seconds"`
	Bytes         int64     `json:"bytes"`
	FullBytes     int64     `json:"full_bytes"`
	InFlightBytes int64     `json:"in_flight_bytes"`
	Overtook      bool      `json:"overtook"`
}

// Sum adds up the subtasks. Index is their number; Running that any is; the watermark is
// the least, and the lag the greatest.
func (o *OperatorSnapshot) Sum() SubtaskSnapshot {
	sum := SubtaskSnapshot{Index: len(o.Subtasks)}
	for i := range o.Subtasks {
		s := &o.Subtasks[i]
		sum.Running = sum.Running || s.Running
		sum.Wall += s.Wall
		sum.Busy += s.Busy
		sum.Idle += s.Idle
		sum.Backpressured += s.Backpressured
		sum.Blocked += s.Blocked
		sum.RecordsIn += s.RecordsIn
		sum.RecordsOut += s.RecordsOut
		sum.BuffersIn += s.BuffersIn
		sum.BuffersOut += s.BuffersOut
		sum.BytesIn += s.BytesIn
		sum.BytesOut += s.BytesOut
		sum.QueuedIn += s.QueuedIn
		sum.QueuedOut += s.QueuedOut
		if s.Watermark != nil && (sum.Watermark == nil || *s.Watermark < *sum.Watermark) {
			sum.Watermark, sum.Lag = s.Watermark, s.Lag
		}
		sum.Process = sum.Process.Merge(s.Process)
	}
	return sum
}

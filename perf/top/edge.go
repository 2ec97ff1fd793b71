package top

import "github.com/overtake-stream/overtake/perf"

// Edge is a stream between two chains of operators, over all workers.
type Edge struct {
	From    string `json:"from"` // OperatorSnapshot.ID
	To      string `json:"to"`
	Input   int    `json:"input"`
	Pattern string `json:"pattern"`

	Records float64 `json:"records_per_second"` // sent; what goes to several receivers counts for each
	Bytes   float64 `json:"bytes_per_second"`
	Buffers float64 `json:"buffers_per_second"`

	QueuedOut int     `json:"queued_buffers_out"` // at senders
	QueuedIn  int     `json:"queued_buffers_in"`  // at receivers
	QueueP50  float64 `json:"queue_p50_seconds"`
	QueueP99  float64 `json:"queue_p99_seconds"`
	Queued    uint64  `json:"queue_count"`

	Credits      int     `json:"credits"`
	Channels     int     `json:"channels"`
	Starved      int     `json:"starved_channels"` // that have data and no credit
	CreditWaits  float64 `json:"credit_waits_per_second"`
	CreditP99    float64 `json:"credit_wait_p99_seconds"`
	BufferWaits  float64 `json:"buffer_waits_per_second"`
	BufferP99    float64 `json:"buffer_wait_p99_seconds"`
	FlushP50     float64 `json:"flush_delay_p50_seconds"`
	PoolHeld     int     `json:"pool_held_buffers"`
	PoolLimit    int     `json:"pool_limit_buffers"`
	FullChannels int     `json:"full_channels"`
}

func edgeOf(e *perf.EdgeSnapshot, seconds float64) Edge {
	row := Edge{
		From: e.From, To: e.To, Input: e.Input, Pattern: e.Pattern,
		Records: per(e.Sent.Records, seconds), Bytes: per(e.Sent.Bytes, seconds), Buffers: per(e.Sent.Buffers, seconds),
		QueueP50: e.QueueTime.P50, QueueP99: e.QueueTime.P99, Queued: e.QueueTime.Count,
		CreditWaits: per(e.CreditWait.Count, seconds), CreditP99: e.CreditWait.P99,
		BufferWaits: per(e.BufferWait.Count, seconds), BufferP99: e.BufferWait.P99, FlushP50: e.FlushDelay.P50,
	}
	for i := range e.Senders {
		s := &e.Senders[i]
		row.QueuedOut += s.QueuedBuffers
		row.Credits += s.Credits
		row.Channels += s.Channels
		row.Starved += s.StarvedChannels
		row.FullChannels += s.FullChannels
		row.PoolHeld += s.PoolHeld
		row.PoolLimit += s.PoolLimit
	}
	for i := range e.Receivers {
		row.QueuedIn += e.Receivers[i].QueuedBuffers
	}
	return row
}

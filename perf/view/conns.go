package view

import (
	"fmt"
	"io"
	"time"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/ebpf"
)

// Conn is a connection, and what the job says of the channels that this end sends over it.
type Conn struct {
	ebpf.Connection
	LimitedBy string                   `json:"limited_by"`
	Channels  *perf.ConnectionSnapshot `json:"channels,omitempty"` // nil: n/a
}

// WriteConns prints a line for each connection.
func WriteConns(w io.Writer, list []Conn) error {
	p := newPrinter(w)
	p.line("PID\tLOCAL\tREMOTE\tSTATE\tRTT\tMIN RTT\tCWND\tSENT\tRECEIVED\tUNSENT\tUNACKED\tUNREAD\tRETRANS\tLIMITED BY\tRWND\tSNDBUF\tCHANNELS\tGRANTED\tCREDITS\tSTARVED\tQUEUED\tBYTES\t")
	for i := range list {
		c := &list[i]
		channels := "n/a\tn/a\tn/a\tn/a\tn/a\tn/a"
		if n := c.Channels; n != nil {
			channels = fmt.Sprintf("%d\t%d\t%d\t%d\t%d\t%s", n.Channels, n.Granted, n.Credits, n.StarvedChannels, n.QueuedBuffers, bytes(uint64(n.QueuedBytes)))
		}
		known := func(figure, text string) string {
			if c.Lacks(figure) {
				return "n/a"
			}
			return text
		}
		p.line("%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t",
			c.PID, c.From, c.To, c.State, measured(c.RTT), measured(c.MinRTT), known("cwnd", fmt.Sprint(c.Window)),
			known("sent_bytes", bytes(c.Sent)), known("received_bytes", bytes(c.Received)), known("unsent_bytes", bytes(c.Unsent)),
			bytes(c.Inflight), bytes(c.Unread), known("retransmits", fmt.Sprint(c.Retransmits)), c.LimitedBy,
			percent(c.WindowLimited, c.Busy), percent(c.BufferLimited, c.Busy), channels)
	}
	if len(list) == 0 {
		p.line("no TCP connections")
	}
	return p.flush()
}

// measured is a time that is 0 until it was measured first.
func measured(d time.Duration) string {
	if d == 0 {
		return "n/a"
	}
	return short(d)
}

func percent(part, all time.Duration) string {
	if all <= 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

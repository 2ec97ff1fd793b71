package view

import (
	"fmt"
	"io"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// Conn is a connection, and how much credit its process has.
type Conn struct {
	ebpf.Connection
	LimitedBy string `json:"limited_by"`
	Level     *Level `json:"credit,omitempty"` // of all outputs of the process; nil: n/a
}

// WriteConns prints a line for each connection.
func WriteConns(w io.Writer, list []Conn) error {
	p := newPrinter(w)
	p.line("PID\tLOCAL\tREMOTE\tSTATE\tRTT\tMIN RTT\tCWND\tSENT\tRECEIVED\tUNSENT\tUNACKED\tUNREAD\tRETRANS\tLIMITED BY\tRWND\tSNDBUF\tCREDITS\tSTARVED\t")
	for i := range list {
		c := &list[i]
		credits, starved := "n/a", "n/a"
		if c.Level != nil {
			credits, starved = fmt.Sprint(c.Level.Credits), fmt.Sprint(c.Level.Starved)
		}
		p.line("%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t",
			c.PID, c.From, c.To, c.State, short(c.RTT), short(c.MinRTT), c.Window, bytes(c.Sent), bytes(c.Received),
			bytes(c.Unsent), bytes(c.Inflight), bytes(c.Unread), c.Retransmits, c.LimitedBy,
			percent(c.WindowLimited, c.Busy), percent(c.BufferLimited, c.Busy), credits, starved)
	}
	if len(list) == 0 {
		p.line("no TCP connections")
	}
	return p.flush()
}

func percent(part, all time.Duration) string {
	if all <= 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

package ebpf

import (
	"net/netip"
	"slices"
	"time"
)

// Connection is what the kernel tells of a TCP connection, for the end that a process
// holds.
type Connection struct {
	PID           int            `json:"pid"`
	Local, Remote netip.AddrPort `json:"-"`
	From          string         `json:"local"`
	To            string         `json:"remote"`
	Cookie        uint64         `json:"cookie"`
	State         string         `json:"state"`

	RTT         time.Duration `json:"rtt_ns"` // 0, as MinRTT: n/a, it was not measured yet
	RTTVar      time.Duration `json:"rttvar_ns"`
	MinRTT      time.Duration `json:"min_rtt_ns"`
	Retransmits uint64        `json:"retransmits"` // segments, since the beginning
	Window      uint32        `json:"cwnd"`        // congestion window, segments

	Unsent   uint64 `json:"unsent_bytes"`   // in the send buffer, not sent yet
	Unread   uint64 `json:"unread_bytes"`   // in the receive buffer
	Inflight uint64 `json:"unacked_bytes"`  // in the send buffer, not acknowledged
	Sent     uint64 `json:"sent_bytes"`     // acknowledged, since the beginning
	Received uint64 `json:"received_bytes"` // since the beginning

	// How long sending was under way, and what held it up, since the beginning.
	Busy          time.Duration `json:"busy_ns"`
	WindowLimited time.Duration `json:"rwnd_limited_ns"`   // by the receiver's window
	BufferLimited time.Duration `json:"sndbuf_limited_ns"` // by the send buffer's size

	DeliveryRate uint64 `json:"delivery_rate"` // bytes per second, as measured last
	PacingRate   uint64 `json:"pacing_rate"`   // bytes per second, 0: not limited

	// Missing are the JSON names of the figures that this kernel does not have: n/a, and 0 here.
	Missing []string `json:"missing,omitempty"`
}

// Lacks reports whether the kernel does not tell a figure, by its JSON name.
func (c *Connection) Lacks(figure string) bool { return slices.Contains(c.Missing, figure) }

// Limit says what holds the connection's sender up, most of the time that it is sending;
// "n/a" if the kernel does not tell.
func (c *Connection) Limit() string {
	switch {
	case c.Lacks("sndbuf_limited_ns"): // the last of the figures that it takes
		return "n/a"
	case c.Busy == 0:
		return "idle"
	case c.WindowLimited > c.Busy/2:
		return "receiver's window"
	case c.BufferLimited > c.Busy/2:
		return "send buffer"
	}
	return "application"
}

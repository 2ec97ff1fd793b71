package ebpf

import (
	"encoding/binary"
	"slices"
	"testing"
)

// An older kernel tells less of a connection: what it does not tell is n/a.
func TestFiguresOfOlderKernels(t *testing.T) {
	answer := func(info int) []byte {
		msg := make([]byte, diagMessage, diagMessage+4+info)
		msg[1] = 1 // established
		if info == 0 {
			return msg
		}
		msg = binary.NativeEndian.AppendUint16(msg, uint16(4+info))
		msg = binary.NativeEndian.AppendUint16(msg, diagInfo)
		return append(msg, make([]byte, info)...)
	}
	for name, c := range map[string]struct {
		info, lacks int
		has, not    string
		limit       string
	}{
		"none":      {0, 13, "", "rtt_ns", "n/a"},
		"Linux 2.6": {104, 9, "retransmits", "pacing_rate", "n/a"},
		"Linux 4.1": {136, 6, "received_bytes", "unsent_bytes", "n/a"},
		"cut":       {190, 1, "rwnd_limited_ns", "sndbuf_limited_ns", "n/a"},
		"now":       {232, 0, "sndbuf_limited_ns", "", "idle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, conn := diagConnection(answer(c.info))
			if len(conn.Missing) != c.lacks || conn.Lacks(c.has) || conn.Lacks(c.not) != (c.not != "") || conn.Limit() != c.limit {
				t.Errorf("missing %v, limited by %s", conn.Missing, conn.Limit())
			}
			if conn.State != "established" || slices.Contains(conn.Missing, "unread_bytes") {
				t.Errorf("%+v", conn)
			}
		})
	}
}

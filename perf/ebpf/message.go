package ebpf

import "time"

// Message is a sampled message that both ends have reported.
type Message struct {
	Direction         uint32
	Channel, Sequence uint64
	Sender, Receiver  uint32 // process ids
	Opened, Ended     int64  // when its first record was appended and its last processed; CLOCK_MONOTONIC, ns

	// Spent is the time in each stage that was seen. The sum is Total, and Ended-Opened, exactly.
	Spent [Stages]time.Duration
	seen  uint32
}

// Seen reports whether a stage was seen. If not, Spent says nothing of it.
func (m *Message) Seen(s Stage) bool { return m.seen&(1<<s) != 0 }

// Total is the time from the append of its first record until its last was processed.
func (m *Message) Total() (sum time.Duration) {
	for _, d := range m.Spent {
		sum += d
	}
	return sum
}

// add adds to the time in a stage, which was seen.
func (m *Message) add(s Stage, d time.Duration) {
	m.Spent[s] += d
	m.seen |= 1 << s
}

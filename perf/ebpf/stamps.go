package ebpf

import "time"

// StampKind says what the kernel has stamped.
type StampKind uint8

// The kinds, in the order in which they happen to a byte.
const (
	StampScheduled    StampKind = iota // it was given to the queue of the device
	StampSent                          // the device has it
	StampAcknowledged                  // the peer's kernel has acknowledged it
)

// String names the kind.
func (k StampKind) String() string {
	return [...]string{"scheduled", "sent", "acknowledged"}[min(k, StampAcknowledged)]
}

// Stamp is the time at which something happened to a byte of a connection's stream.
type Stamp struct {
	Kind   StampKind
	Offset uint32    // of the last byte of a write, counted from where stamps were asked for, modulo 2^32
	Time   time.Time // the system's clock, not the monotonic one
}

package task

import (
	"encoding/binary"
	"fmt"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/netstack"
)

// barrierEvent is the kind of the event that is a barrier. Its payload is the ID, the
// base, the trigger time and the timeout as u64, little-endian, then the mode and flags.
const barrierEvent = netstack.FirstUserEvent

const barrierSize = 34

const (
	flagStop byte = 1 << iota
	flagSavepoint
)

// barrierMessage is the memory of a barrier as an event.
type barrierMessage struct {
	event   netstack.Event
	payload [barrierSize]byte
}

// set makes it a barrier, which overtakes if priority is set.
func (m *barrierMessage) set(b protocol.Barrier, priority bool) *netstack.Event {
	p := m.payload[:0]
	for _, v := range [...]uint64{uint64(b.ID), uint64(b.Base), uint64(b.Triggered), uint64(b.Timeout)} {
		p = binary.LittleEndian.AppendUint64(p, v)
	}
	var flags byte
	if b.Stop {
		flags |= flagStop
	}
	if b.Savepoint {
		flags |= flagSavepoint
	}
	m.event = netstack.Event{Kind: barrierEvent, Priority: priority, Payload: append(p, byte(b.Mode), flags)}
	return &m.event
}

// newBarrierEvent returns a barrier as an event, which overtakes if priority is set.
func newBarrierEvent(b protocol.Barrier, priority bool) *netstack.Event {
	return new(barrierMessage).set(b, priority)
}

// parseBarrier is the inverse. An event of another kind is no barrier.
func parseBarrier(e *netstack.Event) (b protocol.Barrier, ok bool, err error) {
	if e.Kind != barrierEvent {
		return b, false, nil
	}
	p := e.Payload
	if len(p) != barrierSize || protocol.Mode(p[32]) > protocol.Auto {
		return b, false, fmt.Errorf("task: % x is no barrier: do all workers run the same program?", p)
	}
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(p[8*i:]) }
	return protocol.Barrier{
		ID: protocol.ID(u64(0)), Base: protocol.ID(u64(1)), Triggered: int64(u64(2)), Timeout: int64(u64(3)),
		Mode: protocol.Mode(p[32]), Stop: p[33]&flagStop != 0, Savepoint: p[33]&flagSavepoint != 0,
	}, true, nil
}

// isBarrier returns a test for the barrier of a checkpoint; 0 is any.
func isBarrier(id, below protocol.ID) func(*netstack.Event) bool {
	return func(e *netstack.Event) bool {
		b, ok, err := parseBarrier(e)
		return ok && err == nil && (id == 0 || b.ID == id) && (below == 0 || b.ID < below)
	}
}

package netstack

import (
	"net"
	"time"
)

// SetTuning varies the driver for measurements: lock a thread, yield, tell the
// scheduler of system calls, spin for a fixed time.
func (o *StackOptions) SetTuning(lock, yield, block bool, spin time.Duration) {
	o.tuning = tuning{set: true, lock: lock, yield: yield, block: block, spin: spin}
}

// RawFrame is a frame as a test composes it, right or wrong.
type RawFrame struct {
	Type     uint8
	Flags    uint8
	Epoch    uint16
	Channel  uint32
	Length   uint32 // 0: that of Payload
	Backlog  uint32
	Sequence uint64
	Sum      uint32
	Payload  []byte
}

// Types and flags of frames.
const (
	FrameData     = uint8(frameData)
	FrameEvent    = uint8(frameEvent)
	FrameCredit   = uint8(frameCredit)
	FrameBacklog  = uint8(frameBacklog)
	FrameControl  = uint8(frameControl)
	FrameGoodbye  = uint8(frameGoodbye)
	FrameAsk      = uint8(frameAsk)
	FrameAnswer   = uint8(frameAnswer)
	FlagPartial   = uint8(flagPartial)
	FlagPriority  = uint8(flagPriority)
	FlagChecksum  = uint8(flagChecksum)
	MaxEvents     = maxEvents
	MaxHandshakes = maxHandshakes
)

// Encode returns the frame's bytes with a correct header checksum.
func (f RawFrame) Encode() []byte {
	h := header{kind: frameType(f.Type), flags: f.Flags, epoch: f.Epoch, channel: f.Channel, length: f.Length,
		backlog: f.Backlog, sequence: f.Sequence, payload: f.Sum}
	if h.length == 0 {
		h.length = uint32(len(f.Payload))
	}
	b := make([]byte, frameHeaderSize)
	h.put(b)
	return append(b, f.Payload...)
}

// HelloBytes is the hello of a stack's peer with the given index; alter may
// change what it says.
func HelloBytes(s *Stack, index int, alter func(h *Hello)) []byte {
	h := s.local
	h.index = uint32(index)
	if alter != nil {
		x := Hello{h.version, h.epoch, h.workers, h.index, h.segment, h.event, h.graph, h.layout, h.job}
		alter(&x)
		h = hello{x.Version, x.Epoch, x.Index, x.Workers, x.Graph, x.Layout, x.Segment, x.Event, x.Job}
	}
	return h.encode()
}

// Hello is what a worker says of itself.
type Hello struct {
	Version        uint16
	Epoch          uint64
	Workers, Index uint32
	Segment, Event uint32
	Graph, Layout  uint64
	Job            string
}

// ReadAnswer reads the answer to a hello: nil, or the refusal.
func ReadAnswer(nc net.Conn, peer int) error {
	_, err := readHello(nc, peer)
	return err
}

package netstack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/overtake-stream/overtake/bufferpool"
)

// frameHeaderSize is the size of a frame's header, which fits the headroom of a
// buffer exactly: header and payload of a data frame are contiguous in memory.
const frameHeaderSize = bufferpool.Headroom

// MaxControl bounds the payload of one control message, in bytes.
const MaxControl = 64 << 10

// frameType tells frames apart. 0 is not a type, so zeroed memory is no frame.
type frameType uint8

const (
	frameData frameType = 1 + iota
	frameEvent
	frameCredit
	frameBacklog
	frameControl
	frameGoodbye
	frameAsk
	frameAnswer
	frameTypes // number of types; more are damage
)

func (t frameType) String() string {
	names := [frameTypes]string{"none", "data", "event", "credit", "backlog", "control", "goodbye", "question for the time", "answer with the time"}
	if t < frameTypes {
		return names[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Flags of a frame.
const (
	flagPartial  = 1 << iota // data: a record continues in the channel's next buffer
	flagPriority             // event: goes before queued data
	flagChecksum             // the payload's CRC is present
	flagPadded               // data: zeros follow the payload, up to the size of a buffer
	flagSampled              // data: a profiler looks at this buffer, at both ends
)

// allowed are the flags that each type may carry.
var allowed = [frameTypes]uint8{
	frameData:    flagPartial | flagChecksum | flagPadded | flagSampled,
	frameEvent:   flagPriority | flagChecksum,
	frameControl: flagChecksum,
	frameAnswer:  flagChecksum,
}

// maxPadding, as a part of a buffer's payload area: a buffer that is nearly full is
// sent padded to a whole segment, so that what follows stays aligned at the
// receiver, which then copies nothing. Records rarely fill a buffer to the last
// byte: copying those of 2,000-byte records moved 0.95x as much over loopback.
const maxPadding = 16

// header is a frame's header, drawn in the package documentation.
type header struct {
	kind     frameType
	flags    uint8
	epoch    uint16 // low bits of the attempt's epoch
	channel  uint32
	length   uint32 // payload, bytes
	backlog  uint32 // data, backlog: data buffers queued behind
	sequence uint64 // data: its number; credit: the limit; event: its kind
	payload  uint32 // CRC32C of the payload, if flagged
}

// put writes the header. dst is lent and has at least frameHeaderSize bytes.
func (h *header) put(dst []byte) {
	dst = dst[:frameHeaderSize]
	dst[0], dst[1] = byte(h.kind), h.flags
	binary.LittleEndian.PutUint16(dst[2:], h.epoch)
	binary.LittleEndian.PutUint32(dst[4:], h.channel)
	binary.LittleEndian.PutUint32(dst[8:], h.length)
	binary.LittleEndian.PutUint32(dst[12:], h.backlog)
	binary.LittleEndian.PutUint64(dst[16:], h.sequence)
	binary.LittleEndian.PutUint32(dst[24:], h.payload)
	binary.LittleEndian.PutUint32(dst[28:], checksum(dst[:28]))
}

// parse reads a header whose checksum is right and whose type is known; anything
// else is ErrFrame. It judges no field that depends on the connection. src is
// lent and has at least frameHeaderSize bytes.
func (h *header) parse(src []byte) error {
	src = src[:frameHeaderSize]
	if sum := binary.LittleEndian.Uint32(src[28:]); sum != checksum(src[:28]) {
		return fmt.Errorf("%w: header checksum %08x, want %08x", ErrFrame, sum, checksum(src[:28]))
	}
	h.kind, h.flags = frameType(src[0]), src[1]
	h.epoch = binary.LittleEndian.Uint16(src[2:])
	h.channel = binary.LittleEndian.Uint32(src[4:])
	h.length = binary.LittleEndian.Uint32(src[8:])
	h.backlog = binary.LittleEndian.Uint32(src[12:])
	h.sequence = binary.LittleEndian.Uint64(src[16:])
	h.payload = binary.LittleEndian.Uint32(src[24:])
	if h.kind == 0 || h.kind >= frameTypes || h.flags&^allowed[h.kind] != 0 {
		return fmt.Errorf("%w: %v, flags %#x", ErrFrame, h.kind, h.flags)
	}
	return nil
}

// bound checks the length against what the type may carry, given the size of a
// buffer's payload, before anybody touches memory.
func (h *header) bound(payloadSize int) error {
	limit := 0
	switch h.kind {
	case frameData:
		limit = payloadSize
	case frameEvent:
		limit = MaxEventPayload
	case frameControl:
		limit = MaxControl
	case frameAnswer:
		limit = clockAnswerSize
	}
	if uint64(h.length) > uint64(limit) {
		return fmt.Errorf("%w: %v frame of %d bytes, at most %d", ErrOversize, h.kind, h.length, limit)
	}
	return nil
}

// castagnoli has hardware support on every platform that matters.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func checksumUpdate(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

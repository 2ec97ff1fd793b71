package netstack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A handshake message is a prefix that every version must understand, and a body:
//
//	0 "OVTK" | 4 version u16 | 6 kind u8 | 7 zero | 8 body length u32 | 12 CRC32C u32
//	hello:   16 epoch u64 | index u32 | workers u32 | graph u64 | layout u64 |
//	         segment size u32 | event size u32 | job u16+bytes
//	refusal: 16 reason u16 | epoch u64 | got u16+bytes | want u16+bytes
//
// The checksum covers the prefix up to itself and the body. Strings carry their
// length in front. A message has at most maxHandshake bytes: that is what a
// stranger can make this end allocate.
const (
	protocolVersion = 3 // 2: questions for the time; 3: sampled buffers
	maxHandshake    = 4 << 10
	maxJobName      = 1 << 10 // bytes
	prefixSize      = 16
	helloSize       = 42 // of the body, without the job's name
	kindHello       = 1
	kindRefusal     = 2
)

var magic = [4]byte{'O', 'V', 'T', 'K'}

// Why a handshake failed.
var (
	ErrForeign     = errors.New("peer does not speak this protocol (or one end uses TLS and the other does not)")
	ErrVersion     = errors.New("protocol versions differ: run the same release everywhere")
	ErrJob         = errors.New("peer runs another job")
	ErrEpoch       = errors.New("peer is in another attempt")
	ErrWorker      = errors.New("worker lists differ: give every worker the same list and its own index")
	ErrGraph       = errors.New("job graphs differ: run the same program everywhere")
	ErrLayout      = errors.New("record layouts differ: build the program for the same platform everywhere")
	ErrSegmentSize = errors.New("buffer sizes differ")
	ErrEventSize   = errors.New("largest event sizes differ")
	ErrDuplicate   = errors.New("that worker is connected already")
	ErrBusy        = errors.New("too many connections are in their handshake")
)

// reasons gives each refusal its number on the wire, which must never change.
var reasons = [...]error{ErrForeign, ErrVersion, ErrJob, ErrEpoch, ErrWorker, ErrGraph,
	ErrLayout, ErrSegmentSize, ErrEventSize, ErrDuplicate, ErrBusy}

// HandshakeError says why two workers did not come together. Got is what the
// refusing end saw, Want what it expected.
type HandshakeError struct {
	Peer      int // worker index; -1 if it is not known
	Reason    error
	Got, Want string
	epoch     uint64 // of the end that refused
}

// Error names the peer, the reason and both values.
func (e *HandshakeError) Error() string {
	who := "a stranger"
	if e.Peer >= 0 {
		who = fmt.Sprintf("worker %d", e.Peer)
	}
	msg := fmt.Sprintf("netstack: handshake with %s: %v", who, e.Reason)
	if e.Got != "" || e.Want != "" {
		msg += fmt.Sprintf(": got %s, want %s", e.Got, e.Want)
	}
	return msg
}

// Unwrap returns the reason.
func (e *HandshakeError) Unwrap() error { return e.Reason }

// hello is how a worker introduces itself.
type hello struct {
	version uint16
	epoch   uint64
	index   uint32
	workers uint32
	graph   uint64
	layout  uint64
	segment uint32
	event   uint32
	job     string
}

func (h *hello) encode() []byte {
	le := binary.LittleEndian
	b := prefix(h.version, kindHello)
	b = le.AppendUint64(b, h.epoch)
	b = le.AppendUint32(b, h.index)
	b = le.AppendUint32(b, h.workers)
	b = le.AppendUint64(b, h.graph)
	b = le.AppendUint64(b, h.layout)
	b = le.AppendUint32(b, h.segment)
	b = le.AppendUint32(b, h.event)
	return seal(appendString(b, h.job))
}

// decodeHello reads a hello's body, which has passed the checksum.
func decodeHello(version uint16, b []byte) (h hello, err error) {
	le := binary.LittleEndian
	if len(b) < helloSize {
		return h, foreign("a hello of %d bytes", len(b))
	}
	h = hello{
		version: version, epoch: le.Uint64(b), index: le.Uint32(b[8:]), workers: le.Uint32(b[12:]),
		graph: le.Uint64(b[16:]), layout: le.Uint64(b[24:]), segment: le.Uint32(b[32:]), event: le.Uint32(b[36:]),
	}
	var rest []byte
	var ok bool
	if h.job, rest, ok = cutString(b[40:]); !ok || len(rest) > 0 {
		return h, foreign("a hello of %d bytes", len(b))
	}
	return h, nil
}

// differs compares what a peer says with what this worker expects of it.
func (h *hello) differs(want *hello) *HandshakeError {
	e := &HandshakeError{Peer: int(h.index), epoch: want.epoch}
	set := func(reason error, got, want any) *HandshakeError {
		e.Reason, e.Got, e.Want = reason, fmt.Sprint(got), fmt.Sprint(want)
		return e
	}
	switch {
	case h.version != want.version:
		e.Peer = -1
		return set(ErrVersion, h.version, want.version)
	case h.job != want.job:
		return set(ErrJob, fmt.Sprintf("%q", h.job), fmt.Sprintf("%q", want.job))
	case h.epoch != want.epoch:
		return set(ErrEpoch, h.epoch, want.epoch)
	case h.workers != want.workers:
		return set(ErrWorker, fmt.Sprint(h.workers, " workers"), fmt.Sprint(want.workers, " workers"))
	case h.index != want.index:
		return set(ErrWorker, fmt.Sprint("index ", h.index), fmt.Sprint("index ", want.index))
	case h.graph != want.graph:
		return set(ErrGraph, fingerprint(h.graph), fingerprint(want.graph))
	case h.layout != want.layout:
		return set(ErrLayout, fingerprint(h.layout), fingerprint(want.layout))
	case h.segment != want.segment:
		return set(ErrSegmentSize, h.segment, want.segment)
	case h.event != want.event:
		return set(ErrEventSize, h.event, want.event)
	}
	return nil
}

func fingerprint(v uint64) string { return fmt.Sprintf("%016x", v) }

// encodeRefusal tells the peer why, in one message.
func encodeRefusal(e *HandshakeError) []byte {
	b := prefix(protocolVersion, kindRefusal)
	reason := 0
	for i, r := range reasons {
		if r == e.Reason {
			reason = i
		}
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(reason))
	b = binary.LittleEndian.AppendUint64(b, e.epoch)
	return seal(appendString(appendString(b, e.Got), e.Want))
}

// decodeRefusal returns the refusal as the error it is.
func decodeRefusal(b []byte, peer int) error {
	if len(b) < 10 {
		return foreign("a refusal of %d bytes", len(b))
	}
	e := &HandshakeError{Peer: peer, Reason: ErrForeign, epoch: binary.LittleEndian.Uint64(b[2:])}
	if n := int(binary.LittleEndian.Uint16(b)); n < len(reasons) {
		e.Reason = reasons[n]
	}
	got, rest, ok := cutString(b[10:])
	want, _, ok2 := cutString(rest)
	if !ok || !ok2 {
		return foreign("a refusal of %d bytes", len(b))
	}
	e.Got, e.Want = printable(got), printable(want)
	return e
}

// printable keeps a stranger's words from doing anything to a log.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// readHandshake reads one message and no byte more. It allocates at most
// maxHandshake bytes, and those only behind a valid prefix.
func readHandshake(r io.Reader) (version uint16, kind uint8, body []byte, err error) {
	var p [prefixSize]byte
	if _, err := io.ReadFull(r, p[:]); err != nil {
		return 0, 0, nil, err
	}
	n := binary.LittleEndian.Uint32(p[8:])
	if [4]byte(p[:4]) != magic || n > maxHandshake-prefixSize {
		return 0, 0, nil, foreign("%x", p[:])
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, 0, nil, err
	}
	if binary.LittleEndian.Uint32(p[12:]) != handshakeSum(p[:12], body) {
		return 0, 0, nil, foreign("a damaged message")
	}
	return binary.LittleEndian.Uint16(p[4:]), p[6], body, nil
}

func foreign(format string, args ...any) *HandshakeError {
	return &HandshakeError{Peer: -1, Reason: ErrForeign, Got: fmt.Sprintf(format, args...), Want: "a handshake"}
}

func prefix(version uint16, kind uint8) []byte {
	b := make([]byte, prefixSize, 256)
	copy(b, magic[:])
	binary.LittleEndian.PutUint16(b[4:], version)
	b[6] = kind
	return b
}

// seal fills in length and checksum.
func seal(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)-prefixSize))
	binary.LittleEndian.PutUint32(b[12:], handshakeSum(b[:12], b[prefixSize:]))
	return b
}

func handshakeSum(prefix, body []byte) uint32 {
	return checksumUpdate(checksum(prefix), body)
}

// appendString appends at most maxJobName bytes of s behind their number.
func appendString(b []byte, s string) []byte {
	s = s[:min(len(s), maxJobName)]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; n > len(b) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}

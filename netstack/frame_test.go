package netstack

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFrameHeaderBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    header
		want string
	}{
		{"data", header{kind: frameData, flags: flagPartial | flagChecksum, epoch: 0x0102, channel: 7, length: 32736, backlog: 3, sequence: 0x1122334455667788, payload: 0xdeadbeef}, `
00000000  01 05 02 01 07 00 00 00  e0 7f 00 00 03 00 00 00  |................|
00000010  88 77 66 55 44 33 22 11  ef be ad de 38 74 88 f1  |.wfUD3".....8t..|
`},
		{"credit", header{kind: frameCredit, epoch: 1, channel: 1000, sequence: 128}, `
00000000  03 00 01 00 e8 03 00 00  00 00 00 00 00 00 00 00  |................|
00000010  80 00 00 00 00 00 00 00  00 00 00 00 4b bb 8b 87  |............K...|
`},
		{"goodbye", header{kind: frameGoodbye}, `
00000000  06 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
00000010  00 00 00 00 00 00 00 00  00 00 00 00 c2 66 80 35  |.............f.5|
`},
	} {
		b := make([]byte, frameHeaderSize)
		tc.h.put(b)
		if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), hex.Dump(b)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		var back header
		if err := back.parse(b); err != nil || back != tc.h {
			t.Errorf("%s: parsed %+v, %v, want %+v", tc.name, back, err, tc.h)
		}
	}
}

func TestFrameHeaderDetectsEveryBitFlip(t *testing.T) {
	b := make([]byte, frameHeaderSize)
	(&header{kind: frameData, channel: 9, length: 100, sequence: 1 << 40}).put(b)
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if err := new(header).parse(b); !errors.Is(err, ErrFrame) {
			t.Errorf("bit %d flipped: %v, want ErrFrame", bit, err)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

func TestFrameHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header{
			kind:     frameType(rapid.Uint8Range(1, uint8(frameTypes)-1).Draw(t, "kind")),
			epoch:    rapid.Uint16().Draw(t, "epoch"),
			channel:  rapid.Uint32().Draw(t, "channel"),
			length:   rapid.Uint32().Draw(t, "length"),
			backlog:  rapid.Uint32().Draw(t, "backlog"),
			sequence: rapid.Uint64().Draw(t, "sequence"),
			payload:  rapid.Uint32().Draw(t, "payload"),
		}
		h.flags = rapid.Uint8().Draw(t, "flags") & allowed[h.kind]
		b := make([]byte, frameHeaderSize)
		h.put(b)
		var back header
		if err := back.parse(b); err != nil || back != h {
			t.Fatalf("parsed %+v, %v, want %+v", back, err, h)
		}
	})
}

func TestFrameLengthIsBoundedByType(t *testing.T) {
	const payload = 4064
	for kind, limit := range map[frameType]uint32{
		frameData: payload, frameEvent: MaxEventPayload, frameControl: MaxControl,
		frameCredit: 0, frameBacklog: 0, frameGoodbye: 0, frameAsk: 0, frameAnswer: clockAnswerSize,
	} {
		if err := (&header{kind: kind, length: limit}).bound(payload); err != nil {
			t.Errorf("%v of %d bytes: %v", kind, limit, err)
		}
		for _, n := range []uint32{limit + 1, 1 << 31, 1<<32 - 1} {
			if err := (&header{kind: kind, length: n}).bound(payload); !errors.Is(err, ErrOversize) {
				t.Errorf("%v of %d bytes: %v, want ErrOversize", kind, n, err)
			}
		}
	}
}

func FuzzFrameHeader(f *testing.F) {
	b := make([]byte, frameHeaderSize)
	(&header{kind: frameEvent, flags: flagPriority, epoch: 3, channel: 1, length: 8, sequence: 16}).put(b)
	f.Add(append([]byte{}, b...))
	(&header{kind: frameAnswer, flags: flagChecksum, length: clockAnswerSize, sequence: 1 << 63}).put(b)
	f.Add(append([]byte{}, b...))
	f.Add(make([]byte, frameHeaderSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frameHeaderSize {
			return
		}
		var h header
		if h.parse(b) != nil {
			return
		}
		back := make([]byte, frameHeaderSize)
		h.put(back)
		if diff := cmp.Diff(b[:frameHeaderSize], back); diff != "" {
			t.Fatalf("another encoding of the same header:\n%s", diff)
		}
	})
}

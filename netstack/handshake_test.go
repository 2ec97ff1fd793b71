package netstack

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHelloBytes(t *testing.T) {
	h := hello{version: 1, epoch: 7, index: 2, workers: 3, graph: 0x1122, layout: 0x3344, segment: 32768, event: 4096, job: "wordcount"}
	want := `
00000000  4f 56 54 4b 01 00 01 00  33 00 00 00 0f ce b4 b2  |OVTK....3.......|
00000010  07 00 00 00 00 00 00 00  02 00 00 00 03 00 00 00  |................|
00000020  22 11 00 00 00 00 00 00  44 33 00 00 00 00 00 00  |".......D3......|
00000030  00 80 00 00 00 10 00 00  09 00 77 6f 72 64 63 6f  |..........wordco|
00000040  75 6e 74                                          |unt|
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), hex.Dump(h.encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHelloRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hello{
			version: protocolVersion, epoch: rapid.Uint64().Draw(t, "epoch"), index: rapid.Uint32().Draw(t, "index"),
			workers: rapid.Uint32().Draw(t, "workers"), graph: rapid.Uint64().Draw(t, "graph"), layout: rapid.Uint64().Draw(t, "layout"),
			segment: rapid.Uint32().Draw(t, "segment"), event: rapid.Uint32().Draw(t, "event"),
			job: rapid.StringN(0, 50, maxJobName).Draw(t, "job"),
		}
		r := bytes.NewReader(append(h.encode(), "next"...))
		back, err := readHello(r, 1)
		if err != nil || back != h {
			t.Fatalf("got %+v, %v, want %+v", back, err, h)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "next" {
			t.Fatalf("read into what follows: %q is left", rest)
		}
	})
}

func TestRefusalRoundTrip(t *testing.T) {
	for _, reason := range reasons {
		e := &HandshakeError{Peer: 3, Reason: reason, Got: "this", Want: "that", epoch: 9}
		_, err := readHello(bytes.NewReader(encodeRefusal(e)), 3)
		var back *HandshakeError
		if !errors.As(err, &back) || *back != *e || !errors.Is(err, reason) {
			t.Errorf("got %v, want %v", err, e)
		}
	}
}

func TestHandshakeDetectsEveryBitFlip(t *testing.T) {
	b := (&hello{version: protocolVersion, job: "job", workers: 2}).encode()
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := readHello(bytes.NewReader(b), 1); err == nil {
			t.Errorf("bit %d flipped and nobody noticed", bit)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

func TestHandshakeTakesBoundedMemory(t *testing.T) {
	b := prefix(protocolVersion, kindHello)
	for _, n := range []byte{0xff, 0x7f} {
		copy(b[8:], []byte{n, n, n, n})
		if _, err := readHello(io.MultiReader(bytes.NewReader(b), zeros{}), 1); !errors.Is(err, ErrForeign) {
			t.Errorf("length %x: %v, want ErrForeign", n, err)
		}
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func FuzzHandshake(f *testing.F) {
	f.Add((&hello{version: protocolVersion, job: "job"}).encode())
	f.Add(encodeRefusal(&HandshakeError{Reason: ErrJob, Got: "a", Want: "b"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = readHello(bytes.NewReader(b), 1)
		if len(b) >= prefixSize && len(b) <= maxHandshake { // complete the checksum, which no fuzzer finds
			copy(b, magic[:])
			_, _ = readHello(bytes.NewReader(seal(b)), 1)
		}
	})
}

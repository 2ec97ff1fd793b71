package nexmark_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/overtake-stream/overtake/bench/nexmark"
)

func TestCodecsGiveBackWhatTheyTake(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 500})
	for _, e := range all(g) {
		b := nexmark.EventCodec{}.Append([]byte("before"), &e)
		got, err := nexmark.EventCodec{}.Decode(b[6:])
		if err != nil || *got != e || string(b[:6]) != "before" {
			t.Fatalf("%+v, %v, want %+v", got, err, e)
		}
		for cut := 6; cut < len(b); cut++ {
			if _, err := (nexmark.EventCodec{}).Decode(b[6:cut]); !errors.Is(err, nexmark.ErrDecode) {
				t.Fatalf("%d of %d bytes: %v", cut-6, len(b)-6, err)
			}
		}
		if _, err := (nexmark.EventCodec{}).Decode(append(b[6:], 0)); !errors.Is(err, nexmark.ErrDecode) {
			t.Fatalf("a byte too many: %v", err)
		}
	}
}

func TestCodecsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for _, c := range []interface{ Fingerprint() uint64 }{nexmark.BidCodec{}, nexmark.AuctionCodec{}, nexmark.PersonCodec{}, nexmark.EventCodec{}} {
		if seen[c.Fingerprint()] {
			t.Errorf("%T has the fingerprint of another", c)
		}
		seen[c.Fingerprint()] = true
	}
}

func FuzzEventCodec(f *testing.F) {
	g, err := nexmark.NewGenerator(nexmark.Options{Events: 5})
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range all(g) {
		f.Add(nexmark.EventCodec{}.Append(nil, &e))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := nexmark.EventCodec{}.Decode(b)
		if err != nil {
			return
		}
		if again := (nexmark.EventCodec{}).Append(nil, e); !reflect.DeepEqual(again, b) {
			t.Fatalf("%x decodes, and encodes as %x", b, again)
		}
	})
}

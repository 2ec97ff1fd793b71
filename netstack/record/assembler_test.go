package record_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/overtake-stream/overtake/netstack/record"
	"pgregory.net/rapid"
)

func TestPiecesBecomeTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := record.NewAssembler(1 << 10)
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			want := rapid.SliceOfN(rapid.Byte(), 1, 1<<10).Draw(t, "record")
			rest := want
			for {
				n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
				piece := bytes.Clone(rest[:n])
				rest = rest[n:]
				got, err := a.Add(piece, len(rest) == 0)
				clear(piece) // it was lent only
				if err != nil || (got == nil) != (len(rest) > 0) || a.Pending() != (len(rest) > 0) {
					t.Fatalf("%x, %v, pending %v with %d bytes to come", got, err, a.Pending(), len(rest))
				}
				if a.Pending() && !bytes.Equal(a.Bytes(), want[:len(want)-len(rest)]) {
					t.Fatalf("has %x of %x", a.Bytes(), want)
				}
				if len(rest) == 0 {
					if !bytes.Equal(got, want) {
						t.Fatalf("got %x, want %x", got, want)
					}
					break
				}
			}
		}
	})
}

func TestAssemblerIsBounded(t *testing.T) {
	a := record.NewAssembler(10)
	if _, err := a.Add(make([]byte, 10), false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Add(make([]byte, 1), true); !errors.Is(err, record.ErrCorrupt) {
		t.Fatalf("error %v, want ErrCorrupt", err)
	}
	if a.Pending() {
		t.Fatal("what was too large is still there")
	}
	if whole, err := a.Add([]byte("ok"), true); err != nil || string(whole) != "ok" {
		t.Fatalf("afterwards: %q, %v", whole, err)
	}
}

// What Done gave back is used by whoever comes next; what is pending is not touched.
func TestAssemblersOfChannelsDoNotMix(t *testing.T) {
	a, b := record.NewAssembler(1<<20), record.NewAssembler(1<<20)
	_, _ = a.Add([]byte("pending "), false)
	for _, want := range []string{"one record", "another one"} {
		_, _ = b.Add([]byte(want[:3]), false)
		b.Done()
		a.Done()
		got, err := b.Add([]byte(want[3:]), true)
		if err != nil || string(got) != want || b.Pending() || b.Bytes() != nil {
			t.Fatalf("%q, %v, pending %v, want %q", got, err, b.Pending(), want)
		}
		b.Done()
	}
	if got, err := a.Add([]byte("record"), true); err != nil || string(got) != "pending record" {
		t.Fatalf("%q, %v", got, err)
	}
}

// The average stays below one even where sync.Pool drops some on purpose (-race).
func TestAssemblerReusesItsScratch(t *testing.T) {
	a := record.NewAssembler(1 << 20)
	piece := make([]byte, 10<<10)
	add := func() {
		_, _ = a.Add(piece, false)
		_, _ = a.Add(piece, true)
		a.Done()
	}
	add()
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Fatalf("%v allocations per record", n)
	}
}

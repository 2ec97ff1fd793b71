package bufferpool_test

import (
	"bytes"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

func TestScratchHoldsWhatIsAppended(t *testing.T) {
	var s bufferpool.Scratch
	s.Free()
	want(t, "length of the zero Scratch", s.Len(), 0)
	s.Append([]byte("one "))
	s.Append([]byte("record"))
	if string(s.Bytes()) != "one record" {
		t.Fatalf("%q", s.Bytes())
	}
	s.Set(append(s.Start(), "another"...))
	if string(s.Bytes()) != "another" {
		t.Fatalf("%q", s.Bytes())
	}
	s.Free()
	want(t, "length after Free", s.Len(), 0)
}

func TestScratchesDoNotShareMemory(t *testing.T) {
	var x, y bufferpool.Scratch
	for range 3 { // with memory that has been used before
		x.Append(bytes.Repeat([]byte{1}, 5000))
		y.Append(bytes.Repeat([]byte{2}, 7000))
		if bytes.Count(x.Bytes(), []byte{1}) != 5000 || bytes.Count(y.Bytes(), []byte{2}) != 7000 {
			t.Fatal("mixed")
		}
		x.Free()
		y.Free()
	}
}

// The average stays below one even where sync.Pool drops some on purpose (-race).
func TestScratchReusesItsMemory(t *testing.T) {
	piece := make([]byte, 10<<10)
	n := testing.AllocsPerRun(1000, func() {
		var s bufferpool.Scratch
		s.Append(piece)
		s.Free()
	})
	want(t, "allocations", int(n), 0)
}

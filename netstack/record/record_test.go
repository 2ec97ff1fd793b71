package record_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/overtake-stream/overtake/netstack/record"
	"pgregory.net/rapid"
)

func drawRecord(t *rapid.T) record.Record {
	r := record.Record{
		Kind:    record.Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
		HasTime: rapid.Bool().Draw(t, "hasTime"),
		Hash:    rapid.Uint32().Draw(t, "hash"),
		Payload: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload"),
	}
	if r.HasTime {
		r.Time = rapid.Int64().Draw(t, "time")
	}
	return r
}

// writeInto puts a record together in place, the way a codec does.
func writeInto(dst []byte, r record.Record) int {
	copy(dst[record.Offset(r.HasTime):], r.Payload)
	return record.Seal(dst, r.Kind, r.Hash, r.HasTime, r.Time, len(r.Payload))
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOf(rapid.Custom(drawRecord)).Draw(t, "records")
		var appended []byte
		inPlace, used := dirty(128*len(records)), 0
		for _, r := range records {
			appended = record.Append(appended, r)
			used += writeInto(inPlace[used:], r)
		}
		if !bytes.Equal(appended, inPlace[:used]) {
			t.Fatalf("appended\n%x\nin place\n%x", appended, inPlace[:used])
		}
		it := record.Over(appended)
		for i, want := range records {
			var got record.Record
			if ok, err := it.Next(&got); !ok || err != nil {
				t.Fatalf("record %d: %v, %v", i, ok, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("record %d: %s", i, diff)
			}
		}
		if ok, err := it.Next(new(record.Record)); ok || err != nil || it.Rest() != 0 {
			t.Fatalf("after the last record: %v, %v, %d bytes left", ok, err, it.Rest())
		}
	})
}

// TestSealStaysInside: a record that fills its memory exactly changes nothing
// behind it, and one that does not clears at most eight bytes more.
func TestSealStaysInside(t *testing.T) {
	for n := range 40 {
		for _, hasTime := range []bool{false, true} {
			size := record.Size(n, hasTime)
			b := dirty(size + 16)
			record.Seal(b[:size:size], record.Data, 0, hasTime, 0, n)
			if !bytes.Equal(b[size:], dirty(16)) {
				t.Fatalf("payload %d: wrote behind its memory: %x", n, b[size:])
			}
			record.Seal(b, record.Data, 0, hasTime, 0, n)
			if !bytes.Equal(b[size+8:], dirty(8)) {
				t.Fatalf("payload %d: cleared too much: %x", n, b[size:])
			}
		}
	}
}

// TestPositionsCanBeKept: a copy of an iterator goes on where it was copied.
func TestPositionsCanBeKept(t *testing.T) {
	b := record.Append(record.Append(nil, record.Record{Hash: 1}), record.Record{Hash: 2})
	it := record.Over(b)
	var r record.Record
	_, _ = it.Next(&r)
	kept := it
	for _, it := range []*record.Iterator{&it, &kept} {
		if ok, err := it.Next(&r); !ok || err != nil || r.Hash != 2 {
			t.Fatalf("got %+v, %v, %v", r, ok, err)
		}
	}
}

// TestPayloadCannotGrow: appending to a view must not overwrite its neighbour.
func TestPayloadCannotGrow(t *testing.T) {
	b := record.Append(record.Append(nil, record.Record{Payload: []byte("a")}), record.Record{Hash: 2})
	before := bytes.Clone(b)
	it := record.Over(b)
	var r record.Record
	_, _ = it.Next(&r)
	_ = append(r.Payload, "overflow"...)
	if !bytes.Equal(b, before) {
		t.Fatal("append changed the buffer")
	}
}

func TestNothingAllocates(t *testing.T) {
	dst := make([]byte, segment)
	var r record.Record
	if n := testing.AllocsPerRun(10, func() {
		used, _ := fill(dst, 100, true)
		for it := record.Over(dst[:used]); ; {
			if ok, err := it.Next(&r); !ok || err != nil {
				break
			}
		}
		_ = record.Append(dst[:0], r)
	}); n != 0 {
		t.Fatalf("%v allocations per buffer", n)
	}
}

// FuzzIterator: whatever the bytes, reading them ends, stays inside, and makes
// progress; what it accepts is what a writer would have written, but for padding.
func FuzzIterator(f *testing.F) {
	f.Add([]byte{})
	f.Add(record.Append(nil, record.Record{HasTime: true, Time: 7, Payload: []byte("payload")}))
	f.Add(append(record.Append(nil, record.Record{Payload: make([]byte, 64)}), 1, 2, 3))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:len(b):len(b)]
		it := record.Over(b)
		var r record.Record
		for {
			at := len(b) - it.Rest()
			ok, err := it.Next(&r)
			if !ok {
				if (err == nil) != (it.Rest() == 0) || (err != nil && !errors.Is(err, record.ErrCorrupt)) {
					t.Fatalf("%v with %d bytes left", err, it.Rest())
				}
				return
			}
			next := len(b) - it.Rest()
			again := record.Append(nil, r)
			if len(again) != next-at || cap(r.Payload) != len(r.Payload) {
				t.Fatalf("%d bytes at %d, want %d", next-at, at, len(again))
			}
			if end := record.Offset(r.HasTime) + len(r.Payload); !bytes.Equal(again[:end], b[at:at+end]) {
				t.Fatalf("read %x, want %x", again[:end], b[at:at+end])
			}
		}
	})
}

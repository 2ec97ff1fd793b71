package statecow_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/statecow"
)

// plainCodec copies numbers.
type plainCodec struct{}

func (plainCodec) Append(dst []byte, v uint64) []byte {
	return binary.NativeEndian.AppendUint64(dst, v)
}
func (plainCodec) Decode(src []byte) (uint64, error) { return binary.NativeEndian.Uint64(src), nil }
func (plainCodec) Fingerprint() uint64               { return 3 }
func (plainCodec) CopySize() int                     { return 8 }

// TestPlaceChangesWhatUpdateSees counts in place and by Update in turn, for keys and
// namespaces, while snapshots are open.
func TestPlaceChangesWhatUpdateSees(t *testing.T) {
	f := newFixture(t)
	counts, err := statecow.NewValueState(f.s, "counts", plainCodec{}, statecow.TTL{})
	f.must(err)
	want := map[string]uint64{}
	for i := range 20_000 {
		key, window := fmt.Sprint(i*7919%300), fmt.Sprint(i%3)
		f.s.SetKey(statecow.HashString(key), []byte(key))
		f.s.SetNamespace([]byte(window))
		name := key + "/" + window
		switch {
		case i%11 == 0:
			f.must(counts.Clear())
			delete(want, name)
			continue
		case i%2 == 0:
			f.must(counts.Update(func(old uint64, _ bool) (uint64, bool) { return old + 1, true }))
		default:
			v, added, err := counts.Place()
			f.must(err)
			if old, had := want[name]; v == nil || *v != old || added == had {
				t.Fatalf("step %d: %v, added %v, want %d", i, v, added, old)
			}
			*v++
		}
		want[name]++
		if v, _, err := counts.Get(); err != nil || v != want[name] {
			t.Fatalf("step %d: %d, %v, want %d", i, v, err, want[name])
		}
		if i%1000 == 0 {
			s, err := f.m.Snapshot()
			f.must(err)
			defer s.Release()
		}
	}
}

func TestPlaceIsForValuesThatAreCopiedAndStay(t *testing.T) {
	f := newFixture(t)
	f.s.SetKey(statecow.HashString("k"), []byte("k"))
	text, err := statecow.NewValueState(f.s, "text", stringCodec{}, statecow.TTL{})
	f.must(err)
	if v, _, err := text.Place(); v != nil || err != nil {
		t.Fatalf("a text's place is %v, %v", v, err)
	}
	brief, err := statecow.NewValueState(f.s, "brief", plainCodec{}, statecow.TTL{After: time.Second})
	f.must(err)
	if v, _, err := brief.Place(); v != nil || err != nil {
		t.Fatalf("the place of a value that expires is %v, %v", v, err)
	}
}

package statecow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestTypedMapEqualsModelWithSnapshotsOpen changes a TypedMap in place, by copies and by
// insertions and deletions in between, with some snapshots open at every moment, and
// compares it and every snapshot with a builtin map.
func TestTypedMapEqualsModelWithSnapshotsOpen(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { testTypedMap(t, seed) })
	}
}

func testTypedMap(t *testing.T, seed uint64) {
	tm, err := NewTyped[uint64, [3]uint64](Options{Budget: 32 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := typedWorld{t, rand.New(rand.NewPCG(seed, 9)), map[uint64][3]uint64{}, tm, nil}
	for round := range 120 {
		for range 1 + w.rng.IntN(1500) {
			w.step()
		}
		w.snapshot(round)
		for len(w.open) > int(seed) {
			w.release()
		}
	}
	checkIndex(t, tm.m)
	for len(w.open) > 0 {
		w.release()
	}
	if err := tm.m.Close(); err != nil {
		t.Fatal(err)
	}
}

type typedWorld struct {
	t     *testing.T
	rng   *rand.Rand
	model map[uint64][3]uint64
	m     *TypedMap[uint64, [3]uint64]
	open  []typedShot
}

type typedShot struct {
	s     Snapshot
	model map[uint64][3]uint64
}

func (w *typedWorld) step() {
	k := w.rng.Uint64N(3000)
	if w.rng.IntN(20) == 0 {
		had, err := w.m.Delete(k)
		if _, want := w.model[k]; err != nil || had != want {
			w.t.Fatalf("Delete = %v, %v; want %v", had, err, want)
		}
		delete(w.model, k)
		return
	}
	v, _, err := w.m.Upsert(k)
	if err != nil || *v != w.model[k] {
		w.t.Fatalf("Upsert = %v, %v; want %v", v, err, w.model[k])
	}
	v[k%3]++
	w.model[k] = *v
}

func (w *typedWorld) snapshot(round int) {
	s, _ := w.m.m.Snapshot()
	if round%3 > 0 {
		w.m.m.Abandon(s.Mark())
	}
	w.open = append(w.open, typedShot{s, maps.Clone(w.model)})
}

// release looks at the oldest open snapshot, restores what it writes and releases it.
func (w *typedWorld) release() {
	o := w.open[0]
	w.open = w.open[1:]
	got := map[uint64][3]uint64{}
	err := o.s.Entries(0, func(e Entry) error {
		var v [3]uint64
		for i := range v {
			v[i] = binary.LittleEndian.Uint64(e.Value[8*i:])
		}
		got[binary.LittleEndian.Uint64(e.Key)] = v
		return nil
	})
	if err != nil || !maps.Equal(got, o.model) {
		w.t.Fatalf("a snapshot differs from the model, %v: %d keys, want %d", err, len(got), len(o.model))
	}
	var buf bytes.Buffer
	to, err := NewTyped[uint64, [3]uint64](Options{Budget: 32 << 20}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := o.s.Write(&buf, 0); err != nil {
		w.t.Fatal(err)
	}
	if err := to.m.Restore(&buf); err != nil || to.Len() != len(o.model) {
		w.t.Fatalf("%d keys were restored of %d: %v", to.Len(), len(o.model), err)
	}
	for k, v := range o.model {
		if got, ok := to.Get(k); !ok || got != v {
			w.t.Fatalf("key %d is restored as %v, want %v", k, got, v)
		}
	}
	if err := to.m.Close(); err != nil {
		w.t.Fatal(err)
	}
	o.s.Release()
	w.m.m.Confirm(o.s.Mark())
}

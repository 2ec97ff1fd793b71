package statecow

import (
	"errors"
	"testing"
)

func asError[E error](err error, target *E) bool { return errors.As(err, target) }

type point struct{ X, Y int32 }

type stats struct {
	Sum   float64
	Count uint32
	Seen  [3]bool
}

func TestTypedMapOfStructs(t *testing.T) {
	m, err := NewTyped[point, stats](Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Map().Close()
	for i := range int32(5000) {
		v, added, err := m.Upsert(point{i, -i})
		if err != nil || !added || *v != (stats{}) {
			t.Fatalf("Upsert = %v, %v, %v", v, added, err)
		}
		v.Sum, v.Seen[i%3] = float64(i), true
	}
	s, _ := m.Map().Snapshot()
	v, added, _ := m.Upsert(point{7, -7})
	if added || v.Sum != 7 || !v.Seen[1] {
		t.Fatalf("Upsert = %+v, %v", *v, added)
	}
	v.Sum = 99
	s.Release()
	if v, ok := m.Get(point{7, -7}); !ok || v.Sum != 99 {
		t.Fatalf("Get = %+v", v)
	}
	if ok, err := m.Delete(point{7, -7}); !ok || err != nil || m.Peek(point{7, -7}) != nil {
		t.Fatal("Delete failed")
	}
	n := 0
	m.Range(Groups{0, 128}, func(k point, v *stats) bool {
		if k.X != -k.Y || v.Sum != float64(k.X) {
			t.Fatalf("Range lent %v, %+v", k, *v)
		}
		n++
		return true
	})
	if n != 4999 || m.Len() != n {
		t.Fatalf("Range lent %d of %d", n, m.Len())
	}
}

func TestTypesWithPointersOrAmbiguousKeysAreRefused(t *testing.T) {
	type padded struct {
		A byte
		B int32
	}
	for name, err := range map[string]error{
		"string value":     newErr[int, string](),
		"nested pointer":   newErr[int, struct{ A [2]struct{ P *int } }](),
		"float key":        newErr[float64, int](),
		"padded key":       newErr[padded, int](),
		"string key":       newErr[string, int](),
		"large value":      newErr[int, [2 << 20]byte](),
		"table with slice": tableErr[[]byte](),
	} {
		var typ *TypeError
		if !errors.As(err, &typ) || typ.Reason == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := newErr[uint16, padded](); err != nil {
		t.Errorf("padded value: %v", err)
	}
}

func newErr[K comparable, V any]() error {
	m, err := NewTyped[K, V](Options{}, nil)
	if err == nil {
		return m.Map().Close()
	}
	return err
}

func tableErr[V any]() error {
	_, err := NewTable[V](Options{})
	return err
}

func TestTableKeepsTypedValuesOfByteKeys(t *testing.T) {
	m, err := NewTable[stats](Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Map().Close()
	long := make([]byte, 300)
	for _, key := range [][]byte{[]byte("a"), nil, long} {
		for want := range uint32(3) {
			v, added, err := m.Upsert(Hash(key), key)
			if err != nil || added != (want == 0) || v.Count != want {
				t.Fatalf("Upsert = %+v, %v, %v", v, added, err)
			}
			v.Count++
		}
	}
	n := 0
	m.Each(func(_ []byte, v *stats) bool { n += int(v.Count); return true })
	if n != 9 || m.Len() != 3 || m.Get(Hash(long), long).Count != 3 {
		t.Fatalf("%d counted", n)
	}
	if err := m.Delete(Hash(long), long); err != nil || m.Get(Hash(long), long) != nil {
		t.Fatal("Delete failed")
	}
}

func TestOptionsReportAllProblems(t *testing.T) {
	err := Options{Budget: 5, MaxGroups: 1 << 20, Garbage: 99, SegmentSize: 3}.Validate()
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 4 {
		t.Fatalf("Validate = %v", err)
	}
	if _, err := New(Options{Groups: Groups{3, 500}}); err == nil {
		t.Fatal("groups beyond the maximum are accepted")
	}
}

func TestHotOperationsAllocateNothing(t *testing.T) {
	m, err := NewTyped[uint64, uint64](Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Map().Close()
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	states, err := NewStates(b, 128, zeroClock{})
	if err != nil {
		t.Fatal(err)
	}
	total, err := NewReducingState(states, "total", counter{}, func(x, y uint64) uint64 { return x + y }, TTL{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		if err := m.Put(i, i); err != nil {
			t.Fatal(err)
		}
	}
	key, value := []byte("some key"), []byte("some value")
	i := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		i++
		v, _, _ := m.Upsert(i % 1000)
		*v++
		_, _ = m.Delete(i % 1000)
		_ = m.Put(i%1000, i)
		_ = b.Put(Hash(key), key, value)
		_, _, _ = b.Get(Hash(key), key)
		states.SetKey(Hash(key), key)
		_ = total.Add(i)
		_, _, _ = total.Get()
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

type counter struct{}

func (counter) Append(dst []byte, v uint64) []byte {
	for range 8 {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

func (counter) Decode(src []byte) (v uint64, err error) {
	for i := range 8 {
		v |= uint64(src[i]) << (8 * i)
	}
	return v, nil
}

func (counter) Fingerprint() uint64 { return 3 }

package statecow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/statecow"
)

type stringCodec struct{}

func (stringCodec) Append(dst []byte, v string) []byte { return append(dst, v...) }
func (stringCodec) Decode(src []byte) (string, error)  { return string(src), nil }
func (stringCodec) Fingerprint() uint64                { return 1 }

type intCodec struct{}

func (intCodec) Append(dst []byte, v int) []byte { return binary.AppendVarint(dst, int64(v)) }
func (intCodec) Fingerprint() uint64             { return 2 }
func (intCodec) Decode(src []byte) (int, error) {
	v, n := binary.Varint(src)
	if n <= 0 {
		return 0, errors.New("not an integer")
	}
	return int(v), nil
}

type fakeClock [2]int64

func (c *fakeClock) Now(k statecow.ExpiryClock) int64 { return c[k] }

type fixture struct {
	testing.TB
	m     *statecow.Map
	s     *statecow.States
	clock *fakeClock
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{TB: t, m: newTestMap(t, statecow.Options{Budget: 64 << 20}), clock: &fakeClock{1000, 1000}}
	var err error
	f.s, err = statecow.NewStates(f.m, 128, f.clock)
	f.must(err)
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) key(k string) { f.s.SetKey(statecow.Hash([]byte(k)), []byte(k)) }

func TestValueStateIsPerKeyNamespaceAndName(t *testing.T) {
	f := newFixture(t)
	a, err := statecow.NewValueState[string](f.s, "a", stringCodec{}, statecow.TTL{})
	f.must(err)
	b, err := statecow.NewValueState[int](f.s, "b", intCodec{}, statecow.TTL{})
	f.must(err)
	for i := range 100 {
		f.key(fmt.Sprint("key", i))
		for w := range 3 {
			f.s.SetNamespace([]byte{byte(w)})
			f.must(a.Set(fmt.Sprint(i, w)))
			f.must(b.Update(func(old int, ok bool) (int, bool) { return old + i*w, true }))
		}
		f.s.SetNamespace(nil)
	}
	f.key("key7")
	if _, ok, _ := a.Get(); ok {
		t.Fatal("the default namespace has a value")
	}
	f.s.SetNamespace([]byte{2})
	if v, ok, err := a.Get(); v != "72" && v != "7 2" || !ok || err != nil {
		t.Fatalf("Get = %q, %v, %v", v, ok, err)
	}
	if v, _, _ := b.Get(); v != 14 {
		t.Fatalf("Get = %d", v)
	}
	f.must(a.Clear())
	f.must(b.Update(func(int, bool) (int, bool) { return 0, false }))
	if _, ok, _ := a.Get(); ok || f.m.Len() != 598 {
		t.Fatalf("cleared state is there, or more than it went: %d", f.m.Len())
	}
	if _, err := statecow.NewValueState[int](f.s, "a", intCodec{}, statecow.TTL{}); !errors.Is(err, statecow.ErrStateName) {
		t.Fatalf("second state of one name: %v", err)
	}
	if err := f.s.Verify([]statecow.StateInfo{{Name: "a", Kind: "ListState[int]"}, {Name: "gone"}}); !errors.Is(err, statecow.ErrStateName) {
		t.Fatalf("Verify = %v", err)
	}
	f.must(f.s.Verify(f.s.List()))
}

func TestReducingAndAggregatingState(t *testing.T) {
	f := newFixture(t)
	largest, err := statecow.NewReducingState(f.s, "max", intCodec{}, func(a, b int) int { return max(a, b) }, statecow.TTL{})
	f.must(err)
	average, err := statecow.NewAggregatingState(f.s, "lengths", intCodec{},
		func(a int, v string) int { return a + len(v) }, func(a int) string { return fmt.Sprint("total ", a) }, statecow.TTL{})
	f.must(err)
	f.key("k")
	if _, ok, _ := average.Get(); ok {
		t.Fatal("an aggregate of nothing")
	}
	for _, v := range []int{3, 9, 4} {
		f.must(largest.Add(v))
		f.must(average.Add(fmt.Sprint(v * 50)))
	}
	if v, ok, err := largest.Get(); v != 9 || !ok || err != nil {
		t.Fatalf("Get = %d, %v, %v", v, ok, err)
	}
	if v, ok, err := average.Get(); v != "total 9" || !ok || err != nil {
		t.Fatalf("Get = %q, %v, %v", v, ok, err)
	}
	f.must(largest.Clear())
	f.must(average.Clear())
	if f.m.Len() != 0 {
		t.Fatal("cleared states left entries")
	}
}

func listOf(f *fixture, l *statecow.ListState[string]) (got []string) {
	f.Helper()
	f.must(l.Each(func(v string) bool { got = append(got, v); return true }))
	return got
}

func TestListStateKeepsOrderAtAnyLength(t *testing.T) {
	f := newFixture(t)
	l, err := statecow.NewListState[string](f.s, "list", stringCodec{}, statecow.TTL{})
	f.must(err)
	want := map[string][]string{}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 5000 {
		k := fmt.Sprint("key", rng.IntN(1+i%30))
		v := fmt.Sprintf("%d-%s", i, bytes.Repeat([]byte{'x'}, rng.IntN(1+rng.IntN(1+rng.IntN(5000)))))
		f.key(k)
		f.must(l.Add(v))
		want[k] = append(want[k], v)
		if i%500 == 0 {
			s, _ := f.m.Snapshot()
			s.Release()
			f.must(l.Clear())
			delete(want, k)
		}
	}
	for k, w := range want {
		f.key(k)
		if got := listOf(f, l); !slices.Equal(got, w) {
			t.Fatalf("%s: %d elements, want %d", k, len(got), len(w))
		}
		n := 0
		f.must(l.Each(func(string) bool { n++; return n < 2 }))
		if n > 2 {
			t.Fatal("Each went on after false")
		}
		f.must(l.Clear())
	}
	if f.m.Len() != 0 {
		t.Fatalf("cleared lists left %d entries", f.m.Len())
	}
}

func mapOf(f *fixture, m *statecow.MapState[int, string]) map[int]string {
	f.Helper()
	got := map[int]string{}
	f.must(m.Each(func(k int, v string) bool {
		if _, twice := got[k]; twice {
			f.Fatalf("Each lent %d twice", k)
		}
		got[k] = v
		return true
	}))
	return got
}

func TestMapStateEqualsAModel(t *testing.T) {
	f := newFixture(t)
	m, err := statecow.NewMapState[int, string](f.s, "map", intCodec{}, stringCodec{}, statecow.TTL{})
	f.must(err)
	model := map[string]map[int]string{}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		k := fmt.Sprint("key", rng.IntN(10))
		f.key(k)
		if model[k] == nil {
			model[k] = map[int]string{}
		}
		x := rng.IntN(200)
		switch rng.IntN(3) {
		case 0:
			_, had := model[k][x]
			if ok, err := m.Delete(x); err != nil || ok != had {
				t.Fatalf("Delete = %v, %v", ok, err)
			}
			delete(model[k], x)
		case 1:
			f.must(m.Put(x, fmt.Sprint(i)))
			model[k][x] = fmt.Sprint(i)
		default:
			want, had := model[k][x]
			if v, ok, err := m.Get(x); v != want || ok != had || err != nil {
				t.Fatalf("Get = %q, %v, %v; want %q, %v", v, ok, err, want, had)
			}
		}
	}
	for k, want := range model {
		f.key(k)
		if diff := cmp.Diff(want, mapOf(f, m)); diff != "" {
			t.Fatal(diff)
		}
		f.must(m.Clear())
	}
	if f.m.Len() != 0 {
		t.Fatalf("cleared maps left %d entries", f.m.Len())
	}
}

func (f *fixture) sweep() {
	f.Helper()
	for more := true; more; {
		var err error
		more, err = f.m.Maintain(100)
		f.must(err)
	}
}

func TestStateExpiresLazilyAndIsSwept(t *testing.T) {
	f := newFixture(t)
	ttl := statecow.TTL{After: 100, Clock: statecow.EventTime}
	v, err := statecow.NewValueState[string](f.s, "v", stringCodec{}, ttl)
	f.must(err)
	read, err := statecow.NewValueState[string](f.s, "read", stringCodec{}, statecow.TTL{After: 100, Clock: statecow.EventTime, OnRead: true})
	f.must(err)
	wall, err := statecow.NewValueState[string](f.s, "wall", stringCodec{}, statecow.TTL{After: 10 * time.Nanosecond})
	f.must(err)
	keep, err := statecow.NewValueState[string](f.s, "keep", stringCodec{}, statecow.TTL{})
	f.must(err)
	for i := range 1000 {
		f.key(fmt.Sprint(i))
		f.must(errors.Join(v.Set("v"), read.Set("r"), wall.Set("w"), keep.Set("k")))
	}
	f.clock[statecow.EventTime] += 60
	f.key("1")
	f.must(v.Set("renewed"))
	if _, ok, _ := read.Get(); !ok {
		t.Fatal("expired too early")
	}
	f.clock[statecow.EventTime] += 60
	if got, ok, _ := v.Get(); !ok || got != "renewed" {
		t.Fatal("a write does not renew")
	}
	if _, ok, _ := read.Get(); !ok {
		t.Fatal("a read does not renew")
	}
	f.key("2")
	if _, ok, _ := v.Get(); ok {
		t.Fatal("an expired value is there")
	}
	f.must(v.Update(func(_ string, ok bool) (string, bool) {
		if ok {
			t.Fatal("Update saw an expired value")
		}
		return "again", true
	}))
	f.sweep()
	if n := f.m.Len(); n != 1000+1000+3 { // wall time stood still
		t.Fatalf("%d entries after the sweep", n)
	}
	f.clock[statecow.ProcessingTime] += 10
	f.sweep()
	if n := f.m.Len(); n != 1003 {
		t.Fatalf("%d entries after the second sweep", n)
	}
}

func TestMapAndListStateExpireByParts(t *testing.T) {
	f := newFixture(t)
	ttl := statecow.TTL{After: 100}
	m, err := statecow.NewMapState[int, string](f.s, "m", intCodec{}, stringCodec{}, ttl)
	f.must(err)
	l, err := statecow.NewListState[string](f.s, "l", stringCodec{}, ttl)
	f.must(err)
	f.key("k")
	model := map[int]int64{}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		f.clock[0] += 2
		maps.DeleteFunc(model, func(_ int, at int64) bool { return at+100 <= f.clock[0] })
		x := rng.IntN(300)
		switch rng.IntN(4) {
		case 0:
			_, had := model[x]
			if ok, err := m.Delete(x); err != nil || ok != had {
				t.Fatalf("Delete = %v, %v; want %v", ok, err, had)
			}
			delete(model, x)
		case 1:
			got := mapOf(f, m)
			if len(got) != len(model) {
				t.Fatalf("Each lent %d pairs, want %d", len(got), len(model))
			}
		default:
			f.must(m.Put(x, "v"))
			model[x] = f.clock[0]
		}
		f.must(l.Add(fmt.Sprint(f.clock[0])))
	}
	for _, v := range listOf(f, l) {
		var at int64
		fmt.Sscan(v, &at)
		model[int(at)] = at
	}
	for at := f.clock[0] - 98; at <= f.clock[0]; at += 2 {
		if _, ok := model[int(at)]; !ok {
			t.Fatalf("the list lost an element %d before its time", f.clock[0]-at)
		}
	}
	f.clock[0] += 200
	if len(mapOf(f, m)) != 0 || len(listOf(f, l)) != 0 {
		t.Fatal("expired parts are there")
	}
	f.sweep()
	if f.m.Len() != 0 {
		t.Fatalf("%d entries after the sweep", f.m.Len())
	}
}

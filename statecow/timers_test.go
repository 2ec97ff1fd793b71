package statecow_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

func newTestMap(t testing.TB, o statecow.Options) *statecow.Map {
	t.Helper()
	m, err := statecow.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func newTestTimers(t testing.TB, m *statecow.Map, name string) *statecow.Timers {
	t.Helper()
	q, err := statecow.NewTimers(m, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

type timer struct {
	at      int64
	key, ns string
}

func addTimer(t testing.TB, q *statecow.Timers, x timer) bool {
	t.Helper()
	ok, err := q.Add(x.at, statecow.Hash([]byte(x.key)), []byte(x.key), []byte(x.ns))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func removeTimer(t testing.TB, q *statecow.Timers, x timer) bool {
	t.Helper()
	ok, err := q.Remove(x.at, statecow.Hash([]byte(x.key)), []byte(x.key), []byte(x.ns))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// fired lets the timers up to now fire and returns them in order.
func fired(t testing.TB, q *statecow.Timers, now int64) (got []timer) {
	t.Helper()
	err := q.Fire(now, func(x statecow.Timer) error {
		if x.Hash != statecow.Hash(x.Key) {
			t.Fatalf("timer of %q has hash %x", x.Key, x.Hash)
		}
		got = append(got, timer{x.At, string(x.Key), string(x.Namespace)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func listed(q *statecow.Timers) (got []timer) {
	q.Each(func(x statecow.Timer) bool {
		got = append(got, timer{x.At, string(x.Key), string(x.Namespace)})
		return true
	})
	return got
}

func sortTimers(x []timer) []timer {
	slices.SortFunc(x, func(a, b timer) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key), cmp.Compare(a.ns, b.ns))
	})
	return x
}

func TestTimersFireInOrderAndOnce(t *testing.T) {
	m := newTestMap(t, statecow.Options{})
	q, other := newTestTimers(t, m, "timers"), newTestTimers(t, m, "other timers")
	rng := rand.New(rand.NewPCG(1, 2))
	model := map[timer]bool{}
	for range 20_000 {
		x := timer{rng.Int64N(1000) - 100, fmt.Sprint("key", rng.IntN(50)), fmt.Sprint(rng.IntN(3))}
		if rng.IntN(3) == 0 {
			if removeTimer(t, q, x) != model[x] {
				t.Fatalf("Remove(%v) does not say what it did", x)
			}
			delete(model, x)
		} else {
			if addTimer(t, q, x) == model[x] {
				t.Fatalf("Add(%v) does not say what it did", x)
			}
			model[x] = true
		}
		if q.Len() != len(model) {
			t.Fatalf("Len = %d, want %d", q.Len(), len(model))
		}
	}
	addTimer(t, other, timer{0, "key", ""})
	order := listed(q)
	var got []timer
	for now := int64(-100); now < 1000; now += 50 {
		next, ok := q.Next()
		before := len(got)
		got = append(got, fired(t, q, now)...)
		if ok && next <= now != (len(got) > before) || ok && next <= now && got[before].at != next {
			t.Fatalf("Next = %d, then %v fired", next, got[before:])
		}
	}
	if !slices.Equal(got, order) || !slices.IsSortedFunc(got, func(a, b timer) int { return cmp.Compare(a.at, b.at) }) {
		t.Fatal("timers did not fire in the listed order")
	}
	var want []timer
	for x := range model {
		want = append(want, x)
	}
	if !slices.Equal(sortTimers(got), sortTimers(want)) || q.Len() != 0 || other.Len() != 1 {
		t.Fatalf("%d timers fired, want %d; %d and %d are left", len(got), len(want), q.Len(), other.Len())
	}
}

func TestTimersMayBeAddedAndRemovedWhileFiring(t *testing.T) {
	m := newTestMap(t, statecow.Options{})
	q := newTestTimers(t, m, "timers")
	for _, k := range []string{"a", "b", "c"} {
		addTimer(t, q, timer{1, k, ""})
	}
	order := listed(q)
	var got []timer
	if err := q.Fire(5, func(x statecow.Timer) error {
		got = append(got, timer{x.At, string(x.Key), ""})
		if len(got) == 1 {
			removeTimer(t, q, order[1])
			addTimer(t, q, timer{4, "new", ""})
			addTimer(t, q, timer{9, "late", ""})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []timer{order[0], order[2], {4, "new", ""}}
	if !slices.Equal(got, want) || q.Len() != 1 {
		t.Fatalf("fired %v, want %v", got, want)
	}
	stop := errors.New("stop")
	addTimer(t, q, timer{10, "later", ""})
	if err := q.Fire(20, func(statecow.Timer) error { return stop }); err != stop || q.Len() != 1 {
		t.Fatalf("Fire = %v with %d left", err, q.Len())
	}
	if next, ok := q.Next(); next != 10 || !ok {
		t.Fatalf("Next = %d, %v", next, ok)
	}
}

func TestTimersRestoreInTheSameOrderAtAnotherSplit(t *testing.T) {
	m := newTestMap(t, statecow.Options{})
	q := newTestTimers(t, m, "timers")
	for i := range 2000 {
		addTimer(t, q, timer{int64(i % 20), fmt.Sprint("key", i), "w"})
	}
	for i := range 500 {
		removeTimer(t, q, timer{int64(i % 20), fmt.Sprint("key", i), "w"})
	}
	s, _ := m.Snapshot()
	var data bytes.Buffer
	if _, err := s.Write(&data, 0); err != nil {
		t.Fatal(err)
	}
	s.Release()
	want := listed(q)
	if len(want) != 1500 {
		t.Fatalf("%d timers", len(want))
	}
	var got [][]timer
	for i := range 2 {
		part := newTestMap(t, statecow.Options{Groups: statecow.Groups{First: i * 64, End: i*64 + 64}})
		if err := part.Restore(bytes.NewReader(data.Bytes())); err != nil {
			t.Fatal(err)
		}
		got = append(got, fired(t, newTestTimers(t, part, "timers"), 100))
	}
	var merged []timer // groups of the first part come first at every time
	for at := range int64(20) {
		for _, part := range got {
			for _, x := range part {
				if x.at == at {
					merged = append(merged, x)
				}
			}
		}
	}
	if !slices.Equal(merged, want) {
		t.Fatal("restored timers fire in another order")
	}
}

func TestTimersThatAreMovedAgainAndAgainDoNotPileUp(t *testing.T) {
	m := newTestMap(t, statecow.Options{Budget: 4 << 20})
	q := newTestTimers(t, m, "timeouts")
	var key [8]byte
	for i := range int64(300_000) {
		binary.LittleEndian.PutUint64(key[:], uint64(i%100))
		hash := statecow.Hash(key[:])
		if _, err := q.Remove(1_000_000+i-100, hash, key[:], nil); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Add(1_000_000+i, hash, key[:], nil); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Remove(5, hash, key[:], nil); err != nil { // on and off at one time
			t.Fatal(err)
		}
		if _, err := q.Add(5, hash, key[:], nil); err != nil {
			t.Fatal(err)
		}
	}
	if q.Len() != 200 || m.Len() > 2000 {
		t.Fatalf("%d timers take %d entries", q.Len(), m.Len())
	}
}

package statetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/statecow"
)

func frozen(h *harness) {
	h.fill(1000, "old")
	want := h.content(h.store, all().Groups)
	s := h.snapshot()
	defer s.Release()
	for i := range 500 {
		h.put(key(i), "new")
		h.remove(key(400 + i))
		h.put(fmt.Sprint("added", i), "x")
	}
	if s.Len() != 1000 {
		h.Fatalf("Len = %d", s.Len())
	}
	if diff := cmp.Diff(want, h.changes(s, 0)); diff != "" {
		h.Fatal(diff)
	}
}

func nested(h *harness) {
	var shots []statecow.Snapshot
	var want []map[string]string
	for round := range 6 {
		for i := range 300 {
			h.put(key(i*(round+1)), fmt.Sprint("round", round))
		}
		h.remove(key(round))
		shots = append(shots, h.snapshot())
		want = append(want, h.content(h.store, all().Groups))
	}
	for _, i := range []int{2, 5, 0, 3, 1, 4} {
		if diff := cmp.Diff(want[i], h.changes(shots[i], 0)); diff != "" {
			h.Fatalf("snapshot %d: %s", i, diff)
		}
		shots[i].Release()
		h.put(key(i), "between")
	}
}

func increment(h *harness) {
	h.fill(1000, "v")
	base := h.snapshot()
	h.store.Confirm(base.Mark())
	base.Release()
	h.put(key(1), "changed")
	h.put("new", "n")
	h.put("short-lived", "x")
	h.remove("short-lived")
	h.remove(key(2))
	h.remove(key(3))
	h.put(key(3), "back")
	s := h.snapshot()
	defer s.Release()
	got := h.changes(s, base.Mark())
	delete(got, "short-lived") // may be there, as deleted
	want := map[string]string{key(1): "changed", "new": "n", key(2): "-", key(3): "back"}
	if diff := cmp.Diff(want, got); diff != "" {
		h.Fatal(diff)
	}
}

func nothing(h *harness) {
	h.fill(1000, "v")
	base := h.snapshot()
	h.store.Confirm(base.Mark())
	base.Release()
	s := h.snapshot()
	defer s.Release()
	if data := h.write(s, base.Mark()); len(data) > 500 {
		h.Fatalf("an increment of nothing has %d bytes", len(data))
	}
}

func base(h *harness) {
	h.fill(10, "a")
	first := h.snapshot()
	defer first.Release()
	h.fill(10, "b")
	second := h.snapshot()
	defer second.Release()
	h.store.Abandon(first.Mark())
	h.fill(10, "c")
	third := h.snapshot()
	defer third.Release()
	ignore := func(statecow.Entry) error { return nil }
	if err := third.Entries(first.Mark(), ignore); !errors.Is(err, statecow.ErrBase) {
		h.Fatalf("increment since an abandoned snapshot: %v", err)
	}
	var nothing bytes.Buffer
	if _, err := third.Write(&nothing, first.Mark()); !errors.Is(err, statecow.ErrBase) || nothing.Len() > 0 {
		h.Fatalf("writing it: %v, after %d bytes", err, nothing.Len())
	}
	h.must(third.Entries(second.Mark(), ignore))
	h.store.Confirm(second.Mark())
	h.store.Abandon(second.Mark())
	fourth := h.snapshot()
	defer fourth.Release()
	h.must(fourth.Entries(second.Mark(), ignore))
	stop := errors.New("stop")
	if err := third.Entries(0, func(statecow.Entry) error { return stop }); err != stop {
		h.Fatalf("Entries = %v, want the callback's error", err)
	}
}

func split(h *harness) {
	h.fill(2000, "v")
	var chain [][]byte
	since := statecow.Mark(0)
	for round := range 4 {
		for i := range 200 {
			h.put(key(i*(round+1)), fmt.Sprint("round", round))
			h.remove(key(1000 + 50*round + i))
		}
		s := h.snapshot()
		chain = append(chain, h.write(s, since))
		since = s.Mark()
		s.Release()
	}
	got := map[string]string{}
	for first := 0; first < maxGroups; first += 50 {
		c := Config{maxGroups, statecow.Groups{First: first, End: min(first+50, maxGroups)}}
		part := h.open(c)
		for _, data := range chain {
			h.must(part.Restore(bytes.NewReader(data)))
		}
		maps.Copy(got, h.content(part, c.Groups))
	}
	if diff := cmp.Diff(h.content(h.store, all().Groups), got); diff != "" {
		h.Fatal(diff)
	}
}

func released(h *harness) {
	s := h.snapshot()
	s.Release()
	s.Release()
	if err := s.Entries(0, func(statecow.Entry) error { return nil }); !errors.Is(err, statecow.ErrReleased) {
		h.Fatalf("Entries of a released snapshot: %v", err)
	}
	if _, err := s.Write(new(bytes.Buffer), 0); !errors.Is(err, statecow.ErrReleased) {
		h.Fatalf("Write of a released snapshot: %v", err)
	}
}

// damage restores every truncation and, at every byte, one flipped bit.
func damage(h *harness) {
	h.fill(5, "some value ")
	s := h.snapshot()
	data := h.write(s, 0)
	s.Release()
	refused := func(what string, i int, bad []byte) {
		h.Helper()
		st := h.factory(h, all())
		defer st.Close()
		var corrupt *statecow.CorruptError
		if err := st.Restore(bytes.NewReader(bad)); !errors.As(err, &corrupt) {
			h.Fatalf("%s at %d of %d: Restore = %v", what, i, len(data), err)
		}
	}
	for i := range data {
		refused("truncated", i, data[:i])
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		refused("flipped", i, bad)
	}
	refused("data after the end", len(data), append(bytes.Clone(data), 0))
}

package statetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/statecow"
)

func getPut(h *harness) {
	h.fill(1000, "a")
	h.fill(500, "longer value ")
	if v, ok := h.get(key(7)); v != "longer value 7" || !ok {
		h.Fatalf("Get = %q, %v", v, ok)
	}
	if v, ok := h.get(key(700)); v != "a700" || !ok {
		h.Fatalf("Get = %q, %v", v, ok)
	}
	if !h.remove(key(7)) || h.remove(key(7)) {
		h.Fatal("Delete does not say what it did")
	}
	if _, ok := h.get(key(7)); ok {
		h.Fatal("a deleted key is there")
	}
	if h.store.Len() != 999 {
		h.Fatalf("Len = %d", h.store.Len())
	}
}

func update(h *harness) {
	k := []byte("k")
	add := func(delta string, keep bool) (old string, found bool) {
		h.must(h.store.Update(statecow.Hash(k), k, func(v []byte, ok bool) ([]byte, bool) {
			old, found = string(v), ok
			return []byte(old + delta), keep
		}))
		return old, found
	}
	if _, found := add("", false); found || h.store.Len() != 0 {
		h.Fatal("Update of an absent key found it or left it")
	}
	add("a", true)
	if old, found := add("b", true); old != "a" || !found {
		h.Fatalf("Update saw %q, %v", old, found)
	}
	if v, _ := h.get("k"); v != "ab" {
		h.Fatalf("Get = %q", v)
	}
	add("", false)
	if _, ok := h.get("k"); ok {
		h.Fatal("Update did not delete")
	}
	h.put("same", "value")
	h.must(h.store.Update(statecow.Hash([]byte("same")), []byte("same"), func(v []byte, _ bool) ([]byte, bool) { return v, true }))
	if v, _ := h.get("same"); v != "value" {
		h.Fatalf("Update with the old value left %q", v)
	}
}

func empties(h *harness) {
	h.put("", "empty key")
	h.put("empty value", "")
	if v, ok := h.get(""); v != "empty key" || !ok {
		h.Fatalf("Get = %q, %v", v, ok)
	}
	if v, ok := h.get("empty value"); v != "" || !ok {
		h.Fatalf("Get = %q, %v", v, ok)
	}
	s := h.snapshot()
	defer s.Release()
	if got := h.changes(s, 0); len(got) != 2 {
		h.Fatalf("snapshot has %v", got)
	}
}

func long(h *harness) {
	want := map[string]string{}
	for _, n := range []int{250, 254, 255, 256, 70_000, 700_000} {
		k, v := strings.Repeat("k", n), strings.Repeat("v", 3*n)
		h.put(k, v)
		h.put("short"+fmt.Sprint(n), v)
		want[k], want["short"+fmt.Sprint(n)] = v, v
	}
	s := h.snapshot()
	data := h.write(s, 0)
	s.Release()
	other := h.open(all())
	h.must(other.Restore(bytes.NewReader(data)))
	for _, st := range []statecow.Store{h.store, other} {
		if diff := cmp.Diff(want, h.content(st, all().Groups)); diff != "" {
			h.Fatal(diff)
		}
	}
}

func ranges(h *harness) {
	h.fill(3000, "v")
	total := 0
	for g := 0; g < maxGroups; g += 32 {
		total += len(h.content(h.store, statecow.Groups{First: g, End: g + 32}))
	}
	if total != 3000 || len(h.content(h.store, all().Groups)) != 3000 {
		h.Fatalf("quarters of the groups hold %d keys", total)
	}
	n := 0
	h.must(h.store.Range(all().Groups, func(uint32, []byte, []byte) bool { n++; return n < 10 }))
	if n != 10 {
		h.Fatalf("Range went on to %d after false", n)
	}
}

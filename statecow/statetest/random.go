package statetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/statecow"
)

// prefixExpiry expires entries whose value begins with a number, then.
type prefixExpiry struct{ now int64 }

func (e *prefixExpiry) Deadline(_, value []byte) (statecow.ExpiryClock, int64) {
	var at int64
	if _, err := fmt.Sscanf(string(value), "%d", &at); err != nil {
		return statecow.EventTime, statecow.NoDeadline
	}
	return statecow.EventTime, at
}

func (e *prefixExpiry) Now(statecow.ExpiryClock) int64 { return e.now }

func expiry(h *harness) {
	e := &prefixExpiry{}
	h.store.SetExpiry(e)
	for i := range 1000 {
		h.put(key(i), fmt.Sprint(100+i%10))
		h.put(fmt.Sprint("forever", i), "never")
	}
	e.now = 104
	for range 1_000_000 {
		more, err := h.store.Maintain(16)
		h.must(err)
		if !more {
			break
		}
	}
	got := h.content(h.store, all().Groups)
	if len(got) != 1500 {
		h.Fatalf("%d entries are left, want 1500", len(got))
	}
	for k, v := range got {
		if _, at := e.Deadline(nil, []byte(v)); at <= e.now {
			h.Fatalf("%q has expired and is there", k)
		}
	}
	if n := h.store.Stats().Expired; n != 500 {
		h.Fatalf("Expired = %d", n)
	}
}

// random compares a store with a Go map, in rounds that each end with a link of a
// chain, whose restore is compared too.
func random(h *harness) {
	rng := rand.New(rand.NewPCG(1, uint64(h.store.Len())))
	model := map[string]string{}
	var chain [][]byte
	since := statecow.Mark(0)
	for round := range 20 {
		for range 1000 {
			k := key(rng.IntN(800))
			switch rng.IntN(4) {
			case 0:
				_, had := model[k]
				if h.remove(k) != had {
					h.Fatalf("Delete(%s) = %v", k, !had)
				}
				delete(model, k)
			default:
				model[k] = fmt.Sprint(rng.Uint64() >> rng.IntN(64))
				h.put(k, model[k])
			}
		}
		want := maps.Clone(model)
		s := h.snapshot()
		h.put("after", "the snapshot")
		h.remove("after")
		if diff := cmp.Diff(want, h.changes(s, 0)); diff != "" {
			h.Fatalf("round %d: %s", round, diff)
		}
		chain = append(chain, h.write(s, since))
		since = s.Mark()
		s.Release()
	}
	other := h.open(all())
	for _, data := range chain {
		h.must(other.Restore(bytes.NewReader(data)))
	}
	if diff := cmp.Diff(model, h.content(other, all().Groups)); diff != "" {
		h.Fatal(diff)
	}
}

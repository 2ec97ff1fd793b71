package netstack

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRingIsAQueueWithInsertion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[*int]
		var want []*int
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 9).Draw(t, "n") {
					v := new(int)
					r.push(v)
					want = append(want, v)
				}
			},
			"insert": func(t *rapid.T) {
				i, v := rapid.IntRange(0, len(want)).Draw(t, "at"), new(int)
				r.insert(i, v)
				want = slices.Insert(want, i, v)
			},
			"pop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				if v := r.pop(); v != want[0] {
					t.Fatalf("popped %p, want %p", v, want[0])
				}
				want = want[1:]
			},
			"": func(t *rapid.T) {
				if r.len() != len(want) {
					t.Fatalf("length %d, want %d", r.len(), len(want))
				}
				for i, v := range want {
					if *r.at(i) != v {
						t.Fatalf("element %d is %p, want %p", i, *r.at(i), v)
					}
				}
				held := 0
				for _, v := range r.slots {
					if v != nil {
						held++
					}
				}
				if held != len(want) {
					t.Fatalf("%d references are kept for %d elements", held, len(want))
				}
			},
		})
	})
}

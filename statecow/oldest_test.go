package statecow_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

// oldest is what snapshots tell of links that are not needed any more.
type oldest interface{ Oldest() statecow.Mark }

// rolled is a store whose chain of increments is never written anew, and what it must equal.
type rolled struct {
	t     *testing.T
	rng   *rand.Rand
	m     *statecow.Map
	want  map[string]string
	links [][]byte
	until []statecow.Mark
	left  int // links that were left out
}

func (r *rolled) put(k, round int) {
	key := fmt.Appendf(nil, "key %06d", k)
	value := fmt.Appendf(nil, "%0*d", 8+r.rng.IntN(20), round)
	must(r.t, r.m.Put(statecow.Hash(key), key, value))
	r.want[string(key)] = string(value)
}

func (r *rolled) remove(k int) {
	key := fmt.Appendf(nil, "key %06d", k)
	_, err := r.m.Delete(statecow.Hash(key), key)
	must(r.t, err)
	delete(r.want, string(key))
}

// checkpoint adds a link, and leaves out those that it makes needless.
func (r *rolled) checkpoint() {
	s, err := r.m.Snapshot()
	must(r.t, err)
	defer s.Release()
	var since statecow.Mark
	if n := len(r.until); n > 0 {
		since = r.until[n-1]
	}
	var b bytes.Buffer
	_, err = s.Write(&b, since)
	must(r.t, err)
	for len(r.until) > 0 && r.until[0] <= s.(oldest).Oldest() {
		r.links, r.until = r.links[1:], r.until[1:]
		r.left++
	}
	r.links, r.until = append(r.links, b.Bytes()), append(r.until, s.Mark())
	r.m.Confirm(s.Mark())
}

// restored compares what the links lead to.
func (r *rolled) restored() *statecow.Map {
	m, err := statecow.New(statecow.Options{Budget: 64 << 20, SegmentSize: 64 << 10})
	must(r.t, err)
	restoreChain(r.t, m, r.links, nil)
	left := maps.Clone(r.want)
	must(r.t, m.Range(statecow.Groups{First: 0, End: 128}, func(_ uint32, key, value []byte) bool {
		if v, ok := left[string(key)]; !ok || v != string(value) {
			r.t.Fatalf("%s is %s, want %s, %v, of %d links without %d", key, value, v, ok, len(r.links), r.left)
		}
		delete(left, string(key))
		return true
	}))
	if len(left) > 0 {
		r.t.Fatalf("%d keys are missing, of %d links without %d", len(left), len(r.links), r.left)
	}
	return m
}

// TestLinksInWhichNothingLivesAreLeftOut moves a window of changes over all keys, with some
// changes, deletions and new keys elsewhere, and goes on from what it restores now and then.
func TestLinksInWhichNothingLivesAreLeftOut(t *testing.T) {
	const keys, window = 20_000, 1000
	for _, astray := range []int{0, 300} { // changes outside the window
		t.Run(fmt.Sprint(astray), func(t *testing.T) {
			m, err := statecow.New(statecow.Options{Budget: 64 << 20, SegmentSize: 64 << 10})
			must(t, err)
			r := &rolled{t: t, rng: rand.New(rand.NewPCG(5, uint64(astray))), m: m, want: map[string]string{}}
			for k := range keys {
				r.put(k, 0)
			}
			r.checkpoint()
			for round := 1; round <= 90; round++ {
				for k := range window {
					if r.rng.IntN(50) > 0 { // it does not get hold of all
						r.put((round*window+k)%keys, round)
					}
				}
				for range astray {
					r.put(r.rng.IntN(keys), round)
					r.remove(r.rng.IntN(keys))
				}
				r.checkpoint()
				if round%9 == 0 {
					must(t, r.restored().Close())
				}
				if round == 45 { // what was restored is the base of the next increment
					m := r.restored()
					must(t, r.m.Close())
					r.m = m
					s, err := m.Snapshot()
					must(t, err)
					for i := range r.until {
						r.until[i] = s.Mark()
					}
					m.Confirm(s.Mark())
					s.Release()
				}
			}
			if r.left < 50 || len(r.links) > 30 {
				t.Errorf("%d links were left out, %d are left", r.left, len(r.links))
			}
			must(t, r.m.Close())
		})
	}
}

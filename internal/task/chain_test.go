package task

import (
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/statecow"
)

// aged is a snapshot that was taken at a mark and has nothing from before another.
type aged struct {
	statecow.Snapshot
	mark, oldest statecow.Mark
}

func (a aged) Mark() statecow.Mark   { return a.mark }
func (a aged) Oldest() statecow.Mark { return a.oldest }

func TestAChainLosesTheLinksInWhichNothingLives(t *testing.T) {
	blob := func(n uint32, size int64) checkpoint.BlobRef {
		return checkpoint.BlobRef{Name: checkpoint.BlobName{Seq: n}, Size: size}
	}
	var c chain
	for i, s := range []aged{{mark: 10, oldest: 1}, {mark: 20, oldest: 5}, {mark: 30, oldest: 9}, {mark: 40, oldest: 10}, {mark: 50, oldest: 50}} {
		before := len(c)
		next := c.with(blob(uint32(i), 100), s)
		if len(c) != before {
			t.Fatal("the chain that it builds on has changed")
		}
		c = next
		if want := []int{1, 2, 3, 3, 1}[i]; len(c) != want || len(c.refs()) != want {
			t.Errorf("link %d: %d links, want %d", i, len(c), want)
		}
		if last := c[len(c)-1]; last.ref != blob(uint32(i), 100) || last.until != s.mark {
			t.Errorf("link %d: the last is %+v", i, last)
		}
	}
	// A snapshot that does not tell keeps all.
	if n := len(c.with(blob(9, 1), struct{ statecow.Snapshot }{aged{mark: 90, oldest: 90}})); n != len(c)+1 {
		t.Errorf("%d links, want one more than %d", n, len(c))
	}
	for _, w := range []struct {
		sizes []int64
		live  int64
		want  bool
	}{
		{nil, 100, true}, {[]int64{100}, 100, false}, {[]int64{100, 100, 20}, 100, false}, {[]int64{100, 100, 30}, 100, true},
		{[]int64{100}, 40, true}, {[]int64{10, 10, 10}, 100, false}, {[]int64{100, 99}, 0, false}, {[]int64{100, 101}, 0, true},
		{make([]int64, maxChain), 100, true},
	} {
		var c chain
		for i, n := range w.sizes {
			c = append(c, written{ref: blob(uint32(i), n)})
		}
		if got := c.worn(w.live); got != w.want {
			t.Errorf("links of %d with %d living: worn %v", w.sizes, w.live, got)
		}
	}
}

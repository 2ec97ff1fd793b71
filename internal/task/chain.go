package task

import (
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/statecow"
)

// chain is what a checkpoint has of a store: a full snapshot, and the increments that follow
// it. Of old links nothing may live any more, of the full snapshot first; they are left out
// then.
type chain []written

// written is a link: it has what was written to the store up to a mark, and behind the
// mark of the link before it.
type written struct {
	ref   checkpoint.BlobRef
	until statecow.Mark
}

const (
	// A chain is written anew when it has many links, or when it has grown to more than
	// twice of what a full snapshot would have: the second bounds what a restore reads, the
	// first only the number of blobs, so it is not to come first where a hundredth of the
	// state changes from one checkpoint to the next. There is time for those links to be
	// left out that a window of changing keys has left behind.
	maxChain = 128
	maxWorn  = 2.25
)

// worn reports whether a chain is better written anew. live is about how much a full
// snapshot has; 0 if that is not known.
func (c chain) worn(live int64) bool {
	if len(c) == 0 || len(c) >= maxChain {
		return true
	}
	var total int64
	for _, w := range c {
		total += w.ref.Size
	}
	if live == 0 {
		return total > 2*c[0].ref.Size
	}
	return float64(total) > maxWorn*float64(live)
}

// with returns the chain with one more link, a snapshot, and without those of which nothing
// lives in that.
func (c chain) with(ref checkpoint.BlobRef, snap statecow.Snapshot) chain {
	if s, ok := snap.(interface{ Oldest() statecow.Mark }); ok && len(c) > 0 {
		oldest := s.Oldest()
		for len(c) > 0 && c[0].until <= oldest {
			c = c[1:]
		}
	}
	return append(append(make(chain, 0, len(c)+1), c...), written{ref, snap.Mark()})
}

// refs are its blobs.
func (c chain) refs() []checkpoint.BlobRef {
	list := make([]checkpoint.BlobRef, len(c))
	for i, w := range c {
		list[i] = w.ref
	}
	return list
}

// names adds the names of its blobs to a set.
func (c chain) names(to map[checkpoint.BlobName]bool) {
	for _, w := range c {
		to[w.ref.Name] = true
	}
}

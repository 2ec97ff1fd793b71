package state

import (
	"runtime"

	"github.com/benbjohnson/immutable"
	"github.com/tidwall/btree"

	"github.com/overtake-stream/overtake/statecow"
)

// btreeWords is a B-tree whose Copy takes constant time; nodes are copied when they
// change afterwards.
type btreeWords struct{ m btree.Map[uint64, uint64] }

func (b *btreeWords) put(key uint64) error {
	b.m.Set(key, 1)
	return nil
}

func (b *btreeWords) update(keys []uint64) error {
	for _, k := range keys {
		if v, ok := b.m.Get(k); ok {
			b.m.Set(k, v+1)
		}
	}
	return nil
}

func (b *btreeWords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		v, _ := b.m.Get(k)
		sum += v
	}
	return sum
}

func (b *btreeWords) snapshot() func() {
	c := b.m.Copy()
	return func() { runtime.KeepAlive(c) }
}

func (b *btreeWords) close() error { return nil }

// trieWords is a persistent hash trie: every change makes a new version, which shares
// what did not change. Loading it may change nodes in place.
type trieWords struct {
	builder *immutable.MapBuilder[uint64, uint64] // until the first use after loading
	m       *immutable.Map[uint64, uint64]
}

func newTrieWords() *trieWords {
	return &trieWords{builder: immutable.NewMapBuilder[uint64, uint64](wordHasher{})}
}

type wordHasher struct{}

// Hash implements immutable.Hasher.
func (wordHasher) Hash(key uint64) uint32 { return statecow.HashUint64(key) }

// Equal implements immutable.Hasher.
func (wordHasher) Equal(a, b uint64) bool { return a == b }

func (t *trieWords) put(key uint64) error {
	t.builder.Set(key, 1)
	return nil
}

func (t *trieWords) built() *immutable.Map[uint64, uint64] {
	if t.m == nil {
		t.m = t.builder.Map()
	}
	return t.m
}

func (t *trieWords) update(keys []uint64) error {
	m := t.built()
	for _, k := range keys {
		v, _ := m.Get(k)
		m = m.Set(k, v+1)
	}
	t.m = m
	return nil
}

func (t *trieWords) get(keys []uint64) (sum uint64) {
	m := t.built()
	for _, k := range keys {
		v, _ := m.Get(k)
		sum += v
	}
	return sum
}

func (t *trieWords) snapshot() func() {
	m := t.built()
	return func() { runtime.KeepAlive(m) }
}

func (t *trieWords) close() error { return nil }

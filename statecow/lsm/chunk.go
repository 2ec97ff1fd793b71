package lsm

import (
	"bytes"
	"slices"

	"github.com/overtake-stream/overtake/statecow"
)

// chunk gathers entries that come in no order and returns them in that of their
// keys. Sorting many is much faster than adding each to a memtable in turn.
type chunk struct {
	data  []byte // keys and values of the store, one after the other
	items []chunkItem
}

// chunkItem is where an entry lies. Most comparisons need no more than its order.
type chunkItem struct {
	order    uint64 // the first bytes after the space: hash, and four of the key
	at       uint32
	key, end uint32 // lengths: of the key, and of key and value
}

func (c *chunk) add(mark statecow.Mark, e statecow.Entry) {
	at := len(c.data)
	c.data = appendData(c.data, e.Hash, e.Key)
	key := len(c.data) - at
	c.data = appendValue(c.data, mark, e.Value)
	var order uint64
	for i, b := range e.Key[:min(4, len(e.Key))] {
		order |= uint64(b) << (24 - 8*i)
	}
	c.items = append(c.items, chunkItem{uint64(e.Hash)<<32 | order, uint32(at), uint32(key), uint32(len(c.data) - at)})
}

func (c *chunk) full() bool { return len(c.data) >= ingestTable }

// sorted lends the entries, as keys and values of the store, and forgets them.
func (c *chunk) sorted(f func(k, v []byte) error) error {
	slices.SortFunc(c.items, func(a, b chunkItem) int {
		switch {
		case a.order < b.order:
			return -1
		case a.order > b.order:
			return 1
		}
		return bytes.Compare(c.data[a.at:a.at+a.key], c.data[b.at:b.at+b.key])
	})
	for _, it := range c.items {
		if err := f(c.data[it.at:it.at+it.key], c.data[it.at+it.key:it.at+it.end]); err != nil {
			return err
		}
	}
	c.data, c.items = c.data[:0], c.items[:0]
	return nil
}

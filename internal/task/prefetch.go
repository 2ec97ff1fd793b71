package task

import (
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/statecow"
)

const (
	// prefetchAhead is how many records' state is fetched at a time. Their cache misses
	// overlap, where those of one record after the other hardly do.
	prefetchAhead = 64
	// prefetchKeys is from how many keys on: fewer stay in the caches by themselves.
	prefetchKeys = 100_000
)

// initPrefetch finds the one map whose entries are stored under the records' hashes. The
// operators are open.
func (t *Task) initPrefetch() {
	if t.checkpoints == nil || len(t.checkpoints.Stores.list) != 1 {
		return
	}
	k := t.checkpoints.Stores.list[0].keyed
	if m, ok := k.Store.(*statecow.Map); ok && k.Direct {
		t.ahead = m
	}
}

// prefetch fetches the state of the next records of the buffer.
func (t *Task) prefetch() {
	if t.ahead.Len() < prefetchKeys {
		return
	}
	var hashes [prefetchAhead]uint32
	n := 0
	it := t.cursor.it
	var r record.Record
	for n < len(hashes) {
		if ok, err := it.Next(&r); !ok || err != nil {
			break // slice will say so
		}
		hashes[n] = r.Hash
		n++
	}
	t.ahead.Prefetch(hashes[:n])
}

package state

import (
	"fmt"

	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/statecow"
)

// subject is a store of either side. Values count updates: they begin at 1 when a key
// is put.
type subject interface {
	put(key uint64) error
	update(keys []uint64) error // adds 1 to each
	get(keys []uint64) uint64   // the sum of their values
	snapshot() (held func())    // a copy, which lives until it is released
	close() error               // after all copies were released
}

// cow is a subject that is a statecow map.
type cow interface {
	subject
	prefetched(keys []uint64) error // update, with Prefetch
	state() *statecow.Map
	empty() (cow, error) // another one
}

// Kinds of subjects.
const (
	kindOurs     = "statecow"
	kindBuiltin  = "builtin map"
	kindPointers = "builtin map of pointers"
	kindBtree    = "btree"
	kindHAMT     = "HAMT"
	kindNone     = "no map" // what the measurement itself takes, and the machine
)

// layout is the size of keys and values in bytes.
type layout struct{ Key, Value int64 }

func (l layout) String() string { return fmt.Sprintf("%d+%d", l.Key, l.Value) }

func (l layout) entry() int64 { return l.Key + l.Value }

// spec says what a process holds.
type spec struct {
	Kind   string
	Layout layout
	N      int64

	Pressure pressure.Config // on the choice of keys, and on files
}

func (s spec) open() (subject, error) {
	if s.Kind == kindNone {
		return &nothing{}, nil
	}
	switch s.Layout {
	case layout{8, 8}:
		return s.openWords()
	case layout{16, 200}:
		return s.openRecords()
	}
	return nil, fmt.Errorf("state: no stores for entries of %s bytes", s.Layout)
}

func (s spec) openWords() (subject, error) {
	switch s.Kind {
	case kindOurs:
		return newCowWords(s)
	case kindBuiltin:
		return &builtinWords{m: map[uint64]uint64{}}, nil
	case kindPointers:
		return &pointerWords{m: map[uint64]*uint64{}}, nil
	case kindBtree:
		return &btreeWords{}, nil
	case kindHAMT:
		return newTrieWords(), nil
	}
	return nil, fmt.Errorf("state: no %s for entries of %s bytes", s.Kind, s.Layout)
}

func (s spec) openRecords() (subject, error) {
	switch s.Kind {
	case kindOurs:
		return newCowRecords(s)
	case kindBuiltin:
		return &builtinRecords{m: map[recordKey]record{}}, nil
	case kindPointers:
		return &pointerRecords{m: map[recordKey]*record{}}, nil
	}
	return nil, fmt.Errorf("state: no %s for entries of %s bytes", s.Kind, s.Layout)
}

// options give room for four times the entries, and for the rest that small maps hold.
func (s spec) options() statecow.Options {
	return statecow.Options{Budget: max(1<<30, min(statecow.MaxBudget, 4*s.N*(s.Layout.entry()+8)))}
}

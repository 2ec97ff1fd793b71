package operators

// Table is keyed state: an accumulator of A for every key, by the key's encoding.
// It belongs to the subtask's goroutine.
type Table[A any] interface {
	// Upsert lends the accumulator of a key, for change in place until the next
	// call; fresh says that it is new and zero. It lends key.
	Upsert(hash uint32, key []byte) (acc *A, fresh bool, err error)
	// Get lends the accumulator of a key until the next call, or nil. It lends key.
	Get(hash uint32, key []byte) *A
	// Delete removes a key. It lends key.
	Delete(hash uint32, key []byte)
	// Len is the number of keys.
	Len() int
	// Each lends every key and its accumulator to f, in no particular order, until f
	// returns false. f must not change the table's set of keys.
	Each(f func(key []byte, acc *A) bool)
}

// heapTable is a Table in a Go map. Accumulators are allocated many at a time.
type heapTable[A any] struct {
	index map[string]*A
	slab  []A
}

const slabSize = 256

func newTable[A any]() Table[A] { return &heapTable[A]{index: map[string]*A{}} }

// Upsert implements Table.
func (t *heapTable[A]) Upsert(_ uint32, key []byte) (*A, bool, error) {
	if acc := t.index[string(key)]; acc != nil {
		return acc, false, nil
	}
	if len(t.slab) == 0 {
		t.slab = make([]A, slabSize)
	}
	acc := &t.slab[0]
	t.slab = t.slab[1:]
	t.index[string(key)] = acc
	return acc, true, nil
}

// Get implements Table.
func (t *heapTable[A]) Get(_ uint32, key []byte) *A { return t.index[string(key)] }

// Delete implements Table.
func (t *heapTable[A]) Delete(_ uint32, key []byte) { delete(t.index, string(key)) }

// Len implements Table.
func (t *heapTable[A]) Len() int { return len(t.index) }

// Each implements Table.
func (t *heapTable[A]) Each(f func(key []byte, acc *A) bool) {
	for key, acc := range t.index {
		if !f([]byte(key), acc) {
			return
		}
	}
}

package netstack

// ring is a FIFO on a slice that grows by doubling and is reused for ever.
type ring[T any] struct {
	slots      []T // length is 0 or a power of two
	head, size int
}

func (r *ring[T]) len() int { return r.size }

func (r *ring[T]) at(i int) *T { return &r.slots[(r.head+i)&(len(r.slots)-1)] }

func (r *ring[T]) push(v T) {
	r.grow()
	r.slots[(r.head+r.size)&(len(r.slots)-1)] = v
	r.size++
}

// insert puts v before the element at index i.
func (r *ring[T]) insert(i int, v T) {
	r.push(v)
	for k := r.size - 1; k > i; k-- {
		*r.at(k), *r.at(k - 1) = *r.at(k - 1), *r.at(k)
	}
}

// remove takes the element at index i out. Those behind it close up.
func (r *ring[T]) remove(i int) T {
	v := *r.at(i)
	for ; i > 0; i-- {
		*r.at(i) = *r.at(i - 1)
	}
	r.pop()
	return v
}

// index is the index of the first element that f accepts, -1 if there is none.
func (r *ring[T]) index(f func(v *T) bool) int {
	for i := range r.size {
		if f(r.at(i)) {
			return i
		}
	}
	return -1
}

func (r *ring[T]) pop() T {
	var zero T
	slot := r.at(0)
	v := *slot
	*slot = zero // drop references
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.size--
	return v
}

func (r *ring[T]) grow() {
	if r.size < len(r.slots) {
		return
	}
	slots := make([]T, max(8, 2*len(r.slots)))
	for i := range r.size {
		slots[i] = *r.at(i)
	}
	r.slots, r.head = slots, 0
}

package operators

// Pair is a key and what belongs to it.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

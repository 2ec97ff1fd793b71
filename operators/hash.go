package operators

import "github.com/overtake-stream/overtake/statecow"

// Hasher hashes keys. It is stable across processes and versions: key groups in
// checkpoints depend on it.
type Hasher[K comparable] func(key K) uint32

// HasherFor returns the hasher of K: strings and integers directly, all other
// types by the bytes of their codec.
func HasherFor[K comparable](codec Codec[K]) Hasher[K] {
	var zero K
	var h any
	switch any(zero).(type) {
	case string:
		h = Hasher[string](func(k string) uint32 { return statecow.HashString(k) })
	case int:
		h = Hasher[int](func(k int) uint32 { return HashInt(uint64(k)) })
	case int64:
		h = Hasher[int64](func(k int64) uint32 { return HashInt(uint64(k)) })
	case uint64:
		h = Hasher[uint64](HashInt)
	case int32:
		h = Hasher[int32](func(k int32) uint32 { return HashInt(uint64(k)) })
	case uint32:
		h = Hasher[uint32](func(k uint32) uint32 { return HashInt(uint64(k)) })
	default:
		var scratch []byte // a hasher belongs to one subtask, as its scratch does
		return func(k K) uint32 {
			scratch = codec.Append(scratch[:0], k)
			return HashBytes(scratch)
		}
	}
	return h.(Hasher[K])
}

// HashBytes hashes an encoded key. The hashes and key groups are those of package
// statecow: the exchange and the state must agree on both.
func HashBytes(b []byte) uint32 { return statecow.Hash(b) }

// HashInt hashes an integer key.
func HashInt(k uint64) uint32 { return statecow.HashUint64(k) }

// KeyGroup is the key group of a hash among max groups: groups are consecutive
// ranges of hashes.
func KeyGroup(hash uint32, max int) int { return statecow.KeyGroup(hash, max) }

// GroupOwner is the subtask that owns a key group: subtasks own consecutive
// ranges of groups.
func GroupOwner(group, max, parallelism int) int { return group * parallelism / max }

// GroupRange is the range of key groups, first to last exclusive, of a subtask.
func GroupRange(subtask, max, parallelism int) (first, end int) {
	up := func(n int) int { return (n*max + parallelism - 1) / parallelism }
	return up(subtask), up(subtask + 1)
}

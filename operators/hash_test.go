package operators_test

import (
	"testing"

	"github.com/overtake-stream/overtake/operators"
)

// The hashes are part of checkpoints and must never change.
func TestHashesAreStable(t *testing.T) {
	ints, _ := operators.CodecFor[int]()
	strs, _ := operators.CodecFor[string]()
	pairs, _ := operators.CodecFor[operators.Pair[uint64, int64]]()
	for name, got := range map[string][2]uint32{
		"int 42":     {operators.HasherFor(ints)(42), 0x8b82c78b},
		"string key": {operators.HasherFor(strs)("key"), 0x1bbb6880},
		"pair":       {operators.HasherFor(pairs)(operators.Pair[uint64, int64]{Key: 1, Value: 2}), 0x86aaed2d},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %#x, want %#x", name, got[0], got[1])
		}
	}
}

func TestGroupsCoverAllSubtasksEvenly(t *testing.T) {
	for _, max := range []int{1, 7, 128, 1000} {
		for parallelism := 1; parallelism <= min(max, 20); parallelism++ {
			next := 0
			for subtask := range parallelism {
				first, end := operators.GroupRange(subtask, max, parallelism)
				if first != next || end <= first {
					t.Fatalf("max %d, %d of %d: groups %d to %d after %d", max, subtask, parallelism, first, end, next)
				}
				for g := first; g < end; g++ {
					if owner := operators.GroupOwner(g, max, parallelism); owner != subtask {
						t.Fatalf("max %d: group %d is owned by %d and in the range of %d", max, g, owner, subtask)
					}
				}
				next = end
			}
			if next != max {
				t.Fatalf("%d of %d groups are covered", next, max)
			}
		}
	}
	counts := make([]int, 128)
	for k := range uint64(128_000) {
		counts[operators.KeyGroup(operators.HashInt(k), 128)]++
	}
	for g, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("group %d has %d of 128000 consecutive keys, want about 1000", g, n)
		}
	}
}

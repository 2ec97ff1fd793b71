package files

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// split is a byte range of a file: the lines that begin in it from offset next on.
type split struct {
	path             string
	start, end, next int64
	number           int // among those that the reader was opened with; not in checkpoints
}

var errPosition = errors.New("files: damaged position")

// encode is the position of a split in a checkpoint.
func (s split) encode() []byte {
	b := binary.AppendVarint(nil, s.start)
	b = binary.AppendVarint(b, s.end)
	b = binary.AppendVarint(b, s.next)
	return append(b, s.path...)
}

func decodeSplit(b []byte) (s split, err error) {
	for _, field := range []*int64{&s.start, &s.end, &s.next} {
		v, n := binary.Varint(b)
		if n <= 0 {
			return s, errPosition
		}
		*field, b = v, b[n:]
	}
	s.path = string(b)
	if s.start < 0 || s.end < s.start || s.next < s.start || s.path == "" {
		return s, fmt.Errorf("%w: %s %d-%d at %d", errPosition, s.path, s.start, s.end, s.next)
	}
	return s, nil
}

// share returns one subtask's splits, in order of path. The largest splits go first, to
// whoever has least, which every subtask works out alike.
func share(all []split, subtask, parallelism int) []split {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	size := func(i int) int64 { return all[i].end - all[i].start }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	load := make([]int64, parallelism)
	owner := make([]int, len(all))
	for _, i := range order {
		least := 0
		for s := range load {
			if load[s] < load[least] {
				least = s
			}
		}
		load[least] += size(i)
		owner[i] = least
	}
	var mine []split
	for i, s := range all {
		if owner[i] == subtask {
			mine = append(mine, s)
		}
	}
	return mine
}

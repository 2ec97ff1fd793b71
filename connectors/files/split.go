package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// split is a byte range of a file: the lines that begin in it from offset next on.
type split struct {
	path             string
	start, end, next int64
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

// list returns the splits of all files that match, in order of path. Symbolic links
// and other special files are not followed.
func list(o Options) ([]split, error) {
	pattern, err := compileGlob(o.Glob)
	if err != nil {
		return nil, err
	}
	var all []split
	err = filepath.WalkDir(o.Root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("files: %w", err)
		}
		if !entry.Type().IsRegular() || !matches(pattern, o.Root, name) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("files: %w", err)
		}
		for start := int64(0); start < info.Size(); start += o.MaxSplit {
			all = append(all, split{path: name, start: start, next: start, end: min(start+o.MaxSplit, info.Size())})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b split) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return int(min(1, max(-1, a.start-b.start)))
	})
	return all, err
}

// matches reports whether a file below root matches; root itself always does.
func matches(g glob, root, name string) bool {
	rel, err := filepath.Rel(root, name)
	return err == nil && (rel == "." || g.match(filepath.ToSlash(rel)))
}

// share returns one subtask's splits: the largest first to whoever has least, which
// every subtask works out alike.
func share(all []split, subtask, parallelism int) (mine []split) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	size := func(i int) int64 { return all[i].end - all[i].start }
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, size(b)-size(a)))) })
	load := make([]int64, parallelism)
	for _, i := range order {
		least := 0
		for s := range load {
			if load[s] < load[least] {
				least = s
			}
		}
		load[least] += size(i)
		if least == subtask {
			mine = append(mine, all[i])
		}
	}
	return mine
}

// open opens the file of a split.
func (s split) open() (*os.File, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return f, nil
}

package files

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/overtake-stream/overtake/operators"
)

// listing is the list of all splits, made once for the subtasks of one process: they
// must agree on it, also when files come and grow meanwhile.
type listing struct {
	mu struct {
		sync.Mutex
		splits []split
		epoch  uint64       // of the attempt that they are of
		taken  map[int]bool // by subtask
	}
}

// of returns the list. A later attempt gets a new one; without epochs, a subtask that
// comes again belongs to one.
func (l *listing) of(o Options, ctx *operators.Context) ([]split, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.taken == nil || ctx.Epoch > l.mu.epoch || ctx.Epoch == l.mu.epoch && l.mu.taken[ctx.Subtask] {
		splits, err := list(o)
		if err != nil {
			return nil, err
		}
		l.mu.splits, l.mu.epoch, l.mu.taken = splits, ctx.Epoch, map[int]bool{}
	}
	l.mu.taken[ctx.Subtask] = true
	return l.mu.splits, nil
}

// list returns the splits of all files that match, in order of path. Symbolic links
// are not followed, except Root itself, and special files are left out.
func list(o Options) ([]split, error) {
	pattern, err := compileGlob(o.Glob)
	if err != nil {
		return nil, err
	}
	root, err := resolve(o.Root)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	var all []split
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.Type().IsRegular() || !matches(pattern, root, name) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		for start := int64(0); start < info.Size(); start += o.MaxSplit {
			all = append(all, split{path: name, start: start, next: start, end: min(start+o.MaxSplit, info.Size())})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	slices.SortFunc(all, func(a, b split) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.start, b.start))
	})
	return all, nil
}

// resolve returns the folder or regular file that root stands for.
func resolve(root string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is neither a folder nor a regular file", root)
	}
	return real, err
}

// matches reports whether a file below root matches; root itself always does.
func matches(g glob, root, name string) bool {
	rel, err := filepath.Rel(root, name)
	return err == nil && (rel == "." || g.match(filepath.ToSlash(rel)))
}

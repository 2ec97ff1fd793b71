package overtake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/lsm"
)

// stateDir is this worker's part of Options.StateDir.
func (w *worker) stateDir() string {
	return filepath.Join(w.plan.job.opts.StateDir, fmt.Sprint("worker-", w.index))
}

// clearState deletes what an earlier attempt has left on disk: state is restored from
// checkpoints, never from there.
func (w *worker) clearState() error {
	if w.plan.job.opts.StateDir == "" {
		return nil
	}
	return os.RemoveAll(w.stateDir())
}

// disk returns how a subtask makes its stores on disk, nil if they are in memory.
func (c *chain) disk(member protocol.Member) func(n int) (statecow.Store, error) {
	opts := c.plan.job.opts
	if opts.StateDir == "" {
		return nil
	}
	first, end := operators.GroupRange(c.sub.index, opts.MaxParallelism, c.sub.head.parallelism)
	return func(n int) (statecow.Store, error) {
		dir := filepath.Join(c.stateDir, fmt.Sprintf("subtask-%d-%d", member, n))
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		s, err := lsm.New(lsm.Options{
			Dir: dir, MaxGroups: opts.MaxParallelism, Groups: statecow.Groups{First: first, End: end},
			MemtableSize: 16 << 20,
		})
		if err != nil {
			return nil, err
		}
		return &diskStore{Store: s, dir: dir}, nil
	}
}

// diskStore deletes its directory with its Close.
type diskStore struct {
	*lsm.Store
	dir string
}

// Close implements statecow.Store.
func (s *diskStore) Close() error {
	return errors.Join(s.Store.Close(), os.RemoveAll(s.dir))
}

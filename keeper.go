package overtake

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// keeper has what outlives the attempts to run a job: the store, and where the next
// attempt begins. A nil *keeper is a job without checkpoints.
type keeper struct {
	job   *Job
	opts  Checkpoints
	store checkpoint.Store // the first worker's only
	blobs checkpoint.Blobs
	local *checkpoint.Local // nil: no copies are kept
	epoch uint64

	from      *checkpoint.Manifest // what the attempt goes on from; nil: the beginning
	fromBlobs checkpoint.Blobs
	own       bool // from is in the store
	last      protocol.ID
	retained  []protocol.ID
}

// newKeeper opens the store of a worker.
func newKeeper(j *Job, index int) (k *keeper, err error) {
	k = &keeper{job: j, opts: j.opts.Checkpoints}
	switch {
	case !k.opts.Enabled():
		return nil, nil
	case index > 0 && k.opts.Dir != "":
		k.blobs, err = checkpoint.OpenBlobs(k.opts.Dir, checkpoint.Options{})
	case index > 0:
		k.blobs = k.opts.Blobs
	case k.opts.Dir != "":
		k.store, err = checkpoint.OpenDir(k.opts.Dir, checkpoint.Options{})
		k.blobs = k.store
	default:
		k.store, k.blobs = k.opts.Store, k.opts.Store
	}
	if err == nil && k.opts.LocalDir != "" {
		k.local, err = checkpoint.NewLocal(k.blobs, filepath.Join(k.opts.LocalDir, fmt.Sprint("worker-", index)), checkpoint.Options{})
		k.blobs = k.local
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("overtake: job %q: %w", j.name, err), k.close())
	}
	return k, nil
}

// currentEpoch is the number of the attempt; 0 without checkpoints.
func (k *keeper) currentEpoch() uint64 {
	if k == nil {
		return 0
	}
	return k.epoch
}

// close gives the store back.
func (k *keeper) close() error {
	if k == nil || k.store == nil || k.opts.Dir == "" {
		return nil
	}
	return k.store.Close()
}

// next prepares the next attempt: it decides what to go on from, and removes what
// earlier attempts have left unfinished.
func (k *keeper) next(ctx context.Context) error {
	if k == nil || k.store == nil {
		return nil
	}
	if m, ok := k.store.(checkpoint.Mender); ok {
		if err := m.Mend(ctx); err != nil {
			return err
		}
	}
	if err := k.survey(ctx); err != nil {
		return err
	}
	if n, err := k.store.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil {
		return err
	} else if n > 0 {
		k.job.opts.Log.Info("removed what unfinished checkpoints had left", "blobs", n)
	}
	if err := k.choose(ctx); err != nil {
		return err
	}
	above := uint64(0)
	if k.from != nil {
		above = k.from.Epoch
	}
	epoch, err := checkpoint.Claim(ctx, k.store, above)
	if err != nil {
		return err
	}
	k.epoch = epoch
	if k.from != nil {
		k.job.opts.Log.Info("going on from a checkpoint", "id", uint64(k.from.ID), "kind", k.from.Kind.String(), "epoch", epoch)
	}
	return nil
}

// survey notes which IDs were used, and which checkpoints retention takes over.
func (k *keeper) survey(ctx context.Context) error {
	all, err := k.store.List(ctx)
	if err != nil {
		return err
	}
	k.retained = nil
	for _, s := range all {
		k.last = max(k.last, protocol.ID(s.ID))
		if s.Kind == checkpoint.Checkpoint && s.Damaged == nil {
			k.retained = append(k.retained, protocol.ID(s.ID))
		}
	}
	slices.Sort(k.retained)
	return nil
}

// choose decides what to go on from: the latest checkpoint that is whole, else what the
// options name.
func (k *keeper) choose(ctx context.Context) error {
	k.from, k.fromBlobs, k.own = nil, k.blobs, true
	first := k.opts.From == "none"
	k.opts.From = orLatest(k.opts.From, first)
	if first {
		return nil
	}
	m, skipped, err := k.store.Latest(ctx)
	for _, s := range skipped {
		k.job.opts.Log.Warn("passed over a checkpoint that is not whole", "error", s)
	}
	switch {
	case err == nil:
		k.from = m
		if k.opts.From != "latest" && !first {
			k.job.opts.Log.Warn("the job goes on from its own latest checkpoint, not from what Checkpoints.From names", "id", uint64(m.ID), "from", k.opts.From)
		}
		return nil
	case !errors.Is(err, checkpoint.ErrNotFound):
		return err
	case len(skipped) > 0:
		return fmt.Errorf("%w: to begin anew, name another place for them, or \"none\" as what to go on from: %w", ErrDamaged, errors.Join(skipped...))
	case k.opts.From == "latest":
		return nil
	}
	return k.load(k.opts.From)
}

// orLatest: only the first attempt of a run ignores what is in the store.
func orLatest(from string, first bool) string {
	if first {
		return "latest"
	}
	return from
}

// load takes a savepoint as the beginning.
func (k *keeper) load(path string) (err error) {
	k.own = false
	k.fromBlobs, k.from, err = checkpoint.OpenSavepoint(path, checkpoint.Options{})
	if err == nil {
		k.last = max(k.last, protocol.ID(k.from.ID))
	}
	return err
}

// start is what the first worker tells the others before the subtasks run.
type start struct {
	ID        checkpoint.ID // to go on from; 0: the beginning
	Savepoint string        // where it is, if not in the store
	Last      protocol.ID
}

func (k *keeper) start() start {
	s := start{Last: k.last}
	if k.from != nil {
		s.ID = k.from.ID
		if !k.own {
			s.Savepoint = k.opts.From
		}
	}
	return s
}

// follow takes what the first worker has told.
func (k *keeper) follow(ctx context.Context, s start) (err error) {
	k.from, k.fromBlobs, k.own, k.last = nil, k.blobs, true, s.Last
	switch {
	case s.ID == 0:
		return nil
	case s.Savepoint != "":
		return k.load(s.Savepoint)
	}
	k.from, err = k.blobs.Manifest(ctx, s.ID)
	return err
}

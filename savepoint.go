package overtake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// Checkpoint takes a checkpoint now and waits until it is complete. It returns its ID.
func (h *Handle) Checkpoint(ctx context.Context) (id uint64, err error) {
	return h.ask(ctx, protocol.Periodic)
}

// Savepoint writes the job's whole state to a new directory and waits until it is
// complete. The job goes on. The directory is the caller's: no retention deletes it, and
// it holds all that a job needs to begin with it (Checkpoints.From).
func (h *Handle) Savepoint(ctx context.Context, path string) error {
	h.using.RLock()
	defer h.using.RUnlock()
	if err := vacant(path); err != nil {
		return err
	}
	id, err := h.ask(ctx, protocol.Savepoint)
	if err != nil {
		return err
	}
	return errors.Join(h.export(ctx, id, path), h.keep.store.Drop(ctx, checkpoint.ID(id)))
}

// vacant reports an error if there is something where a savepoint is to be written.
func vacant(path string) error {
	switch there, err := os.ReadDir(path); {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(there) == 0:
		return nil
	default:
		return errors.Join(fmt.Errorf("overtake: %s is there already: name a new directory for the savepoint", path), err)
	}
}

// StopWithSavepoint stops the sources, writes the job's whole state to a new directory,
// and ends the job; Wait then returns nil. Nothing is finished: a job that begins with
// the savepoint goes on where this one has stopped. With drain, all sources end instead
// and everything is finished, and the savepoint is of the end.
func (h *Handle) StopWithSavepoint(ctx context.Context, path string, drain bool) error {
	h.using.RLock()
	defer h.using.RUnlock()
	if err := vacant(path); err != nil {
		return err
	}
	if drain {
		return h.drainTo(ctx, path)
	}
	id, err := h.ask(ctx, protocol.StopSavepoint)
	if err != nil {
		return err
	}
	return h.export(ctx, id, path)
}

// drainTo ends all sources and copies the last checkpoint.
func (h *Handle) drainTo(ctx context.Context, path string) error {
	if err := h.first(); err != nil {
		return err
	}
	h.Drain()
	c := h.present().worker.coordinator
	select {
	case <-c.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.final == 0 {
		return ErrEnded
	}
	return h.export(ctx, uint64(c.final), path)
}

// first reports an error unless this process coordinates checkpoints.
func (h *Handle) first() error {
	switch {
	case h.keep == nil:
		return ErrNoCheckpoints
	case h.keep.store == nil:
		return ErrNotFirst
	}
	return nil
}

func (h *Handle) ask(ctx context.Context, kind protocol.Kind) (uint64, error) {
	if err := h.first(); err != nil {
		return 0, err
	}
	id, err := h.present().worker.coordinator.ask(ctx, kind)
	return uint64(id), err
}

// export copies a checkpoint out of the store.
func (h *Handle) export(ctx context.Context, id uint64, path string) error {
	if err := checkpoint.Export(ctx, h.keep.store, checkpoint.ID(id), path, checkpoint.Options{}); err != nil {
		return fmt.Errorf("overtake: savepoint %d could not be copied to %s: %w", id, path, err)
	}
	return nil
}

// Checkpoints returns the figures of the checkpoints that were completed in this run,
// oldest first, on the first worker.
func (h *Handle) Checkpoints() []CheckpointStats {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := append([]CheckpointStats(nil), h.mu.history...)
	if c := h.mu.attempt.worker.coordinator; c != nil {
		all = append(all, c.history()...)
	}
	return all
}

// Restarts is how often the job has been restarted after a failure.
func (h *Handle) Restarts() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.restarts
}

// clear deletes all checkpoints of the job, but no savepoints.
func (k *keeper) clear() error {
	ctx := context.Background()
	all, err := k.store.List(ctx)
	for _, s := range all {
		if s.Kind == checkpoint.Checkpoint {
			err = errors.Join(err, k.store.Drop(ctx, s.ID))
		}
	}
	return err
}

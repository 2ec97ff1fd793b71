package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Claimer is a Store that numbers the attempts to run its job.
type Claimer interface {
	// Claim returns a number that is larger than above, than all it has returned before,
	// and than the epochs of all manifests. It is durable before Claim returns.
	Claim(ctx context.Context, above uint64) (epoch uint64, err error)
}

// Claim numbers an attempt, also in a store that does not: then the number is above
// those of all manifests. above is the epoch of what the attempt goes on from, which
// another store may have numbered.
func Claim(ctx context.Context, s Store, above uint64) (epoch uint64, err error) {
	if c, ok := s.(Claimer); ok {
		return c.Claim(ctx, above)
	}
	epoch, err = newestEpoch(ctx, s)
	return max(epoch, above) + 1, err
}

func newestEpoch(ctx context.Context, s Store) (epoch uint64, err error) {
	all, err := s.List(ctx)
	for _, m := range all {
		epoch = max(epoch, m.Epoch)
	}
	return epoch, err
}

const (
	epochFile    = "EPOCH"
	maxEpochFile = 32 // bytes
)

// Claim implements Claimer. A file holds the last number, in decimal.
func (s *dirStore) Claim(ctx context.Context, above uint64) (uint64, error) {
	epoch, err := newestEpoch(ctx, s)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return 0, err
	}
	path := s.path(epochFile)
	there, err := s.exists(path)
	if err != nil {
		return 0, err
	}
	if there {
		last, err := s.readEpoch(path)
		if err != nil {
			return 0, err
		}
		epoch = max(epoch, last)
	}
	epoch = max(epoch, above) + 1
	return epoch, s.writeEpoch(path, epoch)
}

func (s *dirStore) readEpoch(path string) (uint64, error) {
	text, err := s.readFile(path, maxEpochFile)
	if err != nil {
		return 0, err
	}
	epoch, err := strconv.ParseUint(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil {
		return 0, errors.Join(&CorruptError{File: path, Reason: "it is not a number"},
			fmt.Errorf("write a number into it that is larger than all attempts so far, such as 1000000"))
	}
	return epoch, nil
}

func (s *dirStore) writeEpoch(path string, epoch uint64) error {
	tmp := s.tmp(path)
	if err := s.writeFile(tmp, strconv.AppendUint(nil, epoch, 10)); err != nil {
		s.discard(tmp)
		return err
	}
	if err := s.fs.Rename(tmp, path); err != nil {
		s.discard(tmp)
		return ioError("rename", tmp, err)
	}
	return s.syncDir(s.root)
}

// Claim implements Claimer.
func (s *memory) Claim(ctx context.Context, above uint64) (uint64, error) {
	newest, err := newestEpoch(ctx, s)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch = max(s.epoch, newest, above) + 1
	return s.epoch, nil
}

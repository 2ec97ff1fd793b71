package lsm

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/overtake-stream/overtake/statecow"
)

// Range implements statecow.Store, in the order of hashes. f may read the store's
// snapshots, but not use the store.
func (s *Store) Range(g statecow.Groups, f func(hash uint32, key, value []byte) bool) error {
	if err := s.usable(); err != nil {
		return err
	}
	lo, hi := hashes(g, s.opts.MaxGroups)
	lo, hi = max(lo, s.lo), min(hi, s.hi)
	if lo >= hi {
		return nil
	}
	return outcome(s.opts.Dir, eachEntry(s.db, lo, hi, 0, func(e statecow.Entry) error {
		if !f(e.Hash, e.Key, e.Value) {
			return errStop
		}
		return nil
	}))
}

// outcome is what a callback returned, as it is, or else a typed error.
func outcome(dir string, err error) error {
	if err == nil {
		return nil
	}
	var c *callbackError
	if errors.As(err, &c) {
		return c.err
	}
	return typed(dir, err)
}

// errStop ends eachEntry without an error.
var errStop = errors.New("stop")

// callbackError keeps what a callback returned apart from Pebble's errors.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

// eachEntry lends the entries of a range of hashes that were written after since.
func eachEntry(r pebble.Reader, lo, hi uint64, since statecow.Mark, f func(statecow.Entry) error) error {
	o := &pebble.IterOptions{LowerBound: appendBound(nil, lo), UpperBound: appendBound(nil, hi)}
	if since != 0 {
		o.PointKeyFilters = after(since)
	}
	return each(r, o, func(k, v []byte) error {
		hash, key, ok := splitData(k)
		mark, value, has := splitValue(v)
		if !ok || !has {
			return errEntry(k)
		}
		if mark <= since {
			return nil
		}
		if err := f(statecow.Entry{Hash: hash, Key: key, Value: value}); err != nil {
			return &callbackError{err}
		}
		return nil
	})
}

// eachTomb lends the records of deletions after since, up to a mark.
func eachTomb(r pebble.Reader, since, upTo statecow.Mark, f func(statecow.Entry) error) error {
	o := &pebble.IterOptions{LowerBound: appendTombBound(nil, since+1), UpperBound: appendTombBound(nil, upTo+1)}
	return each(r, o, func(k, _ []byte) error {
		hash, key, ok := splitTomb(k)
		if !ok {
			return errEntry(k)
		}
		if err := f(statecow.Entry{Hash: hash, Deleted: true, Key: key}); err != nil {
			return &callbackError{err}
		}
		return nil
	})
}

// each lends keys and values to f until it returns an error. errStop of a callback
// is none.
func each(r pebble.Reader, o *pebble.IterOptions, f func(k, v []byte) error) error {
	it, err := r.NewIter(o)
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			err = f(it.Key(), v)
		}
	}
	if err == nil {
		err = it.Error()
	}
	closing := it.Close()
	var c *callbackError
	if errors.As(err, &c) {
		if c.err == errStop {
			return closing
		}
		return err
	}
	if err == nil {
		err = closing
	}
	return err
}

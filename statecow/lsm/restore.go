package lsm

import (
	"errors"
	"io"

	"github.com/overtake-stream/overtake/statecow"
)

// Restore implements statecow.Store. Entries of other stores' key groups are
// skipped. After the last of a chain, a snapshot taken at once, confirmed and
// released makes the restored state the base of the next increment. A full stream
// in the order of hashes, as a Store writes it, becomes tables as it comes.
func (s *Store) Restore(r io.Reader) error {
	if err := s.usable(); err != nil {
		return err
	}
	b, err := statecow.NewStreamReader(r)
	if err != nil {
		return err
	}
	l := s.newLoader(b.Since() == 0 && s.keys.n == 0 && s.tombs == 0, b.Entries())
	err = s.load(b, l)
	if err = errors.Join(err, l.close(err == nil)); err != nil {
		return err
	}
	if b.Since() != 0 {
		return s.recount()
	}
	return nil
}

func (s *Store) load(r *statecow.StreamReader, l *loader) error {
	for {
		b, ok, err := r.Next()
		if err != nil || !ok {
			return err
		}
		add := l.pick(b)
		err = b.Each(func(e statecow.Entry) error {
			if !s.owns(e.Hash) {
				return nil
			}
			return s.fault(add(e))
		})
		if err != nil {
			return err
		}
	}
}

// recount counts the keys of a small store.
func (s *Store) recount() error {
	if s.keys.n > 4*exactKeys {
		return nil
	}
	n := 0
	err := eachEntry(s.db, s.lo, s.hi, 0, func(statecow.Entry) error {
		if n++; n > 4*exactKeys {
			return errStop
		}
		return nil
	})
	if n <= 4*exactKeys {
		s.keys.n = n
	}
	return outcome(s.opts.Dir, err)
}

package lsm

import (
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/overtake-stream/overtake/statecow"
)

const (
	sweepBuckets = 256 // ranges of hashes that know their earliest deadline
	sweepBatch   = 64  // entries read at a time, and writes between two times
	clocks       = int(statecow.EventTime) + 1
)

// sweeper removes expired entries. Every bucket of hashes knows the earliest
// deadline of its entries, so that only buckets in which something has expired are
// read.
type sweeper struct {
	lo, hi   uint64 // hashes of the store
	rule     statecow.Expiry
	earliest [sweepBuckets][clocks]int64
	bucket   int           // that is read, or is to be looked at next
	next     []byte        // key where the reading goes on, empty between buckets
	found    [clocks]int64 // earliest deadlines found by the reading under way
	writes   int           // since the last reading
	expired  int64         // entries removed so far
	old      [][]byte      // scratch: keys to remove
}

// SetExpiry implements statecow.Store. Entries that are there are all looked at
// once.
func (s *Store) SetExpiry(e statecow.Expiry) {
	w := &s.expiry
	w.rule, w.next = e, nil
	first := statecow.NoDeadline
	if s.keys.n > 0 {
		first = math.MinInt64
	}
	for i := range w.earliest {
		for c := range w.earliest[i] {
			w.earliest[i][c] = first
		}
	}
}

func (w *sweeper) bucketOf(hash uint32) int {
	return int((uint64(hash) - w.lo) * sweepBuckets / (w.hi - w.lo))
}

// start is the first hash of a bucket.
func (w *sweeper) start(bucket int) uint64 {
	return w.lo + (uint64(bucket)*(w.hi-w.lo)+sweepBuckets-1)/sweepBuckets
}

// note remembers the deadline of an entry.
func (w *sweeper) note(hash uint32, key, value []byte) {
	if w.rule == nil {
		return
	}
	clock, at := w.rule.Deadline(key, value)
	if e := &w.earliest[w.bucketOf(hash)][clock]; at < *e {
		*e = at
	}
}

// afterWrite does a part of the work now and then.
func (w *sweeper) afterWrite(s *Store) error {
	if w.rule == nil {
		return nil
	}
	if w.writes++; w.writes < sweepBatch {
		return nil
	}
	w.writes = 0
	_, err := s.sweep()
	return err
}

// Maintain implements statecow.Store: a unit is looking at sweepBatch entries for
// expiry. Compaction and returning memory go on in the background by themselves.
func (s *Store) Maintain(n int) (more bool, err error) {
	if err := s.usable(); err != nil || s.expiry.rule == nil {
		return false, err
	}
	for range n {
		if more, err = s.sweep(); !more || err != nil {
			return more, err
		}
	}
	return more, nil
}

// due reports whether something in a bucket may have expired.
func (w *sweeper) due(bucket int) bool {
	for c, at := range w.earliest[bucket] {
		if at != statecow.NoDeadline && at <= w.rule.Now(statecow.ExpiryClock(c)) {
			return true
		}
	}
	return false
}

// find moves on to a bucket that is due and reports whether there is one.
func (w *sweeper) find() bool {
	for range sweepBuckets {
		if w.due(w.bucket) {
			return true
		}
		w.bucket = (w.bucket + 1) % sweepBuckets
	}
	return false
}

// sweep looks at some entries, removes those that have expired, and reports whether
// there was something to look at.
func (s *Store) sweep() (more bool, err error) {
	w := &s.expiry
	if len(w.next) == 0 {
		if !w.find() {
			return false, nil
		}
		w.next = appendBound(w.next[:0], w.start(w.bucket))
		w.found = [clocks]int64{statecow.NoDeadline, statecow.NoDeadline}
		w.earliest[w.bucket] = w.found // writes add to it meanwhile
	}
	done, err := s.sweepSome()
	if err != nil {
		return false, s.fault(err)
	}
	if err := s.removeOld(); err != nil {
		return false, err
	}
	if done {
		for c, at := range w.found {
			w.earliest[w.bucket][c] = min(w.earliest[w.bucket][c], at)
		}
		w.next = w.next[:0]
		w.bucket = (w.bucket + 1) % sweepBuckets
	}
	return true, nil
}

// sweepSome notes the expired ones of the next entries and reports whether the
// bucket is done.
func (s *Store) sweepSome() (done bool, err error) {
	w := &s.expiry
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: w.next, UpperBound: appendBound(nil, w.start(w.bucket+1))})
	if err != nil {
		return false, err
	}
	w.old = w.old[:0]
	ok := it.First()
	for range sweepBatch {
		if !ok {
			break
		}
		_, key, _ := splitData(it.Key())
		raw, err := it.ValueAndErr()
		_, value, _ := splitValue(raw)
		if err != nil {
			return false, errors.Join(err, it.Close())
		}
		clock, at := w.rule.Deadline(key, value)
		if at != statecow.NoDeadline && at <= w.rule.Now(clock) {
			w.old = append(w.old, append([]byte(nil), it.Key()...))
		} else {
			w.found[clock] = min(w.found[clock], at)
		}
		ok = it.Next()
	}
	if ok {
		w.next = append(w.next[:0], it.Key()...)
	}
	return !ok, it.Close()
}

func (s *Store) removeOld() error {
	w := &s.expiry
	w.writes -= len(w.old) // removing is no reason to look again
	for _, k := range w.old {
		hash, key, _ := splitData(k)
		if err := s.remove(hash, key); err != nil {
			return err
		}
		w.expired++
	}
	return nil
}

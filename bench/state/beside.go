package state

import (
	"context"
	"hash/crc32"
	"sync/atomic"
	"time"
)

// What goes on beside the updates.
const (
	besideNothing  = ""         // no snapshot either
	besideWrite    = "write"    // a snapshot is open and written
	besideOpen     = "open"     // a snapshot is open
	besideCopy     = "copy"     // memory is copied, as much as a write reads
	besideChecksum = "checksum" // the other core works in its own cache
)

// beside is the rate of updates while something goes on. With a write, it ends with
// the write, and is repeated until the updates take a while; else it goes on for
// Window updates at a time, Count times.
func (s *server) beside(q request, c cow) (reply, error) {
	if q.Beside != besideWrite && q.Beside != besideOpen {
		return s.besideOther(q, c)
	}
	keys := s.ring(q)
	var took, writing time.Duration
	var updates, bytes int64
	rounds := int64(0)
	for {
		snap, err := c.state().Snapshot()
		if err != nil {
			return reply{}, err
		}
		limit := q.Window
		var done atomic.Bool
		result := make(chan error, 1)
		if q.Beside == besideWrite {
			limit = 0
			go func() {
				start := s.clock.Now()
				st, err := snap.Write(s.spec.Pressure.Writer(context.Background(), &sink{}), 0)
				writing += s.clock.Now() - start
				bytes += st.Bytes
				done.Store(true)
				result <- err
			}()
		} else {
			result <- nil
		}
		n, t, err := s.until(c, &keys, limit, &done)
		if werr := <-result; err == nil {
			err = werr
		}
		snap.Release()
		c.state().Abandon(snap.Mark())
		if err != nil {
			return reply{}, err
		}
		updates, took, rounds = updates+n, took+t, rounds+1
		if err := s.settle(); err != nil {
			return reply{}, err
		}
		if q.Count > 0 && rounds >= q.Count || q.Count == 0 && (took > 2*q.Least || rounds >= 50) {
			break
		}
	}
	r := rate(updates, took)
	r.More = map[string]float64{"rounds": float64(rounds), "window": float64(updates / rounds), "bytes_per_second": float64(bytes) / max(writing.Seconds(), 1e-9)}
	return r, nil
}

// ring is keys to take in turn.
type ring struct {
	keys []uint64
	at   int
}

func (r *ring) next(n int) []uint64 {
	if r.at == len(r.keys) {
		r.at = 0
	}
	part := r.keys[r.at:min(r.at+n, len(r.keys))]
	r.at += len(part)
	return part
}

// ring draws keys ahead, so that no drawing slows the updates: as many as all windows
// need, since the caches would have those that come again.
func (s *server) ring(q request) ring {
	n := int64(40_000_000)
	if q.Window > 0 {
		n = min(n, q.Window*q.Count)
	}
	r := ring{keys: make([]uint64, min(n, 4*s.spec.N))}
	s.draw(q.Seed).fill(r.keys)
	return r
}

// until updates keys until done or the limit, if there is one.
func (s *server) until(c cow, keys *ring, limit int64, done *atomic.Bool) (count int64, took time.Duration, err error) {
	const step = 512
	start := s.busy.Now()
	for !done.Load() && (limit == 0 || count < limit) {
		part := keys.next(step)
		if err := c.update(part); err != nil {
			return count, 0, err
		}
		count += int64(len(part))
	}
	return count, s.busy.Now() - start, nil
}

func (s *server) besideOther(q request, c cow) (reply, error) {
	keys := s.ring(q)
	var stop, never atomic.Bool
	joined := make(chan error, 1)
	switch q.Beside {
	case besideCopy:
		region, err := newRegion(max(1<<20, s.spec.N*s.spec.Layout.entry()))
		if err != nil {
			return reply{}, err
		}
		go func() {
			s.copyAt(q.Rate, region.bytes, &stop)
			joined <- region.close()
		}()
	case besideChecksum:
		go func() {
			checksum(&stop)
			joined <- nil
		}()
	default:
		joined <- nil
	}
	var took time.Duration
	var updates int64
	var err error
	for i := int64(0); i < q.Count && err == nil; i++ {
		var n int64
		var t time.Duration
		n, t, err = s.until(c, &keys, q.Window, &never)
		updates, took = updates+n, took+t
	}
	stop.Store(true)
	if jerr := <-joined; err == nil {
		err = jerr
	}
	return rate(updates, took), err
}

// copyAt copies memory in order at a rate, in B/s.
func (s *server) copyAt(rate float64, from []byte, stop *atomic.Bool) {
	to := &sink{}
	start, copied := s.clock.Now(), 0.0
	for at := 0; !stop.Load(); {
		if (s.clock.Now()-start).Seconds()*rate < copied {
			continue
		}
		n := min(64<<10, len(from)-at)
		_, _ = to.Write(from[at : at+n])
		copied += float64(n)
		if at += n; at == len(from) {
			at = 0
		}
	}
}

func checksum(stop *atomic.Bool) {
	b := make([]byte, 16<<10)
	table := crc32.MakeTable(crc32.Castagnoli)
	for !stop.Load() {
		b[0] = byte(crc32.Checksum(b, table))
	}
}

package state

import (
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// server does what it is asked with one store.
type server struct {
	spec  spec
	clock perf.Clock // for latencies
	busy  perf.Clock // for rates of what one thread does
	store subject

	skewed func(n uint64) uint64 // keys under the pressure of skew; nil: none, or not drawn yet
}

var errUnsupported = errors.New("the store cannot do this")

func (s *server) do(q request) (reply, error) {
	if q.Op == "load" {
		return s.load()
	}
	if s.store == nil {
		return reply{}, errors.New("nothing was loaded")
	}
	switch q.Op {
	case "update":
		return s.update(q, s.store.update)
	case "get":
		return s.get(q)
	case "allocations":
		return s.allocations(q)
	case "pause":
		return s.pause(q)
	case "after":
		return s.after(q)
	case "gc":
		return s.collect(q)
	}
	c, ok := s.store.(cow)
	if !ok {
		return reply{}, errUnsupported
	}
	switch q.Op {
	case "prefetched":
		return s.update(q, c.prefetched)
	case "beside":
		return s.beside(q, c)
	case "increment":
		return s.increment(q, c)
	case "overlap":
		return s.overlap(q, c)
	case "write":
		return s.write(q, c)
	case "copy":
		return s.copy(q)
	case "write-file":
		return s.writeFile(q, c)
	case "fill-file":
		return s.fillFile(q)
	case "restore":
		return s.restore(q, c)
	}
	return reply{}, fmt.Errorf("no operation %q", q.Op)
}

func (s *server) close() error {
	if s.store == nil {
		return nil
	}
	return s.store.close()
}

// rate is operations in a time, per second.
func rate(count int64, took time.Duration) reply {
	return reply{Value: float64(count) / max(took.Seconds(), 1e-9)}
}

// firstKey is the share of key number 0 among skewed ones.
const firstKey = "first_key_share"

func (s *server) update(q request, f func([]uint64) error) (reply, error) {
	d := s.draw(q.Seed)
	took, err := timed(s.busy, d, q.Count, f)
	r := rate(q.Count, took)
	r.More = map[string]float64{firstKey: float64(d.first) / float64(q.Count)}
	return r, err
}

func (s *server) get(q request) (reply, error) {
	sum := uint64(0)
	took, err := timed(s.busy, s.draw(q.Seed), q.Count, func(keys []uint64) error {
		sum += s.store.get(keys)
		return nil
	})
	if err == nil && sum < uint64(q.Count) { // every value is at least 1
		err = fmt.Errorf("%d reads summed to %d: keys are missing", q.Count, sum)
	}
	return rate(q.Count, took), err
}

package state

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// load puts all keys, timing each, and measures the memory that they take.
func (s *server) load() (reply, error) {
	heap, resident := memory()
	store, err := s.spec.open()
	if err != nil {
		return reply{}, err
	}
	s.store = store
	t, own := &tally{many: make([]int64, 0, 1<<16)}, &tally{many: make([]int64, 0, 1<<16)}
	w := watch{clock: s.clock, busy: s.busy}
	w.start()
	start := s.clock.Now()
	last := start
	for i := range uint64(s.spec.N) {
		if err := store.put(mix(i)); err != nil {
			return reply{}, fmt.Errorf("key %d: %w", i, err)
		}
		now := s.clock.Now()
		t.add(now - last)
		mine, asked := w.own(now - last)
		own.add(mine)
		if last = now; asked {
			last = s.clock.Now()
		}
	}
	r := reply{Value: (last - start).Seconds(), Counts: t.counts(), Own: own.counts()}
	t, own = nil, nil
	heapAfter, residentAfter := memory()
	n := float64(s.spec.N)
	r.More = map[string]float64{
		"heap_bytes_per_key":     (heapAfter - heap) / n,
		"resident_bytes_per_key": (residentAfter - resident) / n,
		"clock_seconds":          s.clockCost(),
	}
	if c, ok := store.(cow); ok {
		st := c.state().Stats()
		r.More["arena_bytes_per_key"] = float64(st.MemoryBytes) / n
		r.More["index_bytes_per_key"] = float64(st.IndexBytes) / n
		r.More["log_bytes_per_key"] = float64(st.LogBytes) / n
	}
	return r, nil
}

// clockCost is what it takes to read the clock.
func (s *server) clockCost() float64 {
	const reads = 1 << 16
	start := s.clock.Now()
	last := start
	for range reads {
		last = s.clock.Now()
	}
	return (last - start).Seconds() / reads
}

// memory returns the live bytes of the heap and the resident bytes of the process,
// with no garbage in either.
func memory() (heap, resident float64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), residentBytes()
}

// residentBytes is 0 where the system does not say.
func residentBytes() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseFloat(string(fields[1]), 64)
	return pages * float64(os.Getpagesize())
}

// allocations is the number of heap allocations of an update.
func (s *server) allocations(q request) (reply, error) {
	var before, after runtime.MemStats
	d, keys := s.draw(q.Seed), make([]uint64, block)
	count := int64(0)
	runtime.ReadMemStats(&before)
	for ; count < q.Count; count += block {
		d.fill(keys)
		if err := s.store.update(keys); err != nil {
			return reply{}, err
		}
	}
	runtime.ReadMemStats(&after)
	each := float64(after.Mallocs-before.Mallocs) / float64(count)
	if each < 1e-4 { // what the runtime itself allocates now and then
		each = 0
	}
	return reply{Value: each}, nil
}

// collect is the time of a full garbage collection.
func (s *server) collect(q request) (reply, error) {
	runtime.GC()
	start := s.clock.Now()
	runs := 0
	for runs == 0 || s.clock.Now()-start < q.Least && runs < 20 {
		runtime.GC()
		runs++
	}
	r := reply{Value: (s.clock.Now() - start).Seconds() / float64(runs)}
	runtime.KeepAlive(s.store)
	return r, nil
}

package operators

import (
	"sync"
	"sync/atomic"

	"github.com/overtake-stream/overtake"
)

const oneByOne = "Go channels, record by record"

// shuffles are flows whose records go to other subtasks, whatever is in them.
func shuffles() []flow {
	return []flow{{
		name: "rebalance", count: 40_000_000,
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			return into(c, source(job, uniform(wide), n).Rebalance(), digest)
		},
		plain: loop(uniform(wide), digest),
		hands: []hand{{byHand, 1, rebalanceByHand}, {oneByOne, 8, channelByHand}},
	}, {
		name: "broadcast", count: 20_000_000, parameters: map[string]any{"receivers": receivers, "senders": 1},
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			s := source(job, uniform(wide), n, overtake.WithParallelism(1))
			s = overtake.Map(s.Broadcast(), func(e Event) Event { return e }, overtake.WithParallelism(receivers))
			return into(c, s, digest)
		},
		plain: loop(uniform(wide), func(e Event) uint64 { return receivers * digest(e) }),
		hands: []hand{{"goroutines and channels of shared batches", 1, broadcastByHand}},
	}, {
		name: "union", count: 40_000_000, parameters: map[string]any{"streams": 2},
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			a, b := source(job, uniform(wide), half(n), overtake.WithName("a")), source(job, uniform(wide), rest(n), overtake.WithName("b"))
			return into(c, overtake.Map(a.Union(b), step), digest)
		},
		plain: func(n uint64) uint64 {
			f := loop(uniform(wide), steps(1))
			return f(half(n)) + f(rest(n))
		},
		hands: []hand{{byHand, 1, unionByHand}},
	}}
}

// half is how many records the first of two streams has, at least one.
func half(n uint64) uint64 { return (n + 1) / 2 }

// rest is those of the other, at least one too.
func rest(n uint64) uint64 { return max(1, n/2) }

func rebalanceByHand(width int, n uint64) uint64 {
	keys, l := uniform(wide), newLanes(width, width)
	team(width, func(worker int) uint64 {
		out, to := l.sender(), worker
		for i := uint64(worker); i < n; i += uint64(width) {
			out.send(to, keys.event(i))
			if to++; to == width {
				to = 0
			}
		}
		out.finish()
		return 0
	})
	return team(width, func(worker int) uint64 { return addUp(l, worker) })()
}

// channelByHand is what comes to mind first.
func channelByHand(width int, n uint64) uint64 {
	keys := uniform(wide)
	channels := make([]chan Event, width)
	for i := range channels {
		channels[i] = make(chan Event, batchSize)
	}
	var sending sync.WaitGroup
	for worker := range width {
		sending.Go(func() {
			to := worker
			for i := uint64(worker); i < n; i += uint64(width) {
				channels[to] <- keys.event(i)
				if to++; to == width {
					to = 0
				}
			}
		})
	}
	result := team(width, func(worker int) (sum uint64) {
		for e := range channels[worker] {
			sum += digest(e)
		}
		return sum
	})
	sending.Wait()
	for _, c := range channels {
		close(c)
	}
	return result()
}

const receivers = 4

// sharedBatch is given back by the last of its receivers.
type sharedBatch struct {
	events []Event
	left   atomic.Int32
}

func broadcastByHand(_ int, n uint64) uint64 {
	keys := uniform(wide)
	full, free := make([]chan *sharedBatch, receivers), make(chan *sharedBatch, 16)
	for range cap(free) {
		free <- &sharedBatch{events: make([]Event, 0, batchSize)}
	}
	for i := range full {
		full[i] = make(chan *sharedBatch, 8)
	}
	result := team(receivers, func(worker int) (sum uint64) {
		for b := range full[worker] {
			for i := range b.events {
				sum += digest(b.events[i])
			}
			if b.left.Add(-1) == 0 {
				free <- b
			}
		}
		return sum
	})
	for first := uint64(0); first < n; first += batchSize {
		b := <-free
		b.events = b.events[:0]
		b.left.Store(receivers)
		for i := first; i < min(n, first+batchSize); i++ {
			b.events = append(b.events, keys.event(i))
		}
		for _, c := range full {
			c <- b
		}
	}
	for _, c := range full {
		close(c)
	}
	return result()
}

// unionByHand sends both streams to the same receivers, each sender to one.
func unionByHand(width int, n uint64) uint64 {
	keys := uniform(wide)
	ends := make([]*lanes, width)
	for i := range ends {
		ends[i] = newLanes(2, 1)
		for _, count := range []uint64{half(n), n - half(n)} {
			go func() {
				out := ends[i].sender()
				for k := uint64(i); k < count; k += uint64(width) {
					out.send(0, keys.event(k))
				}
				out.finish()
			}()
		}
	}
	return team(width, func(worker int) (sum uint64) {
		for b := range ends[worker].full[0] {
			for _, e := range b {
				sum += digest(step(e))
			}
			ends[worker].free[0] <- b[:0]
		}
		return sum
	})()
}

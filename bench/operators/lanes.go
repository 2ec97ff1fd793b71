package operators

import (
	"sync"
	"sync/atomic"
)

// batchSize is the number of records that goroutines hand over at once: 32 KiB.
const batchSize = 1024

// lanes are the channels between goroutines that work by hand: batches to each
// receiver, and empty ones back.
type lanes struct {
	full, free []chan []Event
	senders    atomic.Int32 // that have not finished
}

func newLanes(senders, receivers int) *lanes {
	const queued = 8
	l := &lanes{}
	l.senders.Store(int32(senders))
	for range receivers {
		free := make(chan []Event, queued+senders+1)
		for range queued + senders + 1 {
			free <- make([]Event, 0, batchSize)
		}
		l.free = append(l.free, free)
		l.full = append(l.full, make(chan []Event, queued))
	}
	return l
}

// sending is one sender's side.
type sending struct {
	*lanes
	open [][]Event // by receiver
}

func (l *lanes) sender() *sending {
	s := &sending{lanes: l}
	for i := range l.full {
		s.open = append(s.open, <-l.free[i])
	}
	return s
}

func (s *sending) send(to int, e Event) {
	b := append(s.open[to], e)
	if len(b) == batchSize {
		s.full[to] <- b
		b = <-s.free[to]
	}
	s.open[to] = b
}

// finish sends what is left. The last of the senders ends the channels.
func (s *sending) finish() {
	for i, b := range s.open {
		s.full[i] <- b
	}
	if s.senders.Add(-1) == 0 {
		for _, c := range s.full {
			close(c)
		}
	}
}

// team runs f for each of n workers, and returns the sum of what they return.
func team(n int, f func(worker int) uint64) func() uint64 {
	var total atomic.Uint64
	var working sync.WaitGroup
	for i := range n {
		working.Go(func() { total.Add(f(i)) })
	}
	return func() uint64 { working.Wait(); return total.Load() }
}

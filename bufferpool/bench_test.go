package bufferpool_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Compare with the baseline in the same run, interleaved:
//
//	go test -run - -bench . -count 10 -benchtime 100ms ./bufferpool
func benchPool(b *testing.B, o bufferpool.PoolOptions) *bufferpool.Pool {
	a, err := bufferpool.New(bufferpool.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := a.NewPool(o)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkGetRecycle(b *testing.B) {
	p := benchPool(b, bufferpool.PoolOptions{Min: 16, Max: 64})
	for b.Loop() {
		buf, _ := p.Get()
		p.Recycle(buf)
	}
}

// The pool holds more than its minimum: what is idle is within others' reach.
func BenchmarkGetRecycleFloating(b *testing.B) {
	p := benchPool(b, bufferpool.PoolOptions{Min: 2, Max: 64})
	for range 4 {
		p.Get()
	}
	for b.Loop() {
		buf, _ := p.Get()
		p.Recycle(buf)
	}
}

func BenchmarkGetRelease(b *testing.B) {
	p := benchPool(b, bufferpool.PoolOptions{Min: 16, Max: 64})
	for b.Loop() {
		buf, _ := p.Get()
		buf.Release()
	}
}

// mutexLIFO is the baseline.
type mutexLIFO struct {
	sync.Mutex
	free []uint32
}

func newMutexLIFO() *mutexLIFO { return &mutexLIFO{free: make([]uint32, 64)} }

func (l *mutexLIFO) get() (i uint32, ok bool) {
	l.Lock()
	if last := len(l.free) - 1; last >= 0 {
		i, ok, l.free = l.free[last], true, l.free[:last]
	}
	l.Unlock()
	return i, ok
}

func (l *mutexLIFO) put(i uint32) {
	l.Lock()
	l.free = append(l.free, i)
	l.Unlock()
}

func BenchmarkMutexLIFO(b *testing.B) {
	l := newMutexLIFO()
	for b.Loop() {
		i, _ := l.get()
		l.put(i)
	}
}

// crossing measures getting on one goroutine and putting on another.
func crossing[T any](b *testing.B, get func() (T, bool), put func(T)) {
	ch := make(chan T, 64)
	done := make(chan struct{})
	go func() {
		for v := range ch {
			put(v)
		}
		close(done)
	}()
	for b.Loop() {
		v, ok := get()
		for ; !ok; v, ok = get() {
			runtime.Gosched()
		}
		ch <- v
	}
	close(ch)
	<-done
}

func BenchmarkCross(b *testing.B) {
	p := benchPool(b, bufferpool.PoolOptions{Min: 64})
	crossing(b, p.Get, bufferpool.Buffer.Release)
}

func BenchmarkCrossFloating(b *testing.B) {
	p := benchPool(b, bufferpool.PoolOptions{Min: 2, Max: 64})
	crossing(b, p.Get, bufferpool.Buffer.Release)
}

func BenchmarkCrossMutexLIFO(b *testing.B) {
	l := newMutexLIFO()
	crossing(b, l.get, l.put)
}

func BenchmarkCrossNothing(b *testing.B) {
	crossing(b, func() (uint32, bool) { return 0, true }, func(uint32) {})
}

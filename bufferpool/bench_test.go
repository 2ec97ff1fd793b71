package bufferpool_test

import (
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

func BenchmarkGetRecycle(b *testing.B) {
	a, _ := bufferpool.New(bufferpool.Options{})
	p, _ := a.NewPool(bufferpool.PoolOptions{Min: 16, Max: 64})
	for b.Loop() {
		buf, _ := p.Get()
		p.Recycle(buf)
	}
}

func BenchmarkGetRelease(b *testing.B) {
	a, _ := bufferpool.New(bufferpool.Options{})
	p, _ := a.NewPool(bufferpool.PoolOptions{Min: 16, Max: 64})
	for b.Loop() {
		buf, _ := p.Get()
		buf.Release()
	}
}

func BenchmarkMutexLIFO(b *testing.B) {
	var mu sync.Mutex
	free := make([]uint32, 64)
	for b.Loop() {
		mu.Lock()
		i := free[len(free)-1]
		free = free[:len(free)-1]
		mu.Unlock()
		mu.Lock()
		free = append(free, i)
		mu.Unlock()
	}
}

package bufferpool_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
)

func TestNothingAllocates(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks box their arguments")
	}
	a := newArena(t, 32)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 4, Max: 8, Overdraft: 2})
	q := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 8})
	wake := newSignal()
	held := make([]bufferpool.Buffer, 0, 16)
	for name, f := range map[string]func(){
		"Get, Recycle": func() { b, _ := p.Get(); p.Recycle(b) },
		"Get, Release": func() { b, _ := p.Get(); b.Release() },
		"Retain":       func() { b, _ := p.Get(); b.Retain().Release(); p.Recycle(b) },
		"Available":    func() { p.Available() },
		"views": func() {
			b, _ := p.Get()
			b.SetLen(len(b.Space()))
			b.SetState(bufferpool.Queued)
			_, _, _ = b.Payload(), b.Frame(), b.Segment()
			p.Recycle(b)
		},
		"Swap": func() {
			x, _ := p.Get()
			y, _ := q.Get()
			bufferpool.Swap(x, y)
			p.Recycle(y)
			q.Recycle(x)
		},
		"exhaustion": func() {
			held = held[:0]
			for b, ok := p.Get(); ok; b, ok = p.Get() {
				held = append(held, b)
			}
			p.NotifyAvailable(wake)
			for b, ok := p.GetOverdraft(); ok; b, ok = p.GetOverdraft() {
				held = append(held, b)
			}
			for _, b := range held {
				b.Release()
			}
			wake.fired()
		},
		"SetMax": func() { p.SetMax(4); p.SetMax(8) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

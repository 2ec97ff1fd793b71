//go:build invariants

package bufferpool_test

import (
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

func TestInvariantsCatch(t *testing.T) {
	for _, c := range []struct {
		name, says string
		do         func(p *bufferpool.Pool, b bufferpool.Buffer)
	}{
		{"double release", "after its release", func(_ *bufferpool.Pool, b bufferpool.Buffer) {
			b.Release()
			b.Release()
		}},
		{"recycle after release", "after its release", func(p *bufferpool.Pool, b bufferpool.Buffer) {
			b.Release()
			p.Recycle(b)
		}},
		{"use after release", "after its release", func(p *bufferpool.Pool, b bufferpool.Buffer) {
			p.Recycle(b)
			b.Space()
		}},
		{"use of a buffer that is another's by now", "after its release", func(p *bufferpool.Pool, b bufferpool.Buffer) {
			p.Recycle(b)
			p.Get()
			b.Payload()
		}},
		{"retain after release", "after its release", func(_ *bufferpool.Pool, b bufferpool.Buffer) {
			b.Release()
			b.Retain()
		}},
		{"write after release", `of "p" was written to`, func(p *bufferpool.Pool, b bufferpool.Buffer) {
			space := b.Space()
			p.Recycle(b)
			space[len(space)-1] = 1
			p.Get()
		}},
		{"length", "length 225 of a buffer of 224", func(_ *bufferpool.Pool, b bufferpool.Buffer) {
			b.SetLen(225)
		}},
		{"state", "in use is said to be idle", func(_ *bufferpool.Pool, b bufferpool.Buffer) {
			b.SetState(bufferpool.Idle)
		}},
		{"swap of a shared buffer", "shared or of two arenas", func(p *bufferpool.Pool, b bufferpool.Buffer) {
			other, _ := p.Get()
			bufferpool.Swap(b.Retain(), other)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: 4 * segment})
			if err != nil {
				t.Fatal(err)
			}
			p := newPool(t, a, bufferpool.PoolOptions{Name: "p", Min: 2})
			b := mustGet(t, p)
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, c.says) {
					t.Fatalf("panic %q, want one that says %q", got, c.says)
				}
			}()
			c.do(p, b)
		})
	}
}

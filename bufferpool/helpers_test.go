package bufferpool_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const segment = bufferpool.MinSegment

// newArena returns an arena of n small segments. The test ends with none in use.
func newArena(t testing.TB, n int) *bufferpool.Arena {
	t.Helper()
	a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: int64(n) * segment})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func newPool(t testing.TB, a *bufferpool.Arena, o bufferpool.PoolOptions) *bufferpool.Pool {
	t.Helper()
	p, err := a.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// getAll gets until there is none.
func getAll(p *bufferpool.Pool) (got []bufferpool.Buffer) {
	for {
		b, ok := p.Get()
		if !ok {
			return got
		}
		got = append(got, b)
	}
}

func mustGet(t testing.TB, p *bufferpool.Pool) bufferpool.Buffer {
	t.Helper()
	b, ok := p.Get()
	if !ok {
		t.Fatalf("no buffer; %v", p.Arena().Ledger())
	}
	return b
}

func release(bs ...bufferpool.Buffer) {
	for _, b := range bs {
		b.Release()
	}
}

func want(t testing.TB, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %d, want %d", what, got, want)
	}
}

// signal is a Waker that a goroutine can wait for.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// fired takes the signal, if there is one.
func (s signal) fired() bool {
	select {
	case <-s:
		return true
	default:
		return false
	}
}

// await gets a buffer, and sleeps while there is none.
func await(p *bufferpool.Pool, s signal) bufferpool.Buffer {
	for {
		if b, ok := p.Get(); ok {
			return b
		}
		if p.NotifyAvailable(s) {
			<-s
		}
	}
}

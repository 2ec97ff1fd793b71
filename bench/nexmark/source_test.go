package nexmark_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/bench/nexmark"
	"github.com/overtake-stream/overtake/operators"
)

// driver is a reader that is driven by hand.
type driver struct {
	operators.Reader[*nexmark.Event]
	ctx  *operators.Context
	out  *operators.Output[*nexmark.Event]
	got  []nexmark.Event
	woke chan struct{}
	t    fataler
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Helper()
}

// Collect implements operators.Collector.
func (d *driver) Collect(e *nexmark.Event) {
	if !d.ctx.HasTime || d.ctx.Time != e.Time() {
		d.t.Fatalf("event time %d of %+v", d.ctx.Time, e)
	}
	d.got = append(d.got, clone(e))
}

func open(t fataler, g *nexmark.Generator, pace nexmark.Pace, i, p int, restored bool, positions ...[]byte) *driver {
	t.Helper()
	d := &driver{ctx: &operators.Context{Subtask: i, Parallelism: p}, woke: make(chan struct{}, 100), t: t}
	d.out = operators.NewOutput(d.ctx, d)
	var err error
	d.Reader, err = g.Source(pace).Open(operators.SourceContext{
		Context: d.ctx, Restored: restored, Splits: positions, Wake: func() { d.woke <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read reads up to n events.
func (d *driver) read(n int) operators.Status {
	d.t.Helper()
	d.out.Allow(n)
	status, err := d.Read(d.out)
	if err != nil {
		d.t.Fatal(err)
	}
	return status
}

// stop closes the reader and returns its positions.
func (d *driver) stop() [][]byte {
	d.t.Helper()
	positions, err := d.Splits(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
	return positions
}

// all are the events themselves.
func all(g *nexmark.Generator) (list []nexmark.Event) {
	var e nexmark.Event
	for n := range g.Events() {
		g.Event(n, &e)
		list = append(list, clone(&e))
	}
	return list
}

func byTime(list []nexmark.Event) bool {
	return slices.IsSortedFunc(list, func(a, b nexmark.Event) int { return int(a.Time() - b.Time()) })
}

func verifyAll(t fataler, got, want []nexmark.Event) {
	t.Helper()
	left := map[nexmark.Event]int{}
	for _, e := range want {
		left[e]++
	}
	for _, e := range got {
		left[e]--
	}
	for e, n := range left {
		if n != 0 {
			t.Fatalf("%+v: %d times too few", e, n)
		}
	}
}

func TestAnyNumberOfSplitsHaveTheSameEvents(t *testing.T) {
	for _, n := range []uint64{1, 99, 100, 101, 2345} {
		g := generator(t, nexmark.Options{Events: n})
		want := all(g)
		for p := 1; p <= 7; p++ {
			var got []nexmark.Event
			for i := range p {
				d := open(t, g, nexmark.Pace{}, i, p, false)
				if s := d.read(int(n) + 1); s != operators.Ended || !byTime(d.got) {
					t.Fatalf("split %d of %d: status %v, in order: %v", i, p, s, byTime(d.got))
				}
				got = append(got, d.got...)
				if left := d.stop(); len(left) != 0 {
					t.Fatalf("split %d of %d has ended and has positions %v", i, p, left)
				}
			}
			verifyAll(t, got, want)
		}
	}
}

// Readers that stop anywhere and go on in another number have every event once, each
// reader in order.
func TestPositionsAreGoneOnFromAtAnyParallelism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := generator(t, nexmark.Options{Events: rapid.Uint64Range(1, 1500).Draw(rt, "events")})
		var positions [][]byte
		var got []nexmark.Event
		for attempt := range 3 {
			p := rapid.IntRange(1, 7).Draw(rt, "parallelism")
			var next [][]byte
			for i := range p {
				var mine [][]byte
				for k := i; k < len(positions); k += p {
					mine = append(mine, positions[k])
				}
				n := 2000
				if attempt < 2 {
					n = rapid.IntRange(0, 400).Draw(rt, "events read")
				}
				d := open(rt, g, nexmark.Pace{}, i, p, attempt > 0, mine...)
				d.read(n)
				if !byTime(d.got) {
					rt.Fatalf("attempt %d: events out of order", attempt)
				}
				got = append(got, d.got...)
				next = append(next, d.stop()...)
			}
			positions = next
		}
		verifyAll(rt, got, all(g))
	})
}

func TestEventsComeWhenTheyAreDue(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 4})
	d := open(t, g, nexmark.Pace{Rate: 50}, 0, 1, false) // one every 20 ms
	began := time.Now()
	for d.read(10) != operators.Ended {
		<-d.woke
	}
	if took := time.Since(began); took < 55*time.Millisecond || len(d.got) != 4 {
		t.Errorf("%d events in %v, want 4 in 60 ms", len(d.got), took)
	}
	d.stop()
}

func TestDamagedPositionsAreRefused(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 10})
	for _, b := range [][]byte{nil, {1}, make([]byte, 16), slices.Repeat([]byte{255}, 16)} {
		_, err := g.Source(nexmark.Pace{}).Open(operators.SourceContext{
			Context: &operators.Context{Parallelism: 1}, Restored: true, Splits: [][]byte{b},
		})
		if err == nil {
			t.Errorf("position %v was accepted", b)
		}
	}
}

func TestSourceCostsNoAllocation(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 1 << 30})
	for _, rate := range []float64{0, 1e12} {
		ctx := &operators.Context{Parallelism: 3}
		r, err := g.Source(nexmark.Pace{Rate: rate}).Open(operators.SourceContext{Context: ctx, Wake: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		out := operators.NewOutput(ctx, nothing{})
		if n := testing.AllocsPerRun(10, func() {
			out.Allow(1000)
			if _, err := r.Read(out); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("rate %v: %v allocations", rate, n)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

type nothing struct{}

// Collect implements operators.Collector.
func (nothing) Collect(*nexmark.Event) {}

func BenchmarkSource(b *testing.B) {
	g := generator(b, nexmark.Options{Events: 1 << 40})
	ctx := &operators.Context{Parallelism: 2}
	r, err := g.Source(nexmark.Pace{}).Open(operators.SourceContext{Context: ctx})
	if err != nil {
		b.Fatal(err)
	}
	out := operators.NewOutput(ctx, nothing{})
	out.Allow(b.N)
	b.ResetTimer()
	if _, err := r.Read(out); err != nil {
		b.Fatal(err)
	}
}

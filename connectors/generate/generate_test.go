package generate_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/operators"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type record struct {
	n    uint64
	time int64
	has  bool
}

// driver is a reader that is driven by hand.
type driver struct {
	operators.Reader[uint64]
	ctx  *operators.Context
	out  *operators.Output[uint64]
	got  []record
	woke chan struct{}
}

func (d *driver) Collect(n uint64) { d.got = append(d.got, record{n, d.ctx.Time, d.ctx.HasTime}) }

func number(n uint64) uint64 { return n }

func open(t testing.TB, o generate.Options, i, p int, restored bool, positions ...[]byte) *driver {
	t.Helper()
	d := &driver{ctx: &operators.Context{Subtask: i, Parallelism: p}, woke: make(chan struct{}, 100)}
	d.out = operators.NewOutput(d.ctx, d)
	var err error
	d.Reader, err = generate.Source(number, o).Open(operators.SourceContext{
		Context: d.ctx, Restored: restored, Splits: positions, Wake: func() { d.woke <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *driver) read(t testing.TB, n int) operators.Status {
	t.Helper()
	d.out.Allow(n)
	status, err := d.Read(d.out)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// stop closes the reader and returns its positions.
func (d *driver) stop(t testing.TB) [][]byte {
	t.Helper()
	positions, err := d.Splits(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return positions
}

// fakeClock is set by hand.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration { return c.now }

// Readers that stop anywhere and go on in another number produce every record once.
func TestEveryRecordIsProducedOnceAtAnyParallelism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := generate.Options{Count: rapid.Uint64Range(1, 60).Draw(rt, "count")}
		var positions [][]byte
		var got []uint64
		for attempt := range 3 {
			p := rapid.IntRange(1, 4).Draw(rt, "parallelism")
			var next [][]byte
			for i := range p {
				var mine [][]byte
				for k := i; k < len(positions); k += p {
					mine = append(mine, positions[k])
				}
				n := 100
				if attempt < 2 {
					n = rapid.IntRange(0, 12).Draw(rt, "records")
				}
				d := open(t, o, i, p, attempt > 0, mine...)
				d.read(t, n)
				for _, r := range d.got {
					if r.has {
						rt.Fatal("event time without a rate")
					}
					got = append(got, r.n)
				}
				next = append(next, d.stop(t)...)
			}
			positions = next
		}
		slices.Sort(got)
		for i, n := range got {
			if n != uint64(i) {
				rt.Fatalf("records %v", got)
			}
		}
		if uint64(len(got)) != o.Count || len(positions) != 0 {
			rt.Fatalf("%d of %d records, %d positions left", len(got), o.Count, len(positions))
		}
	})
}

func TestRecordsComeWhenTheyAreDue(t *testing.T) {
	clock := &fakeClock{now: 5 * time.Second} // it began long before
	start := time.Now()
	d := open(t, generate.Options{Count: 6, Rate: 100, Clock: clock}, 1, 2, false) // 1, 3, 5: at 10, 30, 50 ms
	if s := d.read(t, 10); s != operators.Idle || len(d.got) != 0 {
		t.Fatalf("status %v, %d records before the first is due", s, len(d.got))
	}
	<-d.woke // by the system's timer, about 10 ms later
	for _, step := range []struct {
		at   time.Duration
		want int
		then operators.Status
	}{
		{9, 0, operators.Idle}, {10, 1, operators.Idle}, {29, 1, operators.Idle}, {1000, 3, operators.Ended},
	} {
		clock.now = 5*time.Second + step.at*time.Millisecond
		if s := d.read(t, 10); s != step.then || len(d.got) != step.want {
			t.Fatalf("at %d ms: status %v, %d records, want %v and %d", step.at, s, len(d.got), step.then, step.want)
		}
	}
	first := d.got[0].time
	if late := first - start.UnixMilli(); late < 10 || late > 5000 {
		t.Errorf("event time of record 1 is %d ms after the start, want 10", late)
	}
	if !d.got[1].has || d.got[1].time != first+20 || d.got[2].time != first+40 {
		t.Errorf("event times %+v, want 20 ms between them: when due, not when collected", d.got)
	}
	d.stop(t)
}

// The moments belong to the records: not to the subtask, nor to the attempt.
func TestEventTimesAreTheSameAtAnyParallelism(t *testing.T) {
	o := generate.Options{Count: 100, Rate: 50, Start: time.UnixMilli(1_700_000_000_000)}
	times := func(p int) map[uint64]int64 {
		all := map[uint64]int64{}
		var positions [][]byte
		for i := range p {
			d := open(t, o, i, p, false)
			d.read(t, 7)
			for _, r := range d.got {
				all[r.n] = r.time
			}
			positions = append(positions, d.stop(t)...)
		}
		d := open(t, generate.Options{Count: 100, Rate: 50}, 0, 1, true, positions...)
		if s := d.read(t, 1000); s != operators.Ended {
			t.Fatalf("status %v: what became due before the restore must come at once", s)
		}
		for _, r := range d.got {
			all[r.n] = r.time
		}
		d.stop(t)
		return all
	}
	for _, p := range []int{1, 3} {
		all := times(p)
		if len(all) != 100 {
			t.Fatalf("%d records", len(all))
		}
		for n, at := range all {
			if want := o.Start.UnixMilli() + int64(n)*20; at != want {
				t.Fatalf("record %d at %d, want %d", n, at, want)
			}
		}
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for want, o := range map[string]generate.Options{
		"Count 0":    {},
		"Count":      {Count: math.MaxUint64},
		"Rate -1":    {Count: 1, Rate: -1},
		"Rate NaN":   {Count: 1, Rate: math.NaN()},
		"Rate +Inf":  {Count: 1, Rate: math.Inf(1)},
		"Rate -0.5,": {Rate: -0.5}, // both are reported
	} {
		_, err := generate.Source(number, o).Open(operators.SourceContext{Context: &operators.Context{Parallelism: 1}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", o, err, want)
		}
	}
}

func FuzzPositions(f *testing.F) {
	d := open(f, generate.Options{Count: 10}, 0, 1, false)
	f.Add(d.stop(f)[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := generate.Source(number, generate.Options{Count: 10}).Open(operators.SourceContext{
			Context: &operators.Context{Parallelism: 1}, Restored: true, Splits: [][]byte{b},
		})
		if err != nil {
			return
		}
		d := &driver{Reader: r, ctx: &operators.Context{}}
		d.out = operators.NewOutput(d.ctx, d)
		if s := d.read(t, 11); s != operators.Ended || len(d.got) > 10 {
			t.Fatalf("status %v, %d records", s, len(d.got))
		}
	})
}

func TestRecordsCostNoAllocation(t *testing.T) {
	for name, o := range map[string]generate.Options{
		"at once": {Count: generate.Forever},
		"rate":    {Count: generate.Forever, Rate: 1e9, Start: time.Now().Add(-time.Hour)},
	} {
		ctx := &operators.Context{Parallelism: 1}
		r, err := generate.Source(number, o).Open(operators.SourceContext{Context: ctx, Wake: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		out := operators.NewOutput(ctx, sum(new(uint64)))
		n := testing.AllocsPerRun(10, func() {
			out.Allow(1000)
			if _, err := r.Read(out); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

type adder struct{ total *uint64 }

func (a adder) Collect(n uint64) { *a.total += n }

func sum(total *uint64) operators.Collector[uint64] { return adder{total} }

func BenchmarkSource(b *testing.B) {
	for name, o := range map[string]generate.Options{
		"at once": {Count: generate.Forever},
		"rate":    {Count: generate.Forever, Rate: 1e9, Start: time.Now().Add(-time.Hour)},
	} {
		b.Run(name, func(b *testing.B) {
			ctx := &operators.Context{Parallelism: 1}
			r, err := generate.Source(number, o).Open(operators.SourceContext{Context: ctx, Wake: func() {}})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			out := operators.NewOutput(ctx, sum(new(uint64)))
			out.Allow(b.N)
			b.ResetTimer()
			if _, err := r.Read(out); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A wait for each record would cost more than the records.
func TestRecordsThatBecomeDueTogetherComeTogether(t *testing.T) {
	began := time.Now()
	d := open(t, generate.Options{Count: 20_000, Rate: 1e6}, 0, 1, false)
	waits := 0
	for d.read(t, 100_000) != operators.Ended {
		<-d.woke
		waits++
	}
	if took := time.Since(began); time.Duration(waits) > took/(100*time.Microsecond) {
		t.Errorf("waited %d times in %v, want no more than once in 100 µs", waits, took)
	}
	if len(d.got) != 20_000 {
		t.Errorf("%d records", len(d.got))
	}
	d.stop(t)
}

package generate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/operators"
)

// dealt returns the positions that reader i of p gets.
func dealt(positions [][]byte, i, p int) [][]byte {
	var mine [][]byte
	for k := i; k < len(positions); k += p {
		mine = append(mine, positions[k])
	}
	return mine
}

// Three readers stop after each number of records, two go on and stop after each number,
// and five do the rest, some of which have nothing to do.
func TestEveryPositionIsGoneOnFrom(t *testing.T) {
	const count = 13
	for first := range 8 {
		for second := range 10 {
			var got []uint64
			var positions [][]byte
			for attempt, p := range []int{3, 2, 5} {
				n := []int{first, second, count + 1}[attempt]
				var next [][]byte
				for i := range p {
					mine := dealt(positions, i, p)
					d := open(t, generate.Options{Count: count}, i, p, attempt > 0, mine...)
					status := d.read(t, n)
					if attempt > 0 && len(mine) == 0 && n > 0 && status != operators.Ended {
						t.Fatalf("status %v of a reader without splits", status)
					}
					for _, r := range d.got {
						got = append(got, r.n)
					}
					next = append(next, d.stop(t)...)
				}
				positions = next
			}
			if slices.Sort(got); len(got) != count || len(slices.Compact(got)) != count || len(positions) != 0 {
				t.Fatalf("%d and %d records: %v, %d positions left", first, second, got, len(positions))
			}
		}
	}
}

// With a rate, what comes after a restore is what is due and has not come before,
// whatever the number of readers. Records are an hour apart, so that the test's own time
// does not count.
func TestRatesGoOnWithOtherNumbersOfReaders(t *testing.T) {
	const count = 24
	clock := &fakeClock{}
	start := time.UnixMilli(time.Now().UnixMilli())
	o := generate.Options{Count: count, Rate: 1.0 / 3600, Start: start, Clock: clock}
	var got []record
	var positions [][]byte
	attempt := 0
	for hour := time.Duration(0); hour < 2*count; hour += 3 {
		opened := time.Now()
		clock.now = 0 // its zero differs with each process
		p := []int{3, 2, 5, 1, 4}[attempt%5]
		var next [][]byte
		for i := range p {
			d := open(t, o, i, p, attempt > 0, dealt(positions, i, p)...)
			clock.now = hour*time.Hour + 30*time.Minute - opened.Sub(start)
			if s := d.read(t, 100); s != operators.Ended && attempt > 0 && len(dealt(positions, i, p)) == 0 {
				t.Errorf("hour %d: status %v of a reader without splits", hour, s)
			}
			clock.now = 0
			got = append(got, d.got...)
			next = append(next, d.stop(t)...)
		}
		positions = next
		attempt++
		if want := min(int(hour)+1, count); len(got) != want {
			t.Fatalf("after %d hours %d records, want %d", hour, len(got), want)
		}
	}
	slices.SortFunc(got, func(a, b record) int { return int(a.n) - int(b.n) })
	for i, r := range got {
		if want := start.Add(time.Duration(i) * time.Hour).UnixMilli(); r.n != uint64(i) || !r.has || r.time < want-1 || r.time > want {
			t.Fatalf("record %d is %+v, want time %d", i, r, want)
		}
	}
	if len(positions) != 0 {
		t.Errorf("%d positions left", len(positions))
	}
}

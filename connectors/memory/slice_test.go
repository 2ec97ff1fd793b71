package memory_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/operators"
)

// Readers that stop anywhere and go on in another number read every value once.
func TestSliceIsReadOnceAtAnyParallelism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(rapid.Int(), 0, 40).Draw(rt, "values")
		src := memory.Slice(want...)
		var positions [][]byte
		var got []int
		for attempt := range 3 {
			p := rapid.IntRange(1, 4).Draw(rt, "parallelism")
			var next [][]byte
			for i := range p {
				var mine [][]byte
				for k := i; k < len(positions); k += p {
					mine = append(mine, positions[k])
				}
				d := open(t, src, i, p, attempt > 0, mine...)
				n := 1000
				if attempt < 2 {
					n = rapid.IntRange(0, 10).Draw(rt, "records")
				}
				if d.read(t, n); len(d.got.values) > n {
					rt.Fatalf("%d records, %d allowed", len(d.got.values), n)
				}
				left, values := d.stop(t)
				next, got = append(next, left...), append(got, values...)
			}
			positions = next
		}
		want = slices.Clone(want)
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) || len(positions) != 0 {
			rt.Fatalf("got %v, want %v; %d positions left", got, want, len(positions))
		}
	})
}

// Event time waits for the values of all positions from the first read on, though they are
// read one after the other.
func TestPositionsThatAreReadLastHoldEventTime(t *testing.T) {
	src := memory.Slice(0, 1, 2, 3, 4, 5)
	var positions [][]byte
	for i := range 3 {
		left, _ := open(t, src, i, 3, false).stop(t)
		positions = append(positions, left...)
	}
	d := open(t, src, 0, 1, true, positions...)
	m := watermark.NewMaker(watermark.Options{})
	d.ctx.SetWatermarks(m, true, nil)
	d.read(t, 1)
	for split := range positions {
		if _, _, begun := m.Save(split); !begun {
			t.Errorf("split %d does not count", split)
		}
	}
	d.stop(t)
}

func TestDamagedPositionsAreRefused(t *testing.T) {
	for _, b := range []string{"", "short", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"} {
		ctx := operators.SourceContext{Context: &operators.Context{Parallelism: 1}, Restored: true, Splits: [][]byte{[]byte(b)}}
		if _, err := memory.Slice(1, 2, 3).Open(ctx); err == nil {
			t.Errorf("position %x: no error", b)
		}
	}
}

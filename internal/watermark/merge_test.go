package watermark_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/internal/watermark"
)

// show writes a watermark as scripts have it.
func show(mark int64, idle bool) string {
	s := strconv.FormatInt(mark, 10)
	switch mark {
	case watermark.None:
		s = "none"
	case watermark.Last:
		s = "last"
	}
	if idle {
		s += " idle"
	}
	return s
}

// TestMergeScripts runs scripts with a command a line: mark I T, idle I, active I, end I,
// raise T. Each prints the merged watermark if it has changed.
func TestMergeScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/merge", func(t *testing.T, d *datadriven.TestData) string {
		var n int
		d.ScanArgs(t, "inputs", &n)
		m := watermark.NewMerge(n)
		out := ""
		for line := range lines(d.Input) {
			var op string
			var i int
			var at int64
			if k, _ := fmt.Sscan(line, &op, &i, &at); k < 2 {
				t.Fatalf("%q", line)
			}
			changed := false
			switch op {
			case "mark":
				changed = m.Mark(i, at)
			case "idle", "active":
				changed = m.SetIdle(i, op == "idle")
			case "end":
				changed = m.End(i)
			case "raise":
				changed = m.Raise(int64(i))
			default:
				t.Fatalf("%q", line)
			}
			out += line
			if changed {
				out += " => " + show(m.Watermark(), m.Idle())
			}
			out += "\n"
		}
		return out
	})
}

// TestMergeIsTheLeastOfTheActive compares it with its definition, worked out anew each time.
func TestMergeIsTheLeastOfTheActive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "inputs")
		m := watermark.NewMerge(n)
		var now int64 = watermark.None
		idle := false
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "input")
			changed := false
			switch rapid.SampledFrom([]string{"mark", "mark", "mark", "idle", "active", "end"}).Draw(t, "what") {
			case "mark":
				at := rapid.Int64Range(0, 20).Draw(t, "time")
				if at == 20 {
					at = watermark.Last
				}
				changed = m.Mark(i, at)
			case "idle":
				changed = m.SetIdle(i, true)
			case "active":
				changed = m.SetIdle(i, false)
			case "end":
				changed = m.End(i)
			}
			least, most, active, some, over := int64(watermark.Last), int64(watermark.None), false, false, false
			for k := range n {
				in := m.Input(k)
				if in.Ended || in.Mark == watermark.Last {
					over = over || !in.Ended
					continue
				}
				some = true
				most = max(most, in.Mark)
				if !in.Idle {
					active, least = true, min(least, in.Mark)
				}
			}
			before, wasIdle := now, idle
			idle = some && !active
			if active {
				now = max(now, least)
			} else if some {
				now = max(now, most)
			} else if over {
				now = watermark.Last
			}
			if m.Watermark() != now || m.Idle() != idle || changed != (now != before || idle != wasIdle) {
				t.Fatalf("got %s, changed %v; want %s after %s", show(m.Watermark(), m.Idle()), changed, show(now, idle), show(before, wasIdle))
			}
		}
	})
}

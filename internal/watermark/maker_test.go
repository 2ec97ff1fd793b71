package watermark_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/overtake-stream/overtake/internal/watermark"
)

func lines(s string) iter.Seq[string] { return strings.SplitSeq(strings.TrimSpace(s), "\n") }

// collect is what an operator does with a record.
func collect(m *watermark.Maker, split int, at int64) {
	if m.At != split {
		m.Enter(split)
	}
	if s := m.Current; at > s.Latest {
		if s.Latest = at; at >= s.Edge {
			m.Cross()
		}
	}
}

// TestMakerScripts runs scripts with a command a line. Times of the clock are milliseconds.
//
//	new [lag=L] [idle=MS] [ends=EVERY+OFFSET]
//	begin N, end N, dry N    splits
//	at N T ...               records of split N
//	wait MS                  there are no records to be had
//	pause MS                 nobody has asked for records for so long
//	look MS                  prints the watermark
//	restart                  a new one with what the splits 0 to 9 had
//
// A record that crosses an end prints so, and everything when something will be idle, if
// that is known.
func TestMakerScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/maker", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o watermark.Options
			var m *watermark.Maker
			out := ""
			for line := range lines(d.Input) {
				out += line + makerStep(t, &m, &o, strings.Fields(line))
				if m != nil {
					if at, ok := m.Due(); ok {
						out += fmt.Sprintf(" (idle at %d)", at.Milliseconds())
					}
				}
				out += "\n"
			}
			return out
		})
	})
}

func makerStep(t *testing.T, m **watermark.Maker, o *watermark.Options, words []string) (out string) {
	number := func(s string) (n int64) {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	switch words[0] {
	case "new":
		*o = watermark.Options{}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
			case "lag":
				o.Lag = number(value)
			case "idle":
				o.IdleAfter = time.Duration(number(value)) * time.Millisecond
			case "ends":
				every, offset, _ := strings.Cut(value, "+")
				o.Ends = append(o.Ends, watermark.Ends{Every: number(every), Offset: number(offset)})
			}
		}
		*m = watermark.NewMaker(*o)
	case "begin":
		(*m).Begin(int(number(words[1])))
	case "end":
		(*m).End(int(number(words[1])))
	case "dry":
		(*m).Dry(int(number(words[1])))
	case "wait":
		(*m).Wait(time.Duration(number(words[1])) * time.Millisecond)
	case "pause":
		(*m).Pause(time.Duration(number(words[1])) * time.Millisecond)
	case "look":
		return " => " + show((*m).Look(time.Duration(number(words[1]))*time.Millisecond))
	case "at":
		for _, w := range words[2:] {
			before := (*m).Crossed()
			collect(*m, int(number(words[1])), number(w))
			if !before && (*m).Crossed() {
				out += " crosses " + w
			}
		}
	case "restart":
		old := *m
		*m = watermark.NewMaker(*o)
		for n := range 10 {
			if latest, idle, ok := old.Save(n); ok {
				(*m).Restore(n, latest, idle)
			}
		}
	default:
		t.Fatalf("%q", words)
	}
	return out
}

func TestRecordsCostNoMemory(t *testing.T) {
	m := watermark.NewMaker(watermark.Options{Ends: []watermark.Ends{{Every: 10}}})
	at := int64(0)
	step := func() {
		for split := range 3 {
			at++
			collect(m, split, at)
		}
		m.Look(time.Duration(at))
	}
	step()
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

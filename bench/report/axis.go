package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/overtake-stream/overtake/bench"
)

// tick is a labelled place on an axis.
type tick struct {
	at    float64
	label string
}

// axis maps values to places between 0 and 1.
type axis struct {
	Label string
	Unit  string
	Log   bool
	Ticks []tick // default: round values

	low, high float64
}

// fit makes room for the values, and on a linear axis for zero.
func (a *axis) fit(values []float64) {
	a.low, a.high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !a.Log || v > 0 {
			a.low, a.high = min(a.low, v), max(a.high, v)
		}
	}
	if math.IsInf(a.low, 0) {
		a.low, a.high = 1, 10
	}
	if a.Log {
		a.low, a.high = a.low/1.3, a.high*1.3
		return
	}
	a.low, a.high = min(0, a.low), a.high*1.05
	if a.high <= a.low {
		a.high = a.low + 1
	}
}

func (a *axis) place(v float64) float64 {
	if a.Log {
		return math.Log(max(v, a.low)/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// ticks are the given ones that are in range, or round values.
func (a *axis) ticks() (list []tick) {
	all := a.Ticks
	if len(all) == 0 && a.Log {
		all = a.logTicks()
	} else if len(all) == 0 {
		all = a.linearTicks()
	}
	for _, t := range all {
		if p := a.place(t.at); t.at >= a.low*(1-1e-9) && p >= -1e-9 && p <= 1+1e-9 {
			list = append(list, t)
		}
	}
	return list
}

// logTicks are powers of ten, with 2 and 5 between them where there are few, and with
// some left out where there are many.
func (a *axis) logTicks() (list []tick) {
	decades := math.Log10(a.high / a.low)
	steps, skip := []float64{1}, max(1, int(decades/6))
	switch {
	case decades < 3:
		steps = []float64{1, 2, 5}
	case decades < 4:
		steps = []float64{1, 3}
	}
	for e := int(math.Floor(math.Log10(a.low))); e <= int(math.Ceil(math.Log10(a.high))); e++ {
		if e%skip != 0 {
			continue
		}
		for _, s := range steps {
			v := s * math.Pow(10, float64(e))
			list = append(list, tick{v, a.quantity(v)})
		}
	}
	return list
}

func (a *axis) linearTicks() (list []tick) {
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/4)))
	for _, m := range []float64{5, 2, 1} {
		if (a.high-a.low)/(step*m) >= 4 {
			step *= m
			break
		}
	}
	for v := math.Ceil(a.low/step) * step; v <= a.high; v += step {
		list = append(list, tick{v, a.quantity(v)})
	}
	return list
}

func (a *axis) quantity(v float64) string {
	if a.Unit == "" {
		return strings.TrimSpace(fmt.Sprintf("%.4g", v))
	}
	return strings.TrimSpace(bench.Quantity(v, a.Unit))
}

package watermark

import "math"

// The watermarks that are no times.
const (
	None = math.MinInt64 // nothing is known yet
	Last = math.MaxInt64 // nothing follows
)

// Input is what is known of one input.
type Input struct {
	Mark  int64 // its watermark
	Idle  bool  // it is left out
	Ended bool  // for ever
}

// Merge is the watermark of several inputs. Make it with NewMerge.
type Merge struct {
	inputs []Input
	now    int64
	idle   bool
}

// NewMerge returns the watermark of n inputs, of which nothing is known.
func NewMerge(n int) Merge {
	m := Merge{now: None}
	for range n {
		m.Add()
	}
	return m
}

// Add adds an input of which nothing is known and returns its number.
func (m *Merge) Add() int {
	m.inputs = append(m.inputs, Input{Mark: None})
	m.idle = false
	return len(m.inputs) - 1
}

// Len is the number of inputs.
func (m *Merge) Len() int { return len(m.inputs) }

// Input is what is known of input i.
func (m *Merge) Input(i int) Input { return m.inputs[i] }

// Watermark is the merged watermark. It never falls.
func (m *Merge) Watermark() int64 { return m.now }

// Idle reports whether all inputs are idle or have ended, or have had the last watermark,
// but not all of them have.
func (m *Merge) Idle() bool { return m.idle }

// Set replaces what is known of input i, and reports whether the merged watermark or idleness
// has changed.
func (m *Merge) Set(i int, in Input) bool {
	m.inputs[i] = in
	return m.settle()
}

// Mark takes a watermark of input i, which is active then. It reports whether the merged
// watermark or idleness has changed.
func (m *Merge) Mark(i int, mark int64) bool {
	in := &m.inputs[i]
	before := *in
	if in.Ended || mark <= in.Mark && !in.Idle {
		return false
	}
	in.Mark, in.Idle = max(in.Mark, mark), false
	if !before.Idle && before.Mark > m.now {
		return false // it was not the least
	}
	return m.settle()
}

// SetIdle says whether input i is idle, and reports whether the merged watermark or idleness
// has changed.
func (m *Merge) SetIdle(i int, idle bool) bool {
	in := &m.inputs[i]
	if in.Idle == idle || in.Ended {
		return false
	}
	in.Idle = idle
	return m.settle()
}

// Raise makes the merged watermark no less than mark, and reports whether it has changed.
func (m *Merge) Raise(mark int64) bool {
	if mark <= m.now {
		return false
	}
	m.now = mark
	return true
}

// End leaves input i out for ever, and reports whether the merged watermark or idleness has
// changed.
func (m *Merge) End(i int) bool {
	m.inputs[i].Ended = true
	return m.settle()
}

// settle works the merged watermark out.
func (m *Merge) settle() bool {
	least, most, left, active, over := int64(Last), int64(None), false, false, false
	for i := range m.inputs {
		switch in := &m.inputs[i]; {
		case in.Ended:
		case in.Mark == Last: // it does not end the time of those that are idle
			over = true
		case in.Idle:
			left, most = true, max(most, in.Mark)
		default:
			active, least = true, min(least, in.Mark)
		}
	}
	now, idle := m.now, m.idle
	m.idle = left && !active
	switch {
	case active:
		m.now = max(m.now, least)
	case left:
		m.now = max(m.now, most)
	case over:
		m.now = Last
	}
	return m.now != now || m.idle != idle
}

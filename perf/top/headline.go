package top

import (
	"fmt"
	"strings"
)

// headline is which job this is, and of when the figures are.
func headline(f *Figures) string {
	parts := []string{f.Job, plural(f.Workers, "worker")}
	if f.Answered < f.Workers {
		parts[1] = fmt.Sprintf("%d of %s", f.Answered, parts[1])
	}
	if f.Restarts > 0 {
		parts = append(parts, "restarted "+plural(f.Restarts, "time"))
	}
	parts = append(parts, f.At.Format("15:04:05"))
	if f.Whole {
		parts = append(parts, "since the start, "+duration(f.Seconds)+" ago")
	} else {
		parts = append(parts, "over "+duration(f.Seconds))
	}
	return "overtake top: " + strings.Join(parts, ", ")
}

// verdict is a sentence on where backpressure begins.
func verdict(f *Figures, width, most int, st styles) (lines []string) {
	c := &f.RootCause
	look, text := st.good, "No backpressure: "+c.Why+"."
	switch {
	case c.Found:
		look, text = st.alarm, fmt.Sprintf("Backpressure begins at %q: %s.", c.Name, c.Why)
	case !f.Measured:
		look, text = st.alarm, "Not known: "+c.Why+"."
	case f.pressed():
		look, text = st.soft, "Backpressure without a busy operator: "+c.Why+"."
	}
	for _, l := range wrap(text, width, most) {
		lines = append(lines, paint(look, l))
	}
	return lines
}

// pressedShare is from which share on waiting for output is backpressure: that of
// perf.JobSnapshot.RootCause.
const pressedShare = 0.2

func (f *Figures) pressed() bool {
	for i := range f.Operators {
		if f.Operators[i].Soft+f.Operators[i].Hard >= pressedShare {
			return true
		}
	}
	return false
}

func processes(f *Figures) string {
	p := &f.Process
	gc := "no GC meanwhile"
	if p.GCCycles > 0 {
		gc = fmt.Sprintf("GC %s of CPU", percent(p.GCShare))
	}
	used := 0.0
	if p.Segments > 0 {
		used = float64(p.InUse) / float64(p.Segments)
	}
	text := fmt.Sprintf("Buffers %d of %d in use (%s), %d idle; heap %s; %s", p.InUse, p.Segments, percent(used), p.Idle, bytes(float64(p.Heap)), gc)
	if p.Network {
		text += fmt.Sprintf("; network in %s/s, out %s/s", bytes(p.BytesIn), bytes(p.BytesOut))
	}
	return text
}

func lastCheckpoint(f *Figures) string {
	c := f.Checkpoints.Last()
	if c == nil {
		return "No complete checkpoint"
	}
	ago := f.At.Sub(c.Triggered).Seconds() - c.Duration
	return fmt.Sprintf("Checkpoint %d, %s ago: took %s (p50 %s), pause %s, %s in flight, %s written",
		c.ID, duration(ago), duration(c.Duration), duration(f.Checkpoints.P50), duration(c.Pause),
		bytes(float64(c.InFlightBytes)), bytes(float64(c.Bytes)))
}

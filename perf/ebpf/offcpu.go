package ebpf

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// OffCPUReport is where threads were when they gave their processor up. Goroutines that
// are parked have no thread: Go's own block profile has those.
type OffCPUReport struct {
	Duration time.Duration `json:"duration_ns"`
	Stacks   []OffCPUStack `json:"stacks"` // without those of idle threads, the longest first
	Idle     time.Duration `json:"idle_ns"`
	Lost     uint64        `json:"lost"` // times that had no room in the kernel's tables
	Refusals []Refusal     `json:"refusals"`
}

// OffCPUStack is a place where threads did not run.
type OffCPUStack struct {
	PID       int           `json:"pid"`
	Frames    []string      `json:"frames"`    // functions, the innermost first; none: the stack could not be read
	Preempted bool          `json:"preempted"` // the thread could have gone on: it waited for a processor
	Time      time.Duration `json:"time_ns"`
	Count     uint64        `json:"count"`
}

// idle reports whether a stack is that of a thread of the Go runtime with nothing to do.
func (s *OffCPUStack) idle() bool {
	return slices.ContainsFunc(s.Frames, func(f string) bool {
		switch f {
		case "runtime.findRunnable", "runtime.stopm", "runtime.sysmon", "runtime.mPark", "runtime.templateThread",
			"runtime.netpoll", "os/signal.signal_recv", "runtime.startlockedm", "runtime.stoplockedm", "runtime.bgscavenge", "runtime.bgsweep":
			return true
		}
		return false
	})
}

// Folded writes the stacks as lines for flame graphs: frames from the outermost, and
// microseconds.
func (r *OffCPUReport) Folded(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range r.Stacks {
		s := &r.Stacks[i]
		frames := slices.Clone(s.Frames)
		slices.Reverse(frames)
		if len(frames) == 0 {
			frames = []string{"[unknown]"}
		}
		if s.Preempted {
			frames = append(frames, "[preempted]")
		}
		_, _ = fmt.Fprintf(b, "%s %d\n", strings.Join(frames, ";"), s.Time.Microseconds())
	}
	return b.Flush()
}

// Profile writes the stacks for "go tool pprof".
func (r *OffCPUReport) Profile(w io.Writer) error {
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "waits", Unit: "count"}, {Type: "off-cpu", Unit: "nanoseconds"}},
		PeriodType:    &profile.ValueType{Type: "off-cpu", Unit: "nanoseconds"},
		Period:        1,
		DurationNanos: int64(r.Duration),
	}
	locations := map[string]*profile.Location{}
	at := func(name string) *profile.Location {
		l := locations[name]
		if l == nil {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			locations[name] = l
		}
		return l
	}
	for i := range r.Stacks {
		s := &r.Stacks[i]
		sample := &profile.Sample{
			Value:    []int64{int64(s.Count), int64(s.Time)},
			NumLabel: map[string][]int64{"pid": {int64(s.PID)}},
		}
		if s.Preempted {
			sample.Location = append(sample.Location, at("[preempted]"))
		}
		for _, f := range s.Frames {
			sample.Location = append(sample.Location, at(f))
		}
		if len(sample.Location) == 0 {
			sample.Location = append(sample.Location, at("[unknown]"))
		}
		p.Sample = append(p.Sample, sample)
	}
	if err := p.CheckValid(); err != nil {
		return err
	}
	return p.Write(w)
}

// settle takes idle stacks out, puts equal ones together, and sorts.
func (r *OffCPUReport) settle() {
	type key struct {
		pid       int
		preempted bool
		frames    string
	}
	index := map[key]int{}
	var kept []OffCPUStack
	for _, s := range r.Stacks {
		if s.idle() {
			r.Idle += s.Time
			continue
		}
		k := key{s.PID, s.Preempted, strings.Join(s.Frames, "\n")}
		if i, ok := index[k]; ok {
			kept[i].Time += s.Time
			kept[i].Count += s.Count
			continue
		}
		index[k] = len(kept)
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, func(a, b OffCPUStack) int { return cmp.Compare(b.Time, a.Time) })
	r.Stacks = kept
}

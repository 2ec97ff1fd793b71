package ebpf

import (
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// edgeStats gathers the messages of a direction.
type edgeStats struct {
	edge     Edge
	channels map[uint64]bool
	total    series
	stages   [Stages]series
}

// series is a distribution being gathered.
type series struct {
	histogram perf.Histogram
	count     uint64
	sum       time.Duration
}

func (s *series) add(d time.Duration) {
	s.histogram.Record(int64(d))
	s.count++
	s.sum += d
}

// distribution is of the values seen; the mean is over n, those without any included.
func (s *series) distribution(n uint64) Distribution {
	if s.count == 0 {
		return Distribution{}
	}
	h := s.histogram.Snapshot()
	return Distribution{
		Count: s.count,
		P50:   time.Duration(h.Quantile(0.5)),
		P99:   time.Duration(h.Quantile(0.99)),
		P999:  time.Duration(h.Quantile(0.999)),
		Max:   time.Duration(h.Max()),
		Mean:  s.sum / time.Duration(n),
	}
}

func (e *edgeStats) add(m *Message) {
	if e.channels == nil {
		e.channels = map[uint64]bool{}
	}
	e.channels[m.Channel] = true
	e.total.add(m.Total())
	for s := range Stages {
		if m.Seen(s) {
			e.stages[s].add(m.Spent[s])
		}
	}
}

// report sums up.
func (e *edgeStats) report() Edge {
	edge := e.edge
	edge.Channels = len(e.channels)
	edge.Total = e.total.distribution(e.total.count)
	for s := range Stages {
		stage := &e.stages[s]
		if stage.count == 0 && s == Network {
			continue // the kernel was seen
		}
		if stage.count == 0 {
			edge.Missing = append(edge.Missing, s)
			continue
		}
		row := StageRow{Stage: s, Distribution: stage.distribution(e.total.count)}
		if e.total.sum > 0 {
			row.Share = float64(stage.sum) / float64(e.total.sum)
		}
		edge.Stages = append(edge.Stages, row)
	}
	edge.blame()
	return edge
}

// row returns a stage's row, nil if it was not seen.
func (e *Edge) row(s Stage) *StageRow {
	if i := slices.IndexFunc(e.Stages, func(r StageRow) bool { return r.Stage == s }); i >= 0 {
		return &e.Stages[i]
	}
	return nil
}

// blame finds the dominant stage, and says so. Waiting for credit is a symptom: the
// receiver's slowest stage is named as its cause.
func (e *Edge) blame() {
	if len(e.Stages) == 0 {
		return
	}
	top := slices.MaxFunc(e.Stages, func(a, b StageRow) int { return int(a.Share*1e9) - int(b.Share*1e9) })
	e.Dominant = top.Stage
	e.Blame = fmt.Sprintf("%d%% of %v is %v (mean %v): %s", int(top.Share*100+0.5), rounded(e.Total.Mean), top.Stage, rounded(top.Mean), top.Stage.Blame())
	if top.Stage != Credit {
		return
	}
	var cause *StageRow
	for _, s := range []Stage{Unread, Runnable, Decode, ReceiveQueue, Process} {
		if r := e.row(s); r != nil && (cause == nil || r.Share > cause.Share) {
			cause = r
		}
	}
	if cause != nil {
		e.Blame += fmt.Sprintf("; behind it, %v (mean %v): %s", cause.Stage, rounded(cause.Mean), cause.Stage.Blame())
	}
}

// rounded is a time of three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

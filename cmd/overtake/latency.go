package main

import (
	"fmt"
	"io"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/perf"
)

// sinkLatency is how long markers have taken from a source to all subtasks of a sink.
type sinkLatency struct {
	source, sink string
	times        perf.Snapshot
	bound        time.Duration
	lost         uint64
}

// printLatencies writes a line for each pair of source and sink of this worker.
func printLatencies(w io.Writer, stats []overtake.LatencyStats) {
	var pairs []*sinkLatency
	find := func(source, sink string) *sinkLatency {
		for _, p := range pairs {
			if p.source == source && p.sink == sink {
				return p
			}
		}
		pairs = append(pairs, &sinkLatency{source: source, sink: sink})
		return pairs[len(pairs)-1]
	}
	for _, s := range stats {
		if s.Sink {
			p := find(s.Source, s.Operator)
			p.times.Merge(s.Times)
			p.bound = max(p.bound, s.OffsetError)
			p.lost += s.Lost
		}
	}
	for _, p := range pairs {
		fmt.Fprintf(w, "latency %s -> %s: %v", p.source, p.sink, &p.times)
		if p.bound > 0 {
			fmt.Fprintf(w, ", give or take %v", p.bound)
		}
		if p.lost > 0 {
			fmt.Fprintf(w, ", %d markers lost before clocks were compared", p.lost)
		}
		fmt.Fprintln(w)
	}
}

package peers

import (
	"strconv"

	"github.com/overtake-stream/overtake/bench"
)

// flinkCases are the comparisons with Flink. What its own benchmarks measure comes first.
func flinkCases(cfg Config) []Case {
	count := func(full, quick int64) string { return strconv.FormatInt(cfg.Pick(full, quick), 10) }
	var list []Case
	for _, size := range []string{"8", "100"} {
		list = append(list, Case{
			Name: "throughput/" + size + "B", Theirs: "throughput", Ours: flinkThroughput,
			Params: Params{"record": size, "records": count(40e6, 10e6), "warmups": "2"},
			Figures: []Figure{
				{Metric: "flush-100ms", Unit: "records/s", Better: bench.Higher, Goal: 3, Check: true},
				{Metric: "flush-1ms", Unit: "records/s", Better: bench.Higher, Goal: 3, Check: true},
				{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
			},
		})
	}
	throughput := func(goal float64) []Figure {
		return []Figure{
			{Metric: "throughput", Unit: "records/s", Better: bench.Higher, Goal: goal, Check: true},
			{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
		}
	}
	for _, k := range []struct{ name, keys string }{{"10-keys", "10"}, {"100k-keys", "100000"}} {
		list = append(list, Case{
			Name: "keyby/" + k.name, Theirs: "keyby", Ours: flinkKeyed,
			Params:  Params{"keys": k.keys, "records": count(20e6, 5e6), "warmups": "2"},
			Figures: throughput(5),
		})
	}
	return append(append(list, flinkCheckpointCases(cfg)...), Case{
		Name: "chain", Ours: flinkChain, Params: Params{"records": count(40e6, 10e6), "warmups": "2"}, Figures: throughput(0),
	}, Case{
		Name: "latency", Ours: flinkLatency, Prepare: halfOfFlinksPeak,
		Params: Params{
			"record": "100", "records": count(20e6, 10e6), "rate": "500000", "flush_ms": "1",
			"warm_seconds": count(10, 5), "seconds": count(20, 5),
		},
		Figures: []Figure{
			{Metric: "p50", Unit: "s", Better: bench.Lower, Check: true},
			{Metric: "p99", Unit: "s", Better: bench.Lower, Check: true},
			{Metric: "p99.9", Unit: "s", Better: bench.Lower, Check: true},
			{Metric: "p99.99", Unit: "s", Better: bench.Lower, Goal: 0.1, Check: true},
		},
	}, flinkNexmarkCase(count(2e6, 1e6)))
}

// flinkCheckpointCases are those about checkpoints and what comes after a failure.
func flinkCheckpointCases(cfg Config) (list []Case) {
	count := func(full, quick int64) string { return strconv.FormatInt(cfg.Pick(full, quick), 10) }
	for _, mode := range []string{"unaligned", "aligned"} {
		for _, sink := range []struct{ name, micros, spins string }{{"200µs", "200", "true"}, {"10ms", "10000", "false"}} {
			goal := 0.1 // it is about unaligned ones
			p := Params{
				"mode": mode, "record": "1024", "buffer": "8kb", "sink_us": sink.micros, "spins": sink.spins,
				"warmups": "5", "checkpoints": count(50, 20),
			}
			if mode == "aligned" {
				goal = 0
				p = p.with("warmups", "1", "checkpoints", count(10, 3))
			}
			if mode == "aligned" && sink.name == "10ms" {
				p = p.with("warmups", "0", "checkpoints", count(5, 1))
			}
			list = append(list, Case{
				Name: "backpressure/" + mode + "/sink-" + sink.name, Theirs: "pressure", Ours: flinkPressure, Params: p,
				Figures: []Figure{{Metric: "duration", Unit: "s", Better: bench.Lower, Goal: goal}},
			})
		}
	}
	return append(list, Case{
		Name: "pause", Ours: flinkPause,
		Params: Params{"keys": count(1e6, 300e3), "warmups": "5", "checkpoints": count(30, 10), "spacing_ms": "100"},
		Figures: []Figure{
			{Metric: "pause", Unit: "s", Better: bench.Lower},
			{Metric: "duration", Unit: "s", Better: bench.Lower},
		},
	}, Case{
		Name: "recovery", Ours: flinkRecovery, Params: Params{"keys": count(1e9/16, 100e6/16)},
		Figures: []Figure{
			{Metric: "first-output", Unit: "s", Better: bench.Lower, Goal: 0.1, Check: true},
			{Metric: "checkpoint", Unit: "s", Better: bench.Lower},
		},
	})
}

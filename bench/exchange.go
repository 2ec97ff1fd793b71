package bench

import (
	"context"
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/perf"
)

const halves = "half of the cores"

// Exchange measures the exchange between subtasks, between processes and in one. Short, it
// has fewer cases. Under pressure it has others, which compare with no pressure. Kinds that
// are not among ExchangeTakes are of no effect.
func Exchange(short bool, p pressure.Config) []Case {
	if p = p.Only(ExchangeTakes); p.Active() {
		return pressedCases(short, p)
	}
	var cases []Case
	cases = append(cases, bulkCases()...)
	cases = append(cases, stalledCase())
	cases = append(cases, manyChannelCases()...)
	cases = append(cases, localCases()...)
	cases = append(cases, latencyCases()...)
	cases = append(cases, transportCases(short)...)
	return append(cases, Case{
		Name: "memory/stopped-reader", Metric: "memory", Unit: "", Better: Lower,
		Parameters: map[string]any{"channels": 1000, "budget": 128 << 20, "buffer": 32 << 10},
		Ours:       stopped,
		Baselines:  []Baseline{{Name: "budget", Run: Constant(1)}},
		Goal:       &Goal{Baseline: "budget", Ratio: 1},
	})
}

func bulkCases() (cases []Case) {
	const bytes = 4 << 30
	raw := func(call int64, pick func(rate, cost float64) float64) Measure {
		return func(ctx context.Context, s Size) (float64, error) {
			rate, cost, err := wire{Bytes: s.Of(bytes)}.raw(ctx, call)
			return pick(rate, cost), err
		}
	}
	speed := func(rate, _ float64) float64 { return rate }
	price := func(_, cost float64) float64 { return cost }
	for _, c := range []struct {
		name                               string
		writers, channels, readers, window int
		speed, price                       float64
	}{
		{"1ch", 1, 1, 1, 128, 0.95, 1.4},
		{"16ch-8credits", 1, 16, 16, 8, 0.79, 1.4},
	} {
		w := wire{Writers: c.writers, Channels: c.channels, Readers: c.readers, Window: c.window, Memory: 64 << 20, Halves: true}
		ours := func(pick func(rate, cost float64) float64) Measure {
			return func(ctx context.Context, s Size) (float64, error) {
				w := w
				w.Bytes = s.Of(bytes)
				rate, cost, err := w.measure(ctx)
				return pick(rate, cost), err
			}
		}
		parameters := map[string]any{
			"processes": 2, "buffer": 32 << 10, "writers": c.writers, "channels": c.channels,
			"readers": c.readers, "credits_per_channel": c.window, "bytes": bytes, "gomaxprocs_each": halves,
		}
		const base = "raw 1 MiB write/read loop"
		cases = append(cases, Case{
			Name: "tcp/" + c.name, Parameters: parameters, Metric: "throughput", Unit: "B/s", Better: Higher,
			Ours: ours(speed), Goal: &Goal{base, c.speed},
			Baselines: []Baseline{{Name: base, Run: raw(1<<20, speed)}, {Name: "raw 32 KiB write/read loop", Run: raw(32<<10, speed)}},
		}, Case{
			Name: "tcp/" + c.name + "/cpu", Parameters: parameters, Metric: "cpu", Unit: "s/B", Better: Lower,
			Ours: ours(price), Baselines: []Baseline{{Name: base, Run: raw(1<<20, price)}}, Goal: &Goal{base, c.price},
		})
	}
	return cases
}

// stalledCase has a full channel without a reader on the same connection.
func stalledCase() Case {
	measure := func(stalled bool) Measure {
		return func(ctx context.Context, s Size) (float64, error) {
			w := wire{Writers: 1, Channels: 4, Readers: 4, Window: 8, Memory: 64 << 20, Bytes: s.Of(4 << 30), Halves: true, Stalled: stalled}
			rate, _, err := w.measure(ctx)
			return rate, err
		}
	}
	return Case{
		Name: "tcp/stalled-neighbour", Metric: "throughput", Unit: "B/s", Better: Higher,
		Parameters: map[string]any{"processes": 2, "channels": 4, "stalled_channels": 1, "credits_per_channel": 8, "gomaxprocs_each": halves},
		Ours:       measure(true),
		Baselines:  []Baseline{{Name: "no stalled channel", Run: measure(false)}},
		Goal:       &Goal{"no stalled channel", 0.95},
	}
}

// manyChannelCases follow the networkThroughput benchmark of Apache Flink: 4 writers
// send 8-byte values in turn to each of their channels.
func manyChannelCases() []Case {
	measure := func(channels int, flush time.Duration) Measure {
		return func(ctx context.Context, s Size) (float64, error) {
			w := wire{
				Writers: 4, Channels: channels / 4, Readers: 1, Window: 2, Record: 16, Flush: flush,
				Memory: 256 << 20, Bytes: s.Of(1600 << 20), Halves: true,
			}
			rate, _, err := w.measure(ctx)
			return rate / 16, err
		}
	}
	parameters := map[string]any{"processes": 2, "writers": 4, "record": 16, "channels": 1000, "flush_seconds": 0.1, "gomaxprocs_each": halves}
	return []Case{{
		Name: "tcp/1000-channels", Parameters: parameters, Metric: "throughput", Unit: "records/s", Better: Higher,
		Ours:      measure(1000, 100*time.Millisecond),
		Baselines: []Baseline{{Name: "100 channels", Run: measure(100, 100*time.Millisecond)}},
		Goal:      &Goal{"100 channels", 0.95},
	}, {
		Name: "tcp/flush-1ms", Parameters: parameters, Metric: "throughput", Unit: "records/s", Better: Higher,
		Ours:      measure(1000, time.Millisecond),
		Baselines: []Baseline{{Name: "flush 100 ms", Run: measure(1000, 100*time.Millisecond)}},
		Goal:      &Goal{"flush 100 ms", 0.98},
	}}
}

func localCases() []Case {
	parameters := map[string]any{"record": localRecord, "buffer": 32 << 10}
	time := func(name string, ours Measure, goal *Goal, baselines ...Baseline) Case {
		return Case{Name: name, Parameters: parameters, Metric: "time", Unit: "s", Better: Lower, Ours: ours, Baselines: baselines, Goal: goal}
	}
	return []Case{
		time("local/1to1", batches(1), &Goal{"channel of slices", 0.4}, Baseline{Name: "channel of slices", Run: sliceChannel}, Baseline{Name: "hand-written batches", Run: handBatches(1)}),
		time("local/1to4-hash", batches(4), &Goal{"channels of pooled pointers", 0.4}, Baseline{Name: "channels of pooled pointers", Run: pointerChannels(4)}),
		time("local/1to4-hash/batches", batches(4), &Goal{"hand-written batches", 1}, Baseline{Name: "hand-written batches", Run: handBatches(4)}),
		time("local/pool", poolCycle, &Goal{"mutex LIFO", 0.5}, Baseline{Name: "mutex LIFO", Run: mutexLIFO}),
		time("local/map-hop", chainHop, &Goal{"3 ns", 1}, Baseline{Name: "3 ns", Run: Constant(3e-9)}),
		{
			Name: "local/allocations", Parameters: parameters, Metric: "allocations", Unit: "", Better: Lower, Ours: allocations(20_000_000, batches(4)),
			Baselines: []Baseline{{Name: "none", Run: Constant(0)}}, Goal: &Goal{"none", 1},
		},
	}
}

func latencyCases() (cases []Case) {
	measure := func(hogs int) Latency {
		return func(ctx context.Context, s Size, into *perf.Histogram) error {
			return wire{Memory: 16 << 20, Hogs: hogs}.roundTrips(ctx, s.Of(20_000), into)
		}
	}
	hogs := (runtime.NumCPU() + 1) / 2 // both processes together keep every core busy
	for _, q := range []struct {
		name     string
		quantile float64
		goal     float64
	}{{"p50", 0.5, 1.5}, {"p99", 0.99, 10}} {
		cases = append(cases, Case{
			Name: "latency/busy/" + q.name, Metric: "latency", Unit: "s", Better: Lower,
			Parameters: map[string]any{"bytes": pingSize, "processes": 2, "busy_goroutines_each": hogs, "quantile": q.quantile},
			Latency:    measure(hogs), Quantile: q.quantile,
			Baselines: []Baseline{{Name: "idle cores", Latency: measure(0)}},
			Goal:      &Goal{"idle cores", q.goal},
		})
	}
	return append(cases, echoCases()...)
}

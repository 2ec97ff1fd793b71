package ckpt

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
)

// Baselines of suite checkpoint-backpressure. Figures of Apache Flink are those that its
// developers published in pull requests of flink-benchmarks, on other machines, without a
// durable write.
const (
	oneMillisecond = "1 ms"
	fastSink       = "sink of 200 µs"
	alignedToo     = "aligned"
	oneRecord      = "the time of one record"
)

// flinkRows are published times of a checkpoint under parameters like these.
func flinkRows(p pressure) (list []bench.Baseline) {
	row := func(what string, d time.Duration) {
		list = append(list, bench.Baseline{Name: "Flink, published: " + what, Latency: constant(d)})
	}
	switch {
	case p.Processes > 1 || p.Store == durable:
	case p.Burst == 1 && p.Mode != overtake.Aligned:
		row("unaligned (flink-benchmarks #32)", 2470*time.Microsecond)
	case p.Burst == 1:
		row("aligned (flink-benchmarks #32)", 879*time.Millisecond)
	case p.Mode == overtake.Unaligned:
		row("unaligned, flatMap (flink-benchmarks #54)", map[time.Duration]time.Duration{
			200 * time.Microsecond: 11 * time.Millisecond, time.Millisecond: 12 * time.Millisecond, 10 * time.Millisecond: 45 * time.Millisecond,
		}[p.Sink])
	case p.Mode == overtake.Aligned:
		row("aligned, flatMap (flink-benchmarks #54)", map[time.Duration]time.Duration{
			200 * time.Microsecond: 1600 * time.Millisecond, time.Millisecond: 1600 * time.Millisecond, 10 * time.Millisecond: 13 * time.Second,
		}[p.Sink])
	case p.Sink == 10*time.Millisecond:
		row("unaligned after 1 ms, flatMap (flink-benchmarks #54)", 9524*time.Millisecond)
	}
	return list
}

// sinks are how long a sink takes for a record.
func (c Config) sinks() []time.Duration {
	if c.Pressure.SlowSink > 0 {
		return []time.Duration{c.Pressure.SlowSink}
	}
	return []time.Duration{200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}
}

// pressureGroups are the cases of suite checkpoint-backpressure.
func (c Config) pressureGroups() (list []group) {
	for _, p := range c.pressures() {
		list = append(list, c.pressureGroup(p))
	}
	return append(list, c.lossGroup())
}

// pressures are the parameters to measure. A quick run changes one at a time.
func (c Config) pressures() (list []pressure) {
	base := pressure{Record: 64, Burst: 1, Store: inMemory, Processes: 1, Buffer: 8 << 10, Width: 4, Alignment: time.Millisecond}
	modes := []overtake.CheckpointMode{overtake.Unaligned, overtake.Auto, overtake.Aligned}
	if c.Quick {
		for _, m := range modes {
			p := base
			p.Mode = m
			list = append(list, p)
		}
		for _, change := range []func(*pressure){
			func(p *pressure) { p.Store = durable },
			func(p *pressure) { p.Store, p.Processes = unsynced, 2 },
			func(p *pressure) { p.Buffer = 32 << 10 },
			func(p *pressure) { p.Record = 1024 },
			func(p *pressure) { p.Burst = 50 },
		} {
			p := base
			p.Mode = overtake.Unaligned
			change(&p)
			list = append(list, p)
		}
		return list
	}
	places := []pressure{{Store: inMemory, Processes: 1}, {Store: durable, Processes: 1}, {Store: unsynced, Processes: 2}, {Store: durable, Processes: 2}}
	for _, mode := range modes {
		for _, place := range places {
			for _, burst := range []int{1, 50} {
				for _, record := range []int{64, 1024} {
					for _, buffer := range []int{8 << 10, 32 << 10} {
						p := base
						p.Mode, p.Store, p.Processes, p.Burst, p.Record, p.Buffer = mode, place.Store, place.Processes, burst, record, buffer
						if mode == overtake.Aligned && (place.Store != inMemory || record != 64) {
							continue // the wait for all that is in flight hides the rest
						}
						list = append(list, p)
					}
				}
			}
		}
	}
	return list
}

// varied reports whether parameters other than the mode differ from those that a quick run
// begins with.
func (p pressure) varied() bool {
	return p.Store != inMemory || p.Processes != 1 || p.Buffer != 8<<10 || p.Record != 64 || p.Burst != 1
}

// pressureGroup has one case for each sink, and the bytes in flight.
func (c Config) pressureGroup(p pressure) (g group) {
	var all []*pressed
	for _, sink := range c.sinks() {
		if c.Quick && sink == time.Millisecond && c.Pressure.SlowSink == 0 && (p.Mode != overtake.Unaligned || p.varied()) {
			continue
		}
		all = append(all, c.pressed(p, sink))
	}
	fast := all[0]
	for _, m := range all {
		k := bench.Case{
			Name: m.name(), Parameters: m.parameters(), Metric: "latency", Unit: "s", Better: bench.Lower, Latency: m.latency,
			Baselines: flinkRows(m.pressure),
		}
		if p.Mode == overtake.Unaligned && m != fast {
			again := c.pressed(p, fast.Sink)
			k.Baselines = append([]bench.Baseline{{Name: fastSink, Latency: again.latency}, {Name: oneRecord, Latency: constant(m.Sink)}}, k.Baselines...)
			if m.Sink == 10*time.Millisecond {
				k.Goal = &bench.Goal{Baseline: fastSink, Ratio: 1.2}
			}
		} else if p.Mode != overtake.Aligned {
			k.Baselines = append([]bench.Baseline{{Name: oneMillisecond, Latency: constant(time.Millisecond)}}, k.Baselines...)
			if p.Mode == overtake.Unaligned && p.Store != durable {
				k.Goal = &bench.Goal{Baseline: oneMillisecond, Ratio: 1}
			}
		}
		g.cases = append(g.cases, k)
	}
	flight := fast.name() + "/in-flight"
	g.cases = append(g.cases, bench.Case{
		Name: flight, Parameters: fast.parameters(), Metric: "memory", Unit: "B", Better: bench.Lower, Ours: fast.flight(),
	})
	g.after = func(results []bench.Result) {
		for _, r := range results {
			for _, m := range all {
				if m.name() == r.Name || r.Name == flight && m == fast {
					m.annotate(r.Parameters)
				}
			}
		}
	}
	return g
}

func (c Config) pressed(p pressure, sink time.Duration) *pressed {
	p.Sink, p.Spin, p.More = sink, sink < time.Millisecond || c.Pressure.Spin, c.Pressure
	m := &pressed{pressure: p, cfg: c, count: c.Checkpoints}
	if p.Mode == overtake.Aligned {
		m.count = 3
		if c.Quick {
			m.count = 1
		}
	}
	return m
}

// lossGroup compares the throughput of a job under backpressure with a checkpoint every
// second with none.
func (c Config) lossGroup() group {
	p := c.pressed(pressure{Record: 64, Burst: 1, Store: inMemory, Processes: 1, Buffer: 8 << 10, Width: 4, Mode: overtake.Unaligned}, 200*time.Microsecond).pressure
	s := &loss{pressure: p, cfg: c}
	parameters := p.parameters()
	maps.Copy(parameters, map[string]any{"interval_seconds": 1, "slice_seconds": s.length().Seconds()})
	rate := func(with bool) bench.Measure {
		return func(ctx context.Context, _ bench.Size) (float64, error) { return s.slice(ctx, with) }
	}
	return group{
		cases: []bench.Case{{
			Name: fmt.Sprintf("throughput/%s", p.name()), Parameters: parameters, Metric: "throughput", Unit: "records/s", Better: bench.Higher,
			Ours: rate(true), Baselines: []bench.Baseline{{Name: off, Run: rate(false)}}, Goal: &bench.Goal{Baseline: off, Ratio: 0.97},
		}},
		close: s.close,
	}
}

// loss measures one job slice by slice.
type loss struct {
	pressure
	cfg Config
	r   *running
}

// length of a slice: some seconds, each with a checkpoint.
func (l *loss) length() time.Duration { return max(time.Second, l.cfg.Slice/time.Second*time.Second) }

func (l *loss) slice(ctx context.Context, with bool) (float64, error) {
	if l.r == nil {
		r, err := l.start(ctx, l.cfg.Folder)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	sink := func() uint64 { return l.r.h.Stats()[2].Records }
	began, before := time.Now(), sink()
	for time.Since(began) < l.length() {
		next := time.Now().Add(time.Second)
		if with {
			if _, err := l.r.h.Checkpoint(ctx); err != nil {
				return 0, err
			}
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return float64(sink()-before) / time.Since(began).Seconds(), bench.Accounts(l.r.h)
}

func (l *loss) close() error {
	if l.r == nil {
		return nil
	}
	err := l.r.close()
	l.r = nil
	return err
}

package peers

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// halfOfFlinksPeak sets the rate to half of what the peer's throughput is, on this machine.
func halfOfFlinksPeak(_ context.Context, p Params, run func(string, Params) ([]Line, error)) (Params, error) {
	lines, err := run("throughput", p.with("warmups", "2"))
	if err != nil {
		return p, err
	}
	for _, l := range lines {
		if l.Metric == "flush-1ms" && l.Value > 0 {
			return p.with("rate", strconv.FormatInt(int64(l.Value/2), 10)), nil
		}
	}
	return p, fmt.Errorf("peers: no throughput was printed to take half of")
}

// flinkLatency is source, rebalance, sink at a fixed rate: the time from when a record was
// due until the sink has it.
func flinkLatency(ctx context.Context, p Params, out func(Line)) error {
	rate := p.Int("rate")
	warm := uint64(rate * p.Int("warm_seconds"))
	l := &lateRecords{tally: newTally(), warm: warm, rate: float64(rate), start: time.Now().Add(200 * time.Millisecond)}
	pair := workerPair{name: "latency", build: func(job *overtake.Job) {
		source := generate.Source(payload(func(uint64) {}), generate.Options{
			Count: warm + uint64(rate*p.Int("seconds")), Rate: l.rate, Start: l.start,
		})
		overtake.To(overtake.From(job, source).Rebalance(), operators.Sink[[]byte](l))
	}}
	pair.options.Network.FlushInterval = time.Duration(p.Int("flush_ms")) * time.Millisecond
	if err := pair.run(ctx); err != nil {
		return err
	}
	for _, q := range []float64{50, 99, 99.9, 99.99} {
		line := Line{
			Metric: "p" + strconv.FormatFloat(q, 'f', -1, 64), Unit: "s", Value: quantile(&l.all, q/100),
			Records: l.records.Load(), Check: l.check(),
		}
		if q == 50 {
			line.Percentiles, line.Settings = percentilesOf(&l.all), pairSettings(pair.options)
		}
		out(line)
	}
	return nil
}

// lateRecords is a sink.
type lateRecords struct {
	*tally
	warm  uint64 // records that do not count
	rate  float64
	start time.Time // when record 0 was due
	mu    sync.Mutex
	all   perf.Snapshot
}

// Open implements operators.Sink.
func (l *lateRecords) Open(*operators.Context) (operators.Writer[[]byte], error) {
	return &latencyWriter{to: l}, nil
}

type latencyWriter struct {
	to    *lateRecords
	times perf.Histogram
	count int64
	sum   uint64
}

// Write implements operators.Writer.
func (w *latencyWriter) Write(b []byte) error {
	n := payloadNumber(b)
	w.count++
	w.sum += mix(n)
	if n >= w.to.warm {
		w.times.Record(max(0, int64(time.Since(w.to.start))-int64(float64(n)*1e9/w.to.rate)))
	}
	return nil
}

// Flush implements operators.Writer.
func (w *latencyWriter) Flush() error { return nil }

// Close implements operators.Writer.
func (w *latencyWriter) Close(ok bool) error {
	if ok {
		s := w.times.Snapshot()
		w.to.mu.Lock()
		defer w.to.mu.Unlock()
		w.to.all.Merge(&s)
		w.to.add(w.count, w.sum)
	}
	return nil
}

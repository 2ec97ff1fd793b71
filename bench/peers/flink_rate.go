package peers

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
)

// rated is a job that runs to its end as fast as it can.
type rated struct {
	options overtake.Options
	build   func(job *overtake.Job, t *tally)
}

// run runs it and returns what came out, and the processor time of each record.
func (r rated) run(ctx context.Context) (*tally, float64, error) {
	t := newTally()
	pair := workerPair{name: "rate", options: r.options, build: func(job *overtake.Job) { r.build(job, t) }}
	err := pair.run(ctx)
	return t, t.cpu(), err
}

// measured warms up, and prints throughput and processor time.
func (r rated) measured(ctx context.Context, p Params, out func(Line)) error {
	for range p.Int("warmups") {
		if _, _, err := r.run(ctx); err != nil {
			return err
		}
	}
	t, used, err := r.run(ctx)
	if err != nil {
		return err
	}
	line := t.rate("throughput")
	line.Settings = pairSettings(r.options)
	out(line)
	out(Line{Metric: "cpu", Unit: "s/record", Value: used, Records: line.Records})
	return nil
}

// payload makes records of 100 bytes, of which the first 8 are their number: each subtask
// in the same place again, as on the other side. What receives them gets views.
func payload(f func(n uint64)) func(n uint64) []byte {
	var own [parallelism][100 + 64]byte // a cache line apart
	return func(n uint64) []byte {
		f(n)
		b := own[n%parallelism][:100]
		binary.LittleEndian.PutUint64(b, n)
		return b
	}
}

func payloadNumber(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// flinkThroughput is source, rebalance, sink.
func flinkThroughput(ctx context.Context, p Params, out func(Line)) error {
	job := func(flush time.Duration) rated {
		r := rated{build: numbersOf(p.Int("records"))}
		if p.Int("record") == 100 {
			r.build = payloadsOf(p.Int("records"))
		}
		r.options.Network.FlushInterval = flush
		return r
	}
	const slow, quick = 100 * time.Millisecond, time.Millisecond
	for i := range p.Int("warmups") {
		if _, _, err := job([]time.Duration{slow, quick}[i%2]).run(ctx); err != nil {
			return err
		}
	}
	for _, flush := range []time.Duration{slow, quick} {
		t, used, err := job(flush).run(ctx)
		if err != nil {
			return err
		}
		line := t.rate("flush-" + flush.String())
		line.Settings = pairSettings(job(flush).options)
		out(line)
		if flush == slow {
			out(Line{Metric: "cpu", Unit: "s/record", Value: used, Records: line.Records})
		}
	}
	return nil
}

func numbersOf(n int64) func(job *overtake.Job, t *tally) {
	return func(job *overtake.Job, t *tally) {
		source := generate.Source(func(v uint64) uint64 { t.begin(v); return v }, generate.Options{Count: uint64(n)})
		overtake.To(overtake.From(job, source).Rebalance(), tallySink[uint64]{t, mix})
	}
}

func payloadsOf(n int64) func(job *overtake.Job, t *tally) {
	return func(job *overtake.Job, t *tally) {
		source := generate.Source(payload(t.begin), generate.Options{Count: uint64(n)})
		overtake.To(overtake.From(job, source).Rebalance(), tallySink[[]byte]{t, func(b []byte) uint64 { return mix(payloadNumber(b)) }})
	}
}

// flinkChain is source, map, rebalance, map, sink.
func flinkChain(ctx context.Context, p Params, out func(Line)) error {
	r := rated{build: func(job *overtake.Job, t *tally) {
		source := generate.Source(func(v uint64) uint64 { t.begin(v); return v }, generate.Options{Count: uint64(p.Int("records"))})
		sent := overtake.Map(overtake.From(job, source), func(v uint64) uint64 { return v + 1 }).Rebalance()
		overtake.To(overtake.Map(sent, func(v uint64) uint64 { return v * 3 }), tallySink[uint64]{t, mix})
	}}
	return r.measured(ctx, p, out)
}

// keyed is a record with a key: a tuple of two numbers.
type keyed struct{ Key, Number uint64 }

// flinkKeyed is a running count by key.
func flinkKeyed(ctx context.Context, p Params, out func(Line)) error {
	keys := uint64(p.Int("keys"))
	r := rated{build: func(job *overtake.Job, t *tally) {
		source := generate.Source(func(n uint64) keyed { t.begin(n); return keyed{mix(n) % keys, n} },
			generate.Options{Count: uint64(p.Int("records"))})
		counts := overtake.Count(overtake.KeyBy(overtake.From(job, source), func(v keyed) uint64 { return v.Key }), overtake.WithUID("count"))
		overtake.To(counts, tallySink[overtake.Pair[uint64, int64]]{t, func(c overtake.Pair[uint64, int64]) uint64 {
			return mix(c.Key*0x9E3779B97F4A7C15 + uint64(c.Value))
		}})
	}}
	return r.measured(ctx, p, out)
}

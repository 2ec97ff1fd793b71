package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// transportCases compare transports, record sizes, numbers of channels and flush
// intervals. Full, they have each size over each transport; short, three sizes and fewer
// of the rest.
func transportCases(short bool) (cases []Case) {
	transports, sizes, counts := []string{local, overTCP, overUnix, overTLS}, []int{8, 32, 128, 512, 2 << 10, 8 << 10, 32 << 10}, []int{1, 100, 1000}
	many := transports
	if short {
		sizes, many = []int{8, 512, 32 << 10}, transports[:2]
	}
	for _, transport := range transports {
		for _, size := range sizes {
			cases = append(cases, sizeCase(transport, size))
		}
	}
	for _, transport := range many {
		for _, channels := range counts[1:] {
			cases = append(cases, channelsCase(transport, channels))
		}
	}
	if short {
		counts = counts[:2] // another case has 1,000
	}
	for _, channels := range counts {
		cases = append(cases, flushCase(channels))
	}
	for _, transport := range []string{local, overUnix, overTLS} { // other cases have TCP
		cases = append(cases, openLoopCase(transport))
	}
	return cases
}

// transfer is one of records of a size, of which the largest is a whole buffer's
// payload. credits keep about 4 MiB under way over one channel.
func transfer(transport string, size, channels int, flush time.Duration) wire {
	w := wire{Transport: transport, Writers: 1, Channels: channels, Readers: 1, Window: max(2, 128/channels), Record: size, Flush: flush, Memory: 64 << 20, Halves: true}
	if size == 32<<10 {
		w.Record = 0
	}
	if channels > 100 {
		w.Memory = 256 << 20
	}
	return w
}

func (w wire) parameters(size int) map[string]any {
	m := map[string]any{
		"transport": w.Transport, "record": size, "channels": w.Channels, "writers": w.Writers, "readers": w.Readers,
		"credits_per_channel": w.Window, "flush_seconds": w.Flush.Seconds(), "buffer": 32 << 10, "processes": 2, "gomaxprocs_each": halves,
	}
	if w.Transport == local {
		m["processes"] = 1
		delete(m, "gomaxprocs_each")
	}
	return m
}

// amount is the bytes of a full run: a tenth of a second and more.
func amount(size int) int64 { return min(4<<30, int64(size)*100_000_000) }

func rate(w wire, size int, of func(wire, context.Context) (float64, error)) Measure {
	return func(ctx context.Context, s Size) (float64, error) {
		w := w
		w.Bytes = s.Of(amount(size))
		return of(w, ctx)
	}
}

func sizeCase(transport string, size int) Case {
	w := transfer(transport, size, 1, 100*time.Millisecond)
	base := "raw 32 KiB write/read loop"
	if transport == local {
		base = "hand-written batches"
	}
	return Case{
		Name: fmt.Sprintf("size/%s/%s", transport, sizeName(size)), Parameters: w.parameters(size),
		Metric: "throughput", Unit: "B/s", Better: Higher,
		Ours: rate(w, size, wire.rateOf), Baselines: []Baseline{{Name: base, Run: rate(w, size, wire.limitOf)}},
	}
}

const channelsRecord = 64

func channelsCase(transport string, channels int) Case {
	w, one := transfer(transport, channelsRecord, channels, 100*time.Millisecond), transfer(transport, channelsRecord, 1, 100*time.Millisecond)
	return Case{
		Name: fmt.Sprintf("channels/%s/%d", transport, channels), Parameters: w.parameters(channelsRecord),
		Metric: "throughput", Unit: "B/s", Better: Higher,
		Ours:      rate(w, channelsRecord, wire.rateOf),
		Baselines: []Baseline{{Name: "1 channel", Run: rate(one, channelsRecord, wire.rateOf)}},
	}
}

func flushCase(channels int) Case {
	quickly, seldom := transfer(overTCP, channelsRecord, channels, time.Millisecond), transfer(overTCP, channelsRecord, channels, 100*time.Millisecond)
	const base = "flush 100 ms"
	return Case{
		Name: fmt.Sprintf("flush-1ms/tcp/%dch", channels), Parameters: quickly.parameters(channelsRecord),
		Metric: "throughput", Unit: "B/s", Better: Higher,
		Ours:      rate(quickly, channelsRecord, wire.rateOf),
		Baselines: []Baseline{{Name: base, Run: rate(seldom, channelsRecord, wire.rateOf)}},
		Goal:      &Goal{base, 0.98},
	}
}

// openLoopCase sends at a fixed rate, with latency from when each message was due.
func openLoopCase(transport string) Case {
	const perSecond = 10_000
	base := "net.Conn, " + transport
	if transport == local {
		base = "Go channels"
	}
	w := wire{Memory: 16 << 20, Transport: transport}
	type load func(w wire, ctx context.Context, rate float64, count int64, into *perf.Histogram) error
	measure := func(near, far load) Latency {
		return func(ctx context.Context, s Size, into *perf.Histogram) error {
			if transport == local {
				return near(w, ctx, perSecond, s.Of(20_000), into)
			}
			w, err := w.over(transport)
			if err != nil {
				return err
			}
			return far(w, ctx, perSecond, s.Of(20_000), into)
		}
	}
	return Case{
		Name: "latency/open-loop/" + transport, Metric: "latency", Unit: "s", Better: Lower, Quantile: 0.99,
		Parameters: map[string]any{"bytes": pingSize, "transport": transport, "quantile": 0.99, "messages_per_second": perSecond},
		Latency:    measure(wire.localOpenLoop, wire.openLoop),
		Baselines:  []Baseline{{Name: base, Latency: measure(wire.channelOpenLoop, wire.rawOpenLoop)}},
	}
}

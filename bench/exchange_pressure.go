package bench

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/overtake-stream/overtake/bench/pressure"
)

// ExchangeTakes are the kinds of pressure that the exchange can be put under: there are no
// checkpoints.
const ExchangeTakes = pressure.SlowSink | pressure.Skew | pressure.Stall | pressure.Starve

const (
	pressedRecord   = 512 // bytes
	pressedChannels = 16
	pressedReaders  = 4
	noPressure      = "no pressure"
)

// pressedCases are transfers under pressure, each against the same without. One channel
// cannot be skewed.
func pressedCases(short bool, p pressure.Config) (cases []Case) {
	transports := []string{local, overTCP, overUnix, overTLS}
	if short {
		transports = transports[:2]
	}
	for _, transport := range transports {
		if p.Skew == 0 {
			cases = append(cases, pressedCase(transport, 1, p))
		}
		cases = append(cases, pressedCase(transport, pressedChannels, p))
	}
	return cases
}

func pressedCase(transport string, channels int, p pressure.Config) Case {
	without := transfer(transport, pressedRecord, channels, 100*time.Millisecond)
	if transport != local {
		without.Readers = min(channels, pressedReaders)
	}
	with := without
	with.Pressure = p
	bytes := int64(1 << 30)
	if p.SlowSink > 0 { // two seconds of a reader's work are enough
		bytes = min(bytes, max(1000, int64(2*time.Second/p.SlowSink))*pressedRecord)
	}
	var last [2]moved
	measure := func(w wire, into *moved) Measure {
		return func(ctx context.Context, s Size) (rate float64, err error) {
			w := w
			w.Bytes = s.Of(bytes/pressedRecord) * pressedRecord
			*into, err = w.moveOver(ctx)
			return into.rate, err
		}
	}
	return Case{
		Name: fmt.Sprintf("pressed/%s/%dch", transport, channels), Parameters: with.parameters(pressedRecord),
		Metric: "throughput", Unit: "B/s", Better: Higher,
		Ours:      measure(with, &last[0]),
		Baselines: []Baseline{{Name: noPressure, Run: measure(without, &last[1])}},
		Annotate: func(parameters map[string]any) {
			for i, prefix := range []string{"", "no_pressure_"} {
				maps.Copy(parameters, map[string]any{
					prefix + "busiest_channel_share": last[i].busiest, prefix + "waits_per_buffer": last[i].flow.waits(), prefix + "stalls": last[i].stalls,
				})
			}
		},
	}
}

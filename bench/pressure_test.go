package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/perf"
)

// pressed measures the exchange under pressure.
func pressed(t *testing.T, p pressure.Config, filter string, size bench.Size) []bench.Result {
	t.Helper()
	cfg := bench.Config{Pairs: 1, Size: size, Filter: filter, Pressure: p}
	d, err := bench.Run(context.Background(), cfg, "exchange", bench.Exchange(true, p))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Cases {
		if r.Goal != nil || !strings.HasPrefix(r.Name, "pressed/") || len(r.Baselines) != 1 || r.Baselines[0].Name != "no pressure" {
			t.Errorf("%+v", r)
		}
	}
	return d.Cases
}

func TestSlowReadersHoldTheExchangeUp(t *testing.T) {
	const each = 100 * time.Microsecond
	cases := pressed(t, pressure.Config{SlowSink: each, Seed: 1}, "", 40)
	if len(cases) != 4 {
		t.Errorf("%d cases, want two for each of two transports", len(cases))
	}
	for _, r := range cases {
		readers := float64(r.Parameters["readers"].(int))
		// Of the sleeps of a reader, less than 1 ms is left over.
		if most := readers * 512 / each.Seconds() * 1.2; r.Ours.Median > most {
			t.Errorf("%s: %v B/s, and %v readers take at most %v", r.Name, r.Ours.Median, readers, most)
		}
		if r.Parameters["pressure_slow_sink_seconds"] != each.Seconds() {
			t.Errorf("%s: parameters %v", r.Name, r.Parameters)
		}
	}
}

func TestChannelsAreChosenBySkew(t *testing.T) {
	for _, r := range pressed(t, pressure.Config{Skew: 2, Seed: 1}, "", 100) {
		skewed, even := r.Parameters["busiest_channel_share"].(float64), r.Parameters["no_pressure_busiest_channel_share"].(float64)
		// Of 16 keys, the first has 1/1.58 of all by Zipf's law with exponent 2.
		if skewed < 0.6 || skewed > 0.7 || even > 0.07 || r.Parameters["channels"] != 16 {
			t.Errorf("%s: the busiest channel has %v, and %v without skew", r.Name, skewed, even)
		}
	}
}

func TestReadersStandStill(t *testing.T) {
	const stall = 30 * time.Millisecond
	for _, r := range pressed(t, pressure.Config{Stall: stall, Seed: 3}, "", 100) {
		moved := float64(1<<30/512/100) * 512
		if r.Parameters["stalls"].(int64) < 1 || r.Parameters["no_pressure_stalls"] != int64(0) || r.Ours.Median > moved/stall.Seconds() {
			t.Errorf("%s: %v B/s with %v stalls", r.Name, r.Ours.Median, r.Parameters["stalls"])
		}
	}
}

func TestChannelsAreStarvedOfCredit(t *testing.T) {
	if !perf.Enabled {
		t.Skip("without an account of times, waits are not counted")
	}
	for _, r := range pressed(t, pressure.Config{Starve: true}, "/tcp/16ch", 100) {
		with, without := r.Parameters["waits_per_buffer"].(float64), r.Parameters["no_pressure_waits_per_buffer"].(float64)
		if with < 2*without || with < 0.5 {
			t.Errorf("%s: %v waits per buffer, and %v without pressure", r.Name, with, without)
		}
	}
}

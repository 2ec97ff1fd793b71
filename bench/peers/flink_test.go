package peers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench/peers"
)

// small are parameters of a few milliseconds for our half of each case with Flink.
func small(t *testing.T) peers.Params {
	t.Helper()
	return peers.Params{
		"record": "100", "records": "1000", "keys": "10", "warmups": "1", "checkpoints": "2", "spacing_ms": "1", "sink_us": "200",
		"rate": "2000", "seconds": "1", "warm_seconds": "0", "flush_ms": "1", "events": "1000", "queries": "q0+q2+running", "rounds": "1",
	}
}

// flinkCase is a case with Flink.
func flinkCase(t *testing.T, name string) peers.Case {
	t.Helper()
	for _, p := range peers.All() {
		if p.Name != "flink" {
			continue
		}
		for _, c := range p.Cases(peers.Config{Quick: true}) {
			if c.Name == name {
				return c
			}
		}
	}
	t.Fatalf("no case %q", name)
	return peers.Case{}
}

// oursOf is what our half of a case prints.
func oursOf(t *testing.T, name string, p peers.Params) map[string]peers.Line {
	t.Helper()
	lines := map[string]peers.Line{}
	if err := flinkCase(t, name).Ours(t.Context(), p, func(l peers.Line) { lines[l.Metric] = l }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func TestOursHashWhatComesOut(t *testing.T) {
	var numbers, chained, counts uint64
	seen := map[uint64]uint64{}
	for n := range uint64(1000) {
		numbers += mix(n)
		chained += mix((n + 1) * 3)
		key := mix(n) % 10
		seen[key]++
		counts += mix(key*0x9E3779B97F4A7C15 + seen[key])
	}
	for _, tc := range []struct {
		name, metric string
		want         uint64
	}{
		{"throughput/8B", "flush-1ms", numbers},
		{"throughput/100B", "flush-100ms", numbers},
		{"keyby/10-keys", "throughput", counts},
		{"chain", "throughput", chained},
	} {
		p := small(t)
		if tc.name == "throughput/8B" {
			p["record"] = "8"
		}
		l := oursOf(t, tc.name, p)[tc.metric]
		if l.Records != 1000 || l.Check != fmt.Sprintf("%x", tc.want) || l.Value <= 0 {
			t.Errorf("%s: %+v, want hash %x", tc.name, l, tc.want)
		}
	}
}

func TestOursPrintAllFigures(t *testing.T) {
	for _, name := range []string{"backpressure/unaligned/sink-200µs", "backpressure/aligned/sink-200µs", "pause", "latency", "nexmark"} {
		t.Run(name, func(t *testing.T) {
			p := small(t)
			p["mode"], _, _ = strings.Cut(strings.TrimPrefix(name, "backpressure/"), "/")
			p["spins"] = "false"
			t.Chdir(t.TempDir()) // where programs run
			c, lines := flinkCase(t, name), oursOf(t, name, p)
			for _, f := range c.Figures {
				l, ok := lines[f.Metric]
				skipped := name == "nexmark" && !strings.Contains(p["queries"], f.Metric) && f.Metric != "mean"
				if !skipped && (!ok || l.Unit != f.Unit || l.Value <= 0 || f.Check && l.Check == "") {
					t.Errorf("%s: %+v", f.Metric, l)
				}
			}
		})
	}
}

func TestOursReportFailures(t *testing.T) {
	p := small(t)
	p["queries"] = "q99"
	if err := flinkCase(t, "nexmark").Ours(t.Context(), p, func(peers.Line) {}); err == nil || !strings.Contains(err.Error(), "q99") {
		t.Errorf("got %v", err)
	}
}

func TestLatencyIsMeasuredAtHalfOfThePeak(t *testing.T) {
	c := flinkCase(t, "latency")
	p, err := c.Prepare(t.Context(), small(t), func(string, peers.Params) ([]peers.Line, error) {
		return []peers.Line{{Metric: "flush-100ms", Value: 9e6}, {Metric: "flush-1ms", Value: 3e6}}, nil
	})
	if err != nil || p["rate"] != "1500000" {
		t.Errorf("got %v, %v", p["rate"], err)
	}
	broken := errors.New("it does not start")
	if _, err := c.Prepare(t.Context(), small(t), func(string, peers.Params) ([]peers.Line, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// flinkPeer is the real one: our half of its recovery case starts copies of this binary.
func flinkPeer() peers.Peer {
	for _, p := range peers.All() {
		if p.Name == "flink" {
			return p
		}
	}
	panic("no peer flink")
}

func TestOursRecoversFromAKill(t *testing.T) {
	t.Chdir(t.TempDir())
	p := small(t)
	p["keys"] = "20000"
	l := oursOf(t, "recovery", p)["first-output"]
	var want uint64
	for key := range uint64(20000) {
		want += mix(key)
	}
	if l.Records != 20000 || l.Check != fmt.Sprintf("%x", want) || l.Value <= 0 {
		t.Errorf("%+v, want hash %x", l, want)
	}
}

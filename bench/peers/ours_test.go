package peers

import (
	"fmt"
	"testing"
)

// figuresOf runs our side of a case.
func figuresOf(t *testing.T, f Ours, p Params) map[string]Line {
	t.Helper()
	list := map[string]Line{}
	if err := f(t.Context(), p, func(l Line) { list[l.Metric] = l }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOurSidesMoveEveryRecord(t *testing.T) {
	const n, keys = 20_000, 10
	var plain, rolling, windowed share
	counts, results := map[uint64]uint64{}, map[[2]uint64]uint64{}
	for i := range uint64(n) {
		plain.Check += spread(i)
		plain.Records++
		key := spread(i) % keys
		counts[key]++
		rolling.Check += checked(key, counts[key])
		rolling.Records++
		results[[2]uint64{key, i / 1000}]++ // a window has 1000 records
	}
	for r, count := range results {
		windowed.Check += checked(r[0], count) * (r[1]*1000 | 1)
		windowed.Records++
	}
	p := Params{"records": fmt.Sprint(n), "keys": fmt.Sprint(keys), "workers": "2", "event_rate": "1000", "window_ms": "1000"}
	for name, c := range map[string]struct {
		ours   Ours
		params Params
		metric string
		want   share
	}{
		"exchange": {exchange, p, "throughput", plain},
		"count":    {rollingCount, p, "throughput", rolling},
		"window":   {windowCount, p, "throughput", windowed},
		"1to1":     {handoff, p.with("consumers", "1"), "time", plain},
		"1to4":     {handoff, p.with("consumers", "4"), "time", plain},
	} {
		t.Run(name, func(t *testing.T) {
			l := figuresOf(t, c.ours, c.params)[c.metric]
			if l.Check != c.want.String() || l.Records != n || l.Value <= 0 {
				t.Errorf("%s is %v of %d records with check %s, want %d and %v", c.metric, l.Value, l.Records, l.Check, n, c.want)
			}
		})
	}
}

func TestLatenciesCountFromTheEndOfAWindow(t *testing.T) {
	got := figuresOf(t, windowLatency, Params{
		"workers": "2", "keys": "10", "window_ms": "20", "gap_ns": "100000", "millis": "300", "warm_millis": "20",
	})
	for _, f := range latencies() {
		if l := got[f.Metric]; l.Value <= 0 || l.Value > 10 || l.Records < 10*13 || l.Check == "" {
			t.Errorf("%s is %v s of %d results, check %q", f.Metric, l.Value, l.Records, l.Check)
		}
	}
}

func TestARecordGoesRound(t *testing.T) {
	for _, workers := range []string{"1", "2"} {
		l := figuresOf(t, hops, Params{"workers": workers, "processes": "1", "millis": "20"})["iteration"]
		if l.Value <= 0 || l.Records < 2 {
			t.Errorf("%s workers: %d iterations of %v s", workers, l.Records, l.Value)
		}
	}
}

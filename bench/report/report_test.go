package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/report"
)

func summary(v float64) bench.Summary {
	return bench.Summary{Median: v, Min: v * 0.9, Max: v * 1.2, Runs: []float64{v, v * 0.9, v * 1.2}}
}

// result is a case that was compared with one baseline.
func result(name, unit string, ours, theirs float64, parameters map[string]any) bench.Result {
	return bench.Result{
		Name: name, Unit: unit, Better: bench.Higher, Metric: "time", Parameters: parameters, Ours: summary(ours),
		Baselines: []bench.BaselineResult{{Name: "base <&>", Summary: summary(theirs), Ratio: summary(ours / theirs)}},
	}
}

// documents have something for every plot.
func documents() []*bench.Document {
	latency := result("latency/open-loop/unix", "s", 1e-4, 2e-4, nil)
	latency.Ours.Distribution = []bench.Quantile{{Share: 0, Seconds: 1e-5}, {Share: 0.9, Seconds: 1e-4}, {Share: 0.99, Seconds: 1e-3}}
	latency.Baselines[0].Percentiles = &bench.Percentiles{P50: 1e-5, P90: 1e-4, P99: 1e-3, P999: 1e-2, Max: 1}
	met := result("size/tcp/8B", "B/s", 1e8, 2e8, map[string]any{"record": 8.0})
	met.Goal = &bench.GoalResult{Baseline: "base <&>", Ratio: 0.4, Met: true}
	missed := result("size/tcp/1KiB", "B/s", 1e9, 2e9, map[string]any{"record": 1024.0})
	missed.Goal = &bench.GoalResult{Baseline: "base <&>", Ratio: 0.9}
	return []*bench.Document{
		{Suite: "exchange", Environment: bench.Environment{CPU: "a processor", Cores: 2}, Cases: []bench.Result{met, missed, latency}},
		{Suite: "checkpoint-backpressure", Cases: []bench.Result{
			result("map/64B/8KiB/memory/1p/unaligned/sink-1ms", "s", 1e-3, 1e-3, map[string]any{"mode": "unaligned", "sink_seconds": 1e-3}),
			result("map/64B/8KiB/memory/1p/unaligned/sink-10ms", "s", 2e-3, 1e-3, map[string]any{"mode": "unaligned", "sink_seconds": 1e-2}),
		}},
		{Suite: "state", Cases: []bench.Result{
			result("8+8/1M/snapshot/p99.9", "s", 1e-6, 1e-2, map[string]any{"keys": 1e6}),
			result("8+8/10M/snapshot/p99.9", "s", 1e-6, 1e-1, map[string]any{"keys": 1e7}),
		}},
		{Suite: "recovery", Cases: []bench.Result{result("kill-9/0-increments", "s", 0.4, 0.2, map[string]any{"state_bytes": 1e8})}},
		{Suite: "peers-flink", Cases: []bench.Result{result("keyBy", "records/s", 5e7, 5e6, nil), result("nothing", "", 0, 1, nil)}},
	}
}

func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	var b bytes.Buffer
	if err := report.Write(&b, documents(), []error{errors.New("x.json is something else")}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<b class=\"good\">1</b>", "<b class=\"bad\">1</b>", "a processor", "base &lt;&amp;&gt;", "x.json is something else", "prefers-color-scheme:dark", "Method and limits",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if n := strings.Count(page, "<svg"); n != 6 {
		t.Errorf("%d plots, want 6", n)
	}
	if m := regexp.MustCompile(`(src|href)="[^#"][^"]*"|url\(|@import|<script`).FindString(page); m != "" {
		t.Errorf("the page has %s", m)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "<no value>") {
		t.Error("a value is missing")
	}
}

func TestPlotsAreFilesOfWellFormedSVG(t *testing.T) {
	dir := t.TempDir()
	names, err := report.WriteSVGs(dir, documents())
	if err != nil || len(names) != 6 {
		t.Fatalf("%v %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", filepath.Base(name), err)
			}
		}
		inside(t, name, string(text))
	}
}

// inside checks that nothing is drawn outside of the image.
func inside(t *testing.T, name, text string) {
	t.Helper()
	var width, height float64
	box := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`).FindStringSubmatch(text)
	if len(box) != 3 {
		t.Fatalf("%s has no size", name)
	}
	width, height = parse(t, box[1]), parse(t, box[2])
	for _, m := range regexp.MustCompile(`\b(cx|x|x1|x2|cy|y|y1|y2)="([-\d.]+)"`).FindAllStringSubmatch(text, -1) {
		v, limit := parse(t, m[2]), width
		if strings.Contains(m[1], "y") {
			limit = height
		}
		if v < 0 || v > limit {
			t.Errorf("%s: %s is outside of %v by %v", filepath.Base(name), m[0], width, height)
		}
	}
}

func parse(t *testing.T, s string) (v float64) {
	t.Helper()
	var err error
	if v, err = strconv.ParseFloat(s, 64); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFoldersWithoutResultsOfAKindHaveNoPlotOfIt(t *testing.T) {
	var b bytes.Buffer
	docs := []*bench.Document{{Suite: "another", Cases: []bench.Result{{Name: "x", Ours: summary(1)}}}}
	if err := report.Write(&b, docs, nil); err != nil || strings.Contains(b.String(), "<svg") || !strings.Contains(b.String(), "has a goal") {
		t.Errorf("%v\n%s", err, &b)
	}
}

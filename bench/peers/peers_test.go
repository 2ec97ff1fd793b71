package peers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/peers"
)

// TestMain lets the test binary be the program of the fake peer, and our side of it.
func TestMain(m *testing.M) {
	switch {
	case peers.Child([]peers.Peer{fake(), flinkPeer()}):
	case len(os.Args) > 2 && os.Args[1] == "--case":
		theirs(os.Args[2], os.Args[3:])
	default:
		os.Exit(m.Run())
	}
}

// theirs is the program of the fake peer.
func theirs(name string, params []string) {
	switch name {
	case "words":
		fmt.Println("hello")
	case "ends":
		fmt.Fprintln(os.Stderr, "no memory left")
		os.Exit(3)
	case "sleeps":
		time.Sleep(time.Hour)
	case "other":
		fmt.Println(`{"metric":"speed","unit":"records/s","value":50,"records":7,"check":"b"}`)
	case "silent":
	case "peak":
		fmt.Println(`{"metric":"peak","unit":"records/s","value":90}`)
	default:
		fmt.Printf(`{"metric":"speed","unit":"records/s","value":50,"records":7,"check":"a","settings":{"params":%q},`+
			`"percentiles":{"p50":0.25,"p90":1,"p99":1,"p99.9":1,"max":2}}`+"\n", strings.Join(params, " "))
		fmt.Println(`{"metric":"rss","unit":"B","value":1000}`)
	}
}

// fake is a peer that needs nothing: it is this binary.
func fake() peers.Peer {
	ours := func(_ context.Context, p peers.Params, out func(peers.Line)) error {
		if p.Int("wrong") > 0 {
			out(peers.Line{Metric: "speed", Unit: "records/s", Value: 1, Records: 7, Check: "a"})
			return errors.New("something is wrong")
		}
		out(peers.Line{Metric: "speed", Unit: "records/s", Value: 200, Records: 7, Check: "a"})
		return nil
	}
	speed := []peers.Figure{{Metric: "speed", Unit: "records/s", Better: bench.Higher, Goal: 3, Check: true}}
	return peers.Peer{
		Name: "fake", Title: "Fake 1",
		Source: fstest.MapFS{"src/one": {Data: []byte("x")}},
		Build: func(_ context.Context, dir string, log io.Writer) error {
			fmt.Fprintln(log, "first\nsecond")
			return os.WriteFile(filepath.Join(dir, "made"), nil, 0o600)
		},
		Command: func(string, peers.Params) []string {
			self, err := os.Executable()
			if err != nil {
				panic(err)
			}
			return []string{self}
		},
		Cases: func(peers.Config) (list []peers.Case) {
			for _, name := range []string{"plain", "words", "ends", "sleeps", "other", "silent"} {
				list = append(list, peers.Case{Name: name, Params: peers.Params{"b": "2", "a": "1"}, Ours: ours, Figures: speed})
			}
			half := func(_ context.Context, p peers.Params, run func(string, peers.Params) ([]peers.Line, error)) (peers.Params, error) {
				lines, err := run("peak", p)
				if err != nil {
					return nil, err
				}
				return peers.Params{"rate": fmt.Sprint(lines[0].Value / 2)}, nil
			}
			list = append(list, peers.Case{Name: "prepared", Prepare: half, Ours: ours, Figures: speed})
			return append(list, peers.Case{Name: "wrong", Params: peers.Params{"wrong": "1"}, Ours: ours, Figures: speed})
		},
	}
}

func config(t *testing.T, cases ...string) peers.Config {
	return peers.Config{Known: []peers.Peer{fake()}, Cases: cases, Quick: true, Pairs: 2, Cache: t.TempDir(), Folder: t.TempDir()}
}

func TestRunComparesPairs(t *testing.T) {
	cfg := config(t, "plain")
	d, err := peers.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases) != 2 || d.Suite != "peers" {
		t.Fatalf("got %+v", d)
	}
	r := d.Cases[0]
	if r.Name != "fake/plain/speed" || r.Ours.Median != 200 || len(r.Ours.Runs) != 2 {
		t.Errorf("ours: %+v", r)
	}
	if b := r.Baselines[0]; b.Name != "Fake 1" || b.Median != 50 || b.Ratio.Median != 4 || b.Percentiles.P50 != 0.25 {
		t.Errorf("theirs: %+v", b)
	}
	if r.Goal == nil || !r.Goal.Met {
		t.Errorf("goal: %+v", r.Goal)
	}
	if s := fmt.Sprint(r.Parameters["settings_theirs"]); s != "map[params:a=1 b=2]" {
		t.Errorf("settings: %s", s)
	}
	memory := d.Cases[1]
	if memory.Metric != "rss" || memory.Ours.Median < 1e5 || memory.Baselines[0].Median != 1000 {
		t.Errorf("memory: %+v", memory)
	}
	left, err := os.ReadDir(cfg.Folder)
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestParametersMayDependOnTheMachine(t *testing.T) {
	d, err := peers.Run(t.Context(), config(t, "prepared"))
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Cases[0].Parameters; p["rate"] != "45" || fmt.Sprint(p["settings_theirs"]) != "map[params:rate=45]" {
		t.Errorf("parameters: %v", p)
	}
}

func TestFailuresSayWhy(t *testing.T) {
	for name, want := range map[string]string{
		"words":  `a line that is no figure: "hello"`,
		"ends":   "exit status 3: no memory left",
		"other":  `the outputs differ (speed): ours 7 records, hash "a"; Fake 1 7 records, hash "b"`,
		"silent": `no figure "speed" was printed`,
		"wrong":  "ours: wrong: something is wrong",
		"sleeps": "deadline exceeded",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, name, "plain")
			cfg.Pairs = 1
			if name == "sleeps" { // killed even if it was slow to start
				cfg.Cases, cfg.Limit = []string{name}, time.Second
			}
			d, err := peers.Run(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "fake/"+name) {
				t.Errorf("got %v, want %q", err, want)
			}
			if name == "sleeps" {
				return
			}
			if d == nil || len(d.Cases) != 2 || d.Cases[0].Name != "fake/plain/speed" {
				t.Errorf("the other case: %+v", d)
			}
		})
	}
}

func TestProgramsAreBuiltOnce(t *testing.T) {
	cfg, builds := config(t, "plain"), 0
	p := fake()
	build := p.Build
	p.Build = func(ctx context.Context, dir string, log io.Writer) error {
		builds++
		if b, err := os.ReadFile(filepath.Join(dir, "src", "one")); err != nil || len(b) == 0 {
			t.Errorf("the sources are not there: %v", err)
		}
		return build(ctx, dir, log)
	}
	cfg.Known = []peers.Peer{p}
	for want, data := range []string{"x", "x", "y", "y"} {
		cfg.Known[0].Source = fstest.MapFS{"src/one": {Data: []byte(data)}}
		if _, err := peers.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if builds != 1+want/2 {
			t.Errorf("run %d: %d builds", want, builds)
		}
	}
}

func TestSkippedPeersSayWhy(t *testing.T) {
	fails := func(_ context.Context, _ string, log io.Writer) error {
		fmt.Fprintln(log, "cannot find symbol")
		return errors.New("exit status 1")
	}
	for name, tc := range map[string]struct {
		change func(*peers.Peer)
		want   string
	}{
		"missing": {func(p *peers.Peer) { p.Needs = []peers.Tool{{Name: "no-such-tool", Least: 4}} }, "no-such-tool is not installed (version 4 or later)"},
		"old":     {func(p *peers.Peer) { p.Needs = []peers.Tool{{Name: "go", Args: []string{"version"}, Least: 99}} }, "go is too old"},
		"broken":  {func(p *peers.Peer) { p.Build = fails }, "exit status 1: cannot find symbol"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, "plain")
			tc.change(&cfg.Known[0])
			d, err := peers.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			r := d.Cases[0]
			if len(r.Skipped) != 1 || r.Skipped[0].Name != "Fake 1" || !strings.Contains(r.Skipped[0].Why, tc.want) {
				t.Errorf("skipped: %+v, want %q", r.Skipped, tc.want)
			}
			if r.Ours.Median != 200 || len(r.Baselines) != 0 || r.Goal != nil {
				t.Errorf("ours: %+v", r)
			}
			var text strings.Builder
			if err := peers.WriteText(&text, d); err != nil || !strings.Contains(text.String(), tc.want) {
				t.Errorf("text: %s, %v", text.String(), err)
			}
		})
	}
}

func TestTextHasFiguresGoalsAndSettings(t *testing.T) {
	d, err := peers.Run(t.Context(), config(t, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := peers.WriteText(&text, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"fake/plain/speed", "200 records/s", "x4.000 (4.000 to 4.000) of Fake 1, 50 records/s", "goal >= 3.000 met", "p50 250 ms",
		"fake/plain: a=1, b=2", "Fake 1: params=a=1 b=2",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	cfg := config(t)
	cfg.Pairs, cfg.Limit, cfg.Peers = -1, -1, []string{"nobody"}
	err := cfg.Validate()
	for _, want := range []string{"Pairs is -1", "Limit is -1ns", `no peer "nobody": there are fake`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := peers.Run(t.Context(), config(t, "nothing like that")); err == nil {
		t.Error("a filter that matches nothing is no error")
	}
}

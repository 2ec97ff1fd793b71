package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/overtake-stream/overtake/internal/atomicfile"
)

// Document is the result of a suite. Its JSON is the output format of the command
// line.
type Document struct {
	Suite       string      `json:"suite"`
	Environment Environment `json:"environment"`
	Cases       []Result    `json:"cases"`
}

// Result is what a case measured.
type Result struct {
	Name       string           `json:"name"`
	Parameters map[string]any   `json:"parameters"`
	Metric     string           `json:"metric"`
	Unit       string           `json:"unit"`
	Better     string           `json:"better"`
	Ours       Summary          `json:"ours"`
	Baselines  []BaselineResult `json:"baselines"`
	Skipped    []Skipped        `json:"skipped,omitempty"`
	Goal       *GoalResult      `json:"goal,omitempty"`
}

// Summary is a figure over all runs.
type Summary struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"`

	Percentiles *Percentiles `json:"percentiles,omitempty"` // of a latency case
	// Distribution is that of the same latencies, for plots.
	Distribution []Quantile `json:"distribution,omitempty"`
}

// Quantile says that a share of the latencies was not above so many seconds.
type Quantile struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
}

// Percentiles are those of the latencies of all runs together, in seconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

// BaselineResult is a baseline's figure, and ours divided by it, pair by pair.
type BaselineResult struct {
	Name string `json:"name"`
	Summary
	Ratio Summary `json:"ratio"`
}

// Skipped is a baseline that could not run.
type Skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// GoalResult says whether a goal was met by the median ratio.
type GoalResult struct {
	Baseline string  `json:"baseline"`
	Ratio    float64 `json:"ratio"`
	Met      bool    `json:"met"`
}

// summarise sorts nothing but its copy: runs stay in the order they were taken.
func summarise(runs []float64) Summary {
	sorted := slices.Sorted(slices.Values(runs))
	n := len(sorted)
	if n == 0 {
		return Summary{Runs: []float64{}}
	}
	return Summary{Median: sorted[(n-1)/2]/2 + sorted[n/2]/2, Min: sorted[0], Max: sorted[n-1], Runs: runs}
}

// Save writes the document to a file, as a whole or not at all.
func (d *Document) Save(path string) error {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.ReplaceText(path, 0o644, append(b, '\n'))
}

// Join adds the cases of another part of the same suite, and returns the document with all
// of them. Either may be nil.
func (d *Document) Join(part *Document) *Document {
	if d == nil || part == nil {
		return cmp.Or(d, part)
	}
	d.Cases = append(d.Cases, part.Cases...)
	return d
}

// Load reads a document.
func Load(path string) (*Document, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	d := &Document{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("bench: %s is not a result of overtake bench: %w", path, err)
	}
	if d.Suite == "" || len(d.Cases) == 0 {
		return nil, fmt.Errorf("bench: %s is not a result of overtake bench: it has no cases", path)
	}
	return d, nil
}

// LoadAll reads the documents of a folder, or the one of a file, in the order of their
// names. Files of the folder that are JSON of another kind are skipped, and named.
func LoadAll(path string) (docs []*Document, skipped []error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: %w", err)
	}
	if !info.IsDir() {
		d, err := Load(path)
		return []*Document{d}, nil, err
	}
	names, err := filepath.Glob(filepath.Join(path, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		d, err := Load(name)
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		docs = append(docs, d)
	}
	if len(docs) == 0 {
		return nil, skipped, fmt.Errorf("bench: %s has no result of overtake bench", path)
	}
	return docs, skipped, nil
}

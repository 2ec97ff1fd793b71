package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/overtake-stream/overtake/bench"
)

// Line is a figure that a program prints.
type Line struct {
	Case        string             `json:"case"`
	Metric      string             `json:"metric"`
	Unit        string             `json:"unit"`
	Value       float64            `json:"value"`
	Records     int64              `json:"records,omitempty"`
	Check       string             `json:"check,omitempty"`
	Settings    map[string]any     `json:"settings,omitempty"`
	Percentiles *bench.Percentiles `json:"percentiles,omitempty"`
	Error       string             `json:"error,omitempty"` // the run has failed
}

// readLines reads the figures that a program prints, until it closes its output. A line
// that is no figure is an error, but the rest is read first, so that the program ends.
func readLines(r io.Reader) (lines []Line, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if len(s.Bytes()) == 0 {
			continue
		}
		var l Line
		switch e := json.Unmarshal(s.Bytes(), &l); {
		case e != nil && err == nil:
			err = fmt.Errorf("peers: standard output has a line that is no figure: %.200q: %w", s.Text(), e)
		case e == nil:
			lines = append(lines, l)
		}
	}
	if e := s.Err(); e != nil && err == nil {
		err = fmt.Errorf("peers: %w", e)
	}
	if err != nil {
		_, _ = io.Copy(io.Discard, r)
	}
	return lines, err
}

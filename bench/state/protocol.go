package state

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// envChild has the spec of the store that a copy of this program serves.
const envChild = "OVERTAKE_BENCH_STATE_CHILD"

// request asks a process to do something. What the fields mean is up to Op.
type request struct {
	Op    string
	Count int64
	Seed  uint64

	Keep    int     // snapshots open
	Window  int64   // updates while one is open
	Beside  string  // what the other core does
	Rate    float64 // of it, B/s
	Path    string
	Bytes   int64
	Confirm bool
	Ahead   bool
	Settle  bool
	Least   time.Duration // that a repeated measurement takes
}

// reply is what came of it.
type reply struct {
	Value  float64            // the figure, in base units
	More   map[string]float64 `json:",omitempty"`
	Counts [][2]int64         `json:",omitempty"` // nanoseconds, and how often
	Own    [][2]int64         `json:",omitempty"` // the same, without the time in which the thread had no processor
	Err    string             `json:",omitempty"`
}

// record adds the latencies to a histogram, own or all of them.
func (r reply) record(into *perf.Histogram, own bool) {
	counts := r.Counts
	if own {
		counts = r.Own
	}
	for _, c := range counts {
		for range c[1] {
			into.Record(c[0])
		}
	}
}

// Child serves a store if the environment asks for it, and reports whether it did.
// Programs that call Run call it first in main, and exit if it returns true.
func Child() bool {
	text := os.Getenv(envChild)
	if text == "" {
		return false
	}
	if err := serve(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "overtake bench state:", err)
	}
	return true
}

func serve(text string, in io.Reader, out io.Writer) error {
	var s server
	if err := json.Unmarshal([]byte(text), &s.spec); err != nil {
		return err
	}
	runtime.LockOSThread() // for the thread's clock
	s.clock, s.busy = perf.NewClock(), newThreadClock()
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q request
		if err := requests.Decode(&q); err == io.EOF {
			return s.close()
		} else if err != nil {
			return err
		}
		r, err := s.do(q)
		if err != nil {
			r.Err = err.Error()
		}
		if err := replies.Encode(r); err != nil {
			return err
		}
	}
}

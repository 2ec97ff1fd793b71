package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// envChild has what a copy of this program is to measure.
const envChild = "OVERTAKE_BENCH_PEERS"

// task is our side of one case.
type task struct {
	Peer, Case string
	Quick      bool
	Params     Params
}

// Child does our side of the case that the environment asks for, if there is one, and
// reports whether there was. Programs that call Run call it first in main, with the same
// peers, and exit if it returns true.
func Child(known []Peer) bool {
	text := os.Getenv(envChild)
	if text == "" {
		return false
	}
	var t task
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	say := func(l Line) {
		mu.Lock()
		defer mu.Unlock()
		l.Case = t.Case
		_ = out.Encode(l) // whoever reads has gone: nobody is left to be told
	}
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = t.do(known, say)
	}
	if err != nil {
		say(Line{Error: err.Error()})
	} else if b := peakMemory(); b > 0 {
		say(Line{Metric: rss, Unit: "B", Value: b})
	}
	return true
}

func (t task) do(known []Peer, say func(Line)) error {
	for _, p := range known {
		if p.Name != t.Peer {
			continue
		}
		for _, c := range p.Cases(Config{Quick: t.Quick}) {
			if c.Name == t.Case {
				return c.Ours(context.Background(), t.Params, say)
			}
		}
	}
	return fmt.Errorf("peers: no case %q of %q", t.Case, t.Peer)
}

// program is this program with the task.
func (t task) program() (program, error) {
	self, err := os.Executable()
	if err != nil {
		return program{}, err
	}
	text, err := json.Marshal(t)
	return program{argv: []string{self}, env: []string{envChild + "=" + string(text)}}, err
}

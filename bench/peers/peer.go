package peers

import (
	"context"
	"io"
	"io/fs"
)

// Peer is another system to compare with.
type Peer struct {
	Name  string // as on the command line, and as the folder of its sources
	Title string // with the version, for people

	Needs  []Tool // to build it and to run it
	Source fs.FS  // what is built
	// Build builds dir, which holds a copy of Source, and leaves there all that Command
	// needs. What its tools say goes to log.
	Build func(ctx context.Context, dir string, log io.Writer) error
	// Command is the program that was built in dir, and its first arguments, for a case with
	// these parameters: they may ask for more memory, say.
	Command func(dir string, p Params) []string

	// Cases are the comparisons with this peer.
	Cases func(cfg Config) []Case
}

// All returns the peers that there are.
func All() []Peer { return []Peer{flink(), timely(), jet(), disruptor()} }

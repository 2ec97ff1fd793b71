package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config says what to compare, and how. The zero value means the defaults.
type Config struct {
	Peers []string // names; default all
	Cases []string // only cases whose name contains one of these
	Quick bool     // less work for each measurement
	Pairs int      // measured pairs of each case; default 5, with Quick 3

	Cache  string        // folder of programs that were built; default below the user's cache folder
	Folder string        // for files of a measurement; default the system's for temporary files
	Limit  time.Duration // for one process; default 10 min

	// Known are the peers there are; default All().
	Known []Peer
	// Progress gets a line for each step.
	Progress func(line string)
}

func (c Config) withDefaults() (Config, error) {
	if c.Known == nil {
		c.Known = All()
	}
	if c.Pairs == 0 {
		c.Pairs = 5
		if c.Quick {
			c.Pairs = 3
		}
	}
	if c.Limit == 0 {
		c.Limit = 10 * time.Minute
	}
	if c.Folder == "" {
		c.Folder = os.TempDir()
	}
	if c.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return c, fmt.Errorf("peers: no folder for the programs: set Cache: %w", err)
		}
		c.Cache = filepath.Join(dir, "overtake", "peers")
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c, nil
}

// Validate reports all that is wrong with the configuration.
func (c Config) Validate() error {
	c, err := c.withDefaults()
	errs := []error{err}
	if c.Pairs < 1 {
		errs = append(errs, fmt.Errorf("peers: Pairs is %d: set at least 1", c.Pairs))
	}
	if c.Limit < 0 {
		errs = append(errs, fmt.Errorf("peers: Limit is %v: set a time, or 0 for the default", c.Limit))
	}
	var names []string
	for _, p := range c.Known {
		names = append(names, p.Name)
	}
	for _, name := range c.Peers {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("peers: no peer %q: there are %s", name, strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

// wanted are the peer's cases that are to be run.
func (c Config) wanted(p Peer) (list []Case) {
	if len(c.Peers) > 0 && !slices.Contains(c.Peers, p.Name) {
		return nil
	}
	for _, k := range p.Cases(c) {
		match := func(text string) bool { return strings.Contains(k.Name, text) }
		if len(c.Cases) == 0 || slices.ContainsFunc(c.Cases, match) {
			list = append(list, k)
		}
	}
	return list
}

// Pick is full, or with Quick the other: for the amount of work of a case.
func (c Config) Pick(full, quick int64) int64 {
	if c.Quick {
		return quick
	}
	return full
}

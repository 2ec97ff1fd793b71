package files

import (
	"errors"
	"fmt"
)

// Options says what to read. Zero fields mean the defaults.
type Options struct {
	Root     string // folder, or a single file; required
	Glob     string // which files below Root: * and ? within a name, ** for any folders, e.g. "**/*.go"; default "**"
	MaxSplit int64  // bytes of a split; default 4 MiB
	MaxLine  int    // bytes of a line; default 4 MiB: generated sources have lines of 1 MiB and more
}

const (
	blockSize  = 64 << 10  // bytes of a block that Blocks passes on, unless a line is longer
	bufferSize = 256 << 10 // bytes of a read
)

func (o Options) withDefaults() Options {
	if o.Glob == "" {
		o.Glob = "**"
	}
	if o.MaxSplit == 0 {
		o.MaxSplit = 4 << 20
	}
	if o.MaxLine == 0 {
		o.MaxLine = 4 << 20
	}
	return o
}

// Validate reports all problems at once.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	if o.Root == "" {
		errs = append(errs, errors.New("files: Root is empty: say which folder or file to read"))
	}
	if o.MaxSplit < 1 {
		errs = append(errs, fmt.Errorf("files: MaxSplit %d, want at least 1 byte", o.MaxSplit))
	}
	if o.MaxLine < 1 || o.MaxLine > 1<<27 {
		errs = append(errs, fmt.Errorf("files: MaxLine %d, want 1 to %d bytes", o.MaxLine, 1<<27))
	}
	_, err := compileGlob(o.Glob)
	return errors.Join(append(errs, err)...)
}

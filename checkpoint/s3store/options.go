package s3store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
)

// Options of a store. Bucket is required, the rest has defaults.
type Options struct {
	Bucket string
	Prefix string // of all keys, without slashes at its ends; one job's alone

	Compress  bool // as in checkpoint.Options
	BlockSize int  // as in checkpoint.Options

	// PartSize is the number of bytes that are sent or fetched by one request, and
	// that each blob being written or read holds in memory. 0 is 8 MiB. S3 wants at
	// least 5 MiB.
	PartSize int

	Attempts int           // tries of a request; 0 is 6
	Timeout  time.Duration // of one try; 0 is 30 s
	Backoff  time.Duration // wait before the second try, doubled before each other one up to 64 times; 0 is 100 ms
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	problems := []error{checkpoint.Options{BlockSize: o.BlockSize}.Validate()}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("s3store: "+format, args...))
		}
	}
	check(o.Bucket != "", "Options.Bucket is empty: name the bucket")
	check(strings.Trim(o.Prefix, "/") == o.Prefix, "Options.Prefix is %q: leave out the slashes at its ends", o.Prefix)
	check(o.PartSize >= 0 && o.PartSize <= 1<<30, "Options.PartSize is %d: choose 0 or up to 1 GiB", o.PartSize)
	check(o.Attempts >= 0, "Options.Attempts is %d: choose 0 or more", o.Attempts)
	check(o.Timeout >= 0, "Options.Timeout is %v: choose 0 or more", o.Timeout)
	check(o.Backoff >= 0, "Options.Backoff is %v: choose 0 or more", o.Backoff)
	return errors.Join(problems...)
}

func (o Options) withDefaults() Options {
	if o.PartSize == 0 {
		o.PartSize = 8 << 20
	}
	if o.Attempts == 0 {
		o.Attempts = 6
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 100 * time.Millisecond
	}
	return o
}

package checkpoint

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Sizes of a block in a blob, in bytes before compression.
const (
	DefaultBlockSize = 64 << 10
	MinBlockSize     = 512
	MaxBlockSize     = 1 << 20
)

// Options of a store in a directory. The zero value is the default.
type Options struct {
	// FS is the file system. The default is the system's, with directories of mode
	// 0700 and files of mode 0600.
	FS vfs.FS

	// Compress compresses blocks with zstd where that makes them smaller. Reading
	// needs no option.
	Compress bool

	// BlockSize is the number of bytes under one checksum: MinBlockSize to
	// MaxBlockSize, 0 for DefaultBlockSize. A writer and a reader hold about two.
	BlockSize int

	// NoSync leaves out the syncs. Checkpoints then survive the end of the process,
	// and a power cut may leave none: for tests and measurements.
	NoSync bool
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	var problems []error
	if o.BlockSize != 0 && (o.BlockSize < MinBlockSize || o.BlockSize > MaxBlockSize) {
		problems = append(problems, fmt.Errorf("checkpoint: Options.BlockSize is %d: choose 0 or %d to %d", o.BlockSize, MinBlockSize, MaxBlockSize))
	}
	return errors.Join(problems...)
}

package task

import "github.com/overtake-stream/overtake/unaligned"

// Run is a run of captured records as a checkpoint has it.
type Run = unaligned.Run

// ErrRuns says that the index of in-flight records is damaged.
var ErrRuns = unaligned.ErrRuns

// ParseRuns decodes the index of a checkpoint's in-flight records.
func ParseRuns(b []byte) ([]Run, error) { return unaligned.ParseRuns(b) }

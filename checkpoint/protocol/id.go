package protocol

// ID names a checkpoint of a job. IDs grow and are never used again; 0 is none.
type ID uint64

// Mode says how a checkpoint's barriers move through the job.
type Mode uint8

// Modes of checkpoints. Except with AtLeastOnce, every record's effect is in exactly
// one of: the state in the checkpoint, what is processed after it.
const (
	// Aligned: a channel whose barrier has arrived is blocked until those of all
	// others have.
	Aligned Mode = iota
	// AtLeastOnce: nothing is blocked; records behind a barrier may be processed
	// before the snapshot, and again after a recovery.
	AtLeastOnce
	// Unaligned: barriers overtake data, and the data is part of the checkpoint.
	Unaligned
	// Auto: aligned until the alignment timeout has passed since the trigger,
	// unaligned from then on.
	Auto
)

var modeNames = [...]string{"aligned", "at-least-once", "unaligned", "auto"}

// String is the mode's name, as options spell it.
func (m Mode) String() string { return nameOf(modeNames[:], int(m), "mode") }

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, bool) {
	for m, n := range modeNames {
		if n == name {
			return Mode(m), true
		}
	}
	return 0, false
}

package operators

import (
	"slices"
	"strings"
)

// Migration turns an entry of keyed state with the layout from, as a checkpoint has it,
// into one with today's. It lends its arguments; what it returns is copied. keep false
// drops the entry.
type Migration func(from string, hash uint32, key, value []byte) (newKey, newValue []byte, keep bool, err error)

// MigrateAccumulator returns the Migration of an Aggregate or Reduce whose accumulator
// was an Old and is a New now. Any other layout is a *LayoutError.
func MigrateAccumulator[Old, New any](f func(Old) New) (Migration, error) {
	old, err := CodecFor[Old]()
	if err != nil {
		return nil, err
	}
	now, err := CodecFor[New]()
	if err != nil {
		return nil, err
	}
	var scratch []byte
	return func(from string, _ uint32, key, value []byte) ([]byte, []byte, bool, error) {
		if !strings.HasSuffix(from, accumulatorLayout+layoutOf(old)) {
			return nil, nil, false, &LayoutError{State: "accumulator", Saved: from, Now: "a migration from " + layoutOf(old)}
		}
		v, err := old.Decode(slices.Clone(value)) // aligned, and f may keep it
		if err != nil {
			return nil, nil, false, err
		}
		scratch = now.Append(scratch[:0], f(v))
		return key, scratch, true, nil
	}, nil
}

const accumulatorLayout = ", accumulator "

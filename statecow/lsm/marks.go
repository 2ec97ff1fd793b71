package lsm

import (
	"math"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/overtake-stream/overtake/statecow"
)

// marksProperty is the name of the property in the tables.
const marksProperty = "overtake.marks"

// markMapper gives every entry of a table the mark that was present when the table
// was begun. Entries in it have this mark or a lower one: a flush writes what was
// put before, a compaction what other tables had. Pebble does not show values to
// properties, so that the marks of the entries themselves are not to be had.
type markMapper struct{ mark uint64 }

// MapPointKey implements sstable.IntervalMapper.
func (m markMapper) MapPointKey(key pebble.InternalKey, _ []byte) (sstable.BlockInterval, error) {
	if len(key.UserKey) == 0 || key.UserKey[0] != dataSpace {
		return sstable.BlockInterval{}, nil
	}
	return sstable.BlockInterval{Lower: m.mark, Upper: m.mark + 1}, nil
}

// MapRangeKeys implements sstable.IntervalMapper; there are none.
func (markMapper) MapRangeKeys(sstable.Span) (sstable.BlockInterval, error) {
	return sstable.BlockInterval{}, nil
}

// collectMarks returns what Pebble calls for each table that it begins.
func collectMarks(present *atomic.Uint64) func() pebble.BlockPropertyCollector {
	return func() pebble.BlockPropertyCollector {
		return sstable.NewBlockIntervalCollector(marksProperty, markMapper{present.Load()}, nil)
	}
}

// after is the filter for tables that may hold marks above since.
func after(since statecow.Mark) []pebble.BlockPropertyFilter {
	filters := make([]pebble.BlockPropertyFilter, 0, 2) // Pebble adds one
	return append(filters, sstable.NewBlockIntervalFilter(marksProperty, uint64(since)+1, math.MaxUint64, nil))
}

package netstack

import (
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack/credit"
	"github.com/overtake-stream/overtake/perf"
)

// Defaults, in buffers unless said otherwise.
const (
	DefaultExclusive     = 2
	DefaultFloating      = 8
	DefaultOverdraft     = 64
	DefaultMaxQueued     = 10
	DefaultFlushInterval = time.Millisecond
	MaxChannels          = 1 << 16 // of one partition or gate
)

// PartitionOptions configures a Partition. Zero fields mean the defaults.
type PartitionOptions struct {
	Name          string        // in errors and in the ledger: "operator[subtask]"
	Subpartitions int           // 1 to MaxChannels
	Broadcast     bool          // every record goes to all subpartitions, in one shared buffer
	Exclusive     int           // buffers per subpartition; 1 of them is guaranteed
	Floating      int           // buffers shared by all subpartitions; <0: none
	Overdraft     int           // buffers beyond that to finish one record's output; <0: none
	MaxQueued     int           // buffers queued for one subpartition before it counts as full
	FlushInterval time.Duration // longest time that data stays in an open buffer; <0: no longer than one call of Flush

	Clock perf.Clock // for the account of times, and of Flush; nil: none is kept

	Waker Waker  // the subtask's; required
	Wait  func() // parks the subtask until Waker fires; required
}

func (o PartitionOptions) withDefaults() PartitionOptions {
	setDefault(&o.Exclusive, DefaultExclusive)
	setDefault(&o.Floating, DefaultFloating)
	setDefault(&o.Overdraft, DefaultOverdraft)
	setDefault(&o.MaxQueued, DefaultMaxQueued)
	if o.FlushInterval == 0 {
		o.FlushInterval = DefaultFlushInterval
	}
	o.FlushInterval = max(0, o.FlushInterval)
	o.Floating, o.Overdraft = max(0, o.Floating), max(0, o.Overdraft)
	return o
}

func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}

// Validate reports all problems at once.
func (o PartitionOptions) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("netstack: partition %q: "+format, append([]any{o.Name}, args...)...))
	}
	if o.Subpartitions < 1 || o.Subpartitions > MaxChannels {
		bad("%d subpartitions, want 1 to %d", o.Subpartitions, MaxChannels)
	}
	if o.Exclusive < 1 || o.Floating < 0 || o.Overdraft < 0 || o.MaxQueued < 1 {
		bad("exclusive %d, floating %d, overdraft %d, max queued %d: want at least 1, 0, 0, 1",
			o.Exclusive, o.Floating, o.Overdraft, o.MaxQueued)
	}
	if o.Waker == nil || o.Wait == nil {
		bad("Waker and Wait are required")
	}
	return errors.Join(errs...)
}

// builders is the number of buffers being filled at the same time.
func (o PartitionOptions) builders() int {
	if o.Broadcast {
		return 1
	}
	return o.Subpartitions
}

// poolOptions: every builder must be able to hold a buffer while one more, the
// spare, is in hand; the rest depends on how much memory there is.
func (o PartitionOptions) poolOptions() bufferpool.PoolOptions {
	n := o.builders()
	return bufferpool.PoolOptions{
		Name:      o.Name + " out",
		Min:       n + 1,
		Max:       n*o.Exclusive + 1 + o.Floating,
		Overdraft: o.Overdraft,
	}
}

// GateOptions configures a Gate. Zero fields mean the defaults.
type GateOptions struct {
	Name      string // in errors and in the ledger: "operator[subtask]"
	Inputs    []int  // channels of each input: a join or a union has several
	Exclusive int    // buffers per channel; <0: none, all follow the backlog
	Floating  int    // buffers shared by all channels; <0: none

	Clock perf.Clock // for the account of times: that of the partitions in this process; nil: none is kept

	Waker Waker // the subtask's; required
}

func (o GateOptions) withDefaults() GateOptions {
	setDefault(&o.Exclusive, DefaultExclusive)
	setDefault(&o.Floating, DefaultFloating)
	o.Exclusive, o.Floating = max(0, o.Exclusive), max(0, o.Floating)
	return o
}

// Validate reports all problems at once.
func (o GateOptions) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("netstack: gate %q: "+format, append([]any{o.Name}, args...)...))
	}
	if n := o.channels(); n < 1 || n > MaxChannels {
		bad("%d channels, want 1 to %d", n, MaxChannels)
	}
	for i, n := range o.Inputs {
		if n < 1 {
			bad("input %d has %d channels, want at least 1", i, n)
		}
	}
	if window := o.Exclusive + o.Floating; o.Floating < 0 || window < 1 || window > credit.MaxWindow {
		bad("exclusive %d and floating %d buffers: want 1 to %d in total", o.Exclusive, o.Floating, credit.MaxWindow)
	}
	if o.Waker == nil {
		bad("Waker is required")
	}
	return errors.Join(errs...)
}

func (o GateOptions) channels() int {
	n := 0
	for _, width := range o.Inputs {
		n += width
	}
	return n
}

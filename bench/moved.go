package bench

import "github.com/overtake-stream/overtake/netstack"

// moved is what was seen of a transfer.
type moved struct {
	rate    float64 // payload bytes per second
	cost    float64 // seconds of processor time of both sides per byte; between processes
	busiest float64 // share of the channel that had most
	stalls  int64   // times that a reader stood still
	flow    flow
}

// flow is how buffers went out, and how often something was in their way: no buffer to write
// to, or no credit for one that was full.
type flow struct{ buffers, empty, broke uint64 }

// add adds a writer's. Without an account of times there are no waits.
func (f *flow) add(o *outlet) {
	s := o.Stats()
	f.buffers += s.Buffers
	if s.Times != nil {
		empty, broke := s.Times.BufferWait.Snapshot(), s.Times.CreditWait.Snapshot()
		f.empty, f.broke = f.empty+empty.Count(), f.broke+broke.Count()
	}
}

// waits is how often that was, for each buffer.
func (f flow) waits() float64 { return float64(f.empty+f.broke) / float64(max(1, f.buffers)) }

// partition is the options of a writer's end. 0 are the defaults.
func (w wire) partition(queue, exclusive int) netstack.PartitionOptions {
	o := netstack.PartitionOptions{Subpartitions: w.Channels, Exclusive: exclusive, MaxQueued: queue, FlushInterval: w.Flush}
	if w.Pressure.Starve {
		o.Exclusive, o.Floating, o.Overdraft = 1, -1, -1
	}
	return o
}

// gate is the options of a reader's end of so many channels.
func (w wire) gate(channels int) netstack.GateOptions {
	o := netstack.GateOptions{Inputs: []int{channels}, Exclusive: w.Window}
	if w.Pressure.Starve {
		o.Exclusive, o.Floating = 1, -1
	}
	return o
}

// turn is which channel of a writer gets record number n; nil: each in turn.
func (w wire) turn() func(n uint64) uint64 { return w.Pressure.Keys(uint64(w.Channels), nil) }

// records is how many a buffer has.
func (w wire) records(payload []byte) int {
	if w.Record == 0 {
		return 1
	}
	return len(payload) / w.Record
}

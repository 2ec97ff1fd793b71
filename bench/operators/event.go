package operators

import (
	"math/bits"

	"github.com/overtake-stream/overtake/bench/pressure"
)

// Event is the record of all flows: 32 bytes without pointers.
type Event struct{ Key, Value, Number, Filler uint64 }

// drawn is the key of record number n.
type drawn func(n uint64) uint64

// uniform draws from so many keys, evenly and without a pattern.
func uniform(keys uint64) drawn {
	return func(n uint64) uint64 {
		key, _ := bits.Mul64(n*0x9E3779B97F4A7C15, keys)
		return key
	}
}

// skewed draws from so many keys by Zipf's law.
func skewed(keys uint64, s float64, seed uint64) drawn {
	return pressure.Config{Skew: s, Seed: seed}.Keys(keys, nil)
}

// event makes record number n. The value depends on the key alone, so that the running
// totals of a key are the same in whatever order its records come.
func (d drawn) event(n uint64) Event {
	key := d(n)
	return Event{Key: key, Value: key%100 + 1, Number: n}
}

// step is what a map does to a record.
func step(e Event) Event {
	e.Value = e.Value*6364136223846793005 + e.Number
	return e
}

// passes is the condition of the filter: half of the records meet it.
func passes(e Event) bool { return bits.OnesCount64(e.Number*0x9E3779B97F4A7C15)%2 == 0 }

// copies is how many records the flat map makes of one.
const copies = 3

// nth is one of the records that the flat map makes.
func nth(e Event, i uint64) Event {
	e.Value += i
	return e
}

// digest is what the sink adds up of a record.
func digest(e Event) uint64 { return e.Value + e.Number }

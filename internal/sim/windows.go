package sim

import (
	"slices"

	"github.com/overtake-stream/overtake/operators"
)

// shape is the kind of the windows of a plan.
type shape uint8

const (
	tumbling shape = iota
	session
	processing        // tumbling ones of processing time
	processingSession // sessions of it
	shapes
)

const (
	windowSize = 5 // records of a split: their time is their number
	windowGap  = 3 // the same
	windowTime = 2 // milliseconds of simulated time
)

// drawShape draws it. What comes twice may begin a session of its own when the one that it
// belongs to has ended, so there are sessions of event time only where nothing does.
func (p *Plan) drawShape(seed uint64) {
	p.shape = shape(mix(seed+2) % uint64(shapes))
	if p.shape == session && !p.exactly {
		p.shape = tumbling
	}
}

// windowed counts each key in windows.
func windowed[T any](p *Plan, w wire[T], next operators.Collector[rec]) (operators.Transform[T], error) {
	cut := []operators.Windows{
		tumbling: {Size: windowSize}, session: {Gap: windowGap},
		processing: {Size: windowTime, Processing: true}, processingSession: {Gap: windowTime, Processing: true},
	}[p.shape]
	return operators.WindowAggregate(w.key, cut, operators.Aggregator[T, int64, int64]{
		Add:    func(n *int64, _ T) { *n++ },
		Merge:  func(n, o *int64) { *n += *o },
		Result: func(n *int64) int64 { return *n },
	}, windowResults{results{p, next}})
}

type windowResults struct{ results }

// Collect implements operators.Collector.
func (r windowResults) Collect(w operators.Windowed[uint32, int64]) {
	r.results.Collect(operators.Pair[uint32, int64]{Key: r.plan.bucket(w.Key, w.Start), Value: w.Value})
}

// bucket is what records are counted by: their key, or their key and window. Which window
// of processing time a record falls into is another each time, so these are added up.
func (p *Plan) bucket(key uint32, start int64) uint32 {
	if !p.windows || p.shape >= processing {
		return key
	}
	return key*10_000 + uint32(start)
}

// totals are how many records each bucket has, of the numbers of those of each key.
func (p *Plan) totals(counted map[uint32][]uint32) map[uint32]int64 {
	total := map[uint32]int64{}
	for key, numbers := range counted {
		slices.Sort(numbers)
		start := int64(0)
		for i, n := range numbers {
			switch at := int64(n); {
			case p.shape == tumbling:
				start = at - at%windowSize
			case i == 0 || at-int64(numbers[i-1]) >= windowGap:
				start = at
			}
			total[p.bucket(key, start)]++
		}
	}
	return total
}

// whole adds up the results of windows of processing time.
func (p *Plan) whole(records []rec) []rec {
	if !p.windows || p.shape < processing {
		return records
	}
	var sums []rec
	place := map[identity]int{}
	for _, v := range records {
		id := identity{v.Split, v.Seq, v.Path}
		i, found := place[id]
		if !found {
			place[id] = len(sums)
			sums = append(sums, v)
			continue
		}
		sums[i].N += v.N
	}
	return sums
}

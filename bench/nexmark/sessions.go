package nexmark

import (
	"slices"

	"github.com/overtake-stream/overtake"
)

func sessions() []Query { return []Query{userSessions(), processingWindows()} }

// bidding is that somebody bids.
type bidding struct {
	Bidder uint64
	Time   int64
}

func biddingsOf(events overtake.Stream[*Event]) overtake.KeyedStream[uint64, bidding] {
	of := overtake.Map(bidsOf(events), func(b *Bid) bidding { return bidding{b.Bidder, b.Time} })
	return overtake.KeyBy(of, func(b bidding) uint64 { return b.Bidder })
}

func userSessions() Query {
	type counted = overtake.Windowed[uint64, int64]
	rows := func(t *Tally, w counted) {
		t.number(w.Key)
		t.number(uint64(w.Value))
		t.number(uint64(w.Start))
		t.number(uint64(w.End))
	}
	return Query{
		Name: "q11", About: "counts the bids of each session of a bidder, which ends with 10 s without a bid",
		Columns: []string{"bidder", "bid_count", "starttime", "endtime"},
		build: func(p *plan) {
			emit(p, overtake.Window(biddingsOf(p.timed()), overtake.Session(window), overtake.Aggregator[bidding, int64, int64]{
				Add:    func(n *int64, _ bidding) { *n++ },
				Merge:  func(n, later *int64) { *n += *later },
				Result: func(n *int64) int64 { return *n },
			}, uid("sessions")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			times := map[uint64][]int64{}
			g.eachBid(func(b *Bid) { times[b.Bidder] = append(times[b.Bidder], b.Time) })
			for bidder, list := range times {
				slices.Sort(list)
				w := counted{Key: bidder, Start: list[0]}
				for i, at := range list {
					if i > 0 && at >= w.End {
						addRow(t, rows, w)
						w = counted{Key: bidder, Start: at}
					}
					w.End, w.Value = at+window.Milliseconds(), w.Value+1
				}
				addRow(t, rows, w)
			}
		},
	}
}

// processed are the bids of a bidder in a window of processing time.
type processed struct {
	Bids, Latest int64 // their number, and the event time of the latest
}

// processingWindows is q12. Which bid falls in which window is another each time, but in
// which bidder's is not: so the table has the sum of each bidder's windows.
func processingWindows() Query {
	type counted = overtake.Windowed[uint64, processed]
	type sum = overtake.Pair[uint64, int64]
	type sums struct{ Now, Before int64 }
	rows := func(t *Tally, r sum) {
		t.number(r.Key)
		t.number(uint64(r.Value))
	}
	return Query{
		Name: "q12", About: "counts the bids of each bidder in windows of processing time of 10 s, and adds them up, since what is in which window is another each time",
		Columns: []string{"bidder", "bid_count"},
		build: func(p *plan) {
			counts := overtake.Window(biddingsOf(p.events), overtake.Tumbling(window).ProcessingTime(), overtake.Aggregator[bidding, processed, processed]{
				Add:    func(a *processed, b bidding) { a.Bids, a.Latest = a.Bids+1, max(a.Latest, b.Time) },
				Result: func(a *processed) processed { return *a },
			}, uid("count")...)
			timed := overtake.AssignTimes(counts, func(w counted) int64 { return w.Value.Latest }, 0)
			totals := overtake.Aggregate(overtake.KeyBy(timed, func(w counted) uint64 { return w.Key }), overtake.Aggregator[counted, sums, sums]{
				Add:    func(a *sums, w counted) { a.Before, a.Now = a.Now, a.Now+w.Value.Bids },
				Result: func(a *sums) sums { return *a },
			}, uid("total")...)
			emitChanges(p, overtake.Map(totals, func(r overtake.Pair[uint64, sums]) change[sum] {
				return change[sum]{New: sum{Key: r.Key, Value: r.Value.Now}, Old: sum{Key: r.Key, Value: r.Value.Before}, Had: r.Value.Before > 0}
			}), rows)
		},
		loop: func(g *Generator, t *Tally) {
			bids := map[uint64]int64{}
			g.eachBid(func(b *Bid) { bids[b.Bidder]++ })
			for bidder, n := range bids {
				addRow(t, rows, sum{Key: bidder, Value: n})
			}
		},
	}
}

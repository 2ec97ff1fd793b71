package nexmark

import (
	"strings"

	"github.com/overtake-stream/overtake"
)

func statistics() []Query {
	return []Query{runningMaximum(), dailyStatistics(), channelStatistics(), auctionDays()}
}

// rank is 1 to 3, by price.
func rank(price uint64) int {
	switch {
	case price < 10_000:
		return 1
	case price < 1_000_000:
		return 2
	}
	return 3
}

// priced is a bid's price.
type priced struct{ Auction, Price uint64 }

func runningMaximum() Query {
	type acc struct {
		Bids        int64
		Max, Before uint64
	}
	type row struct {
		Auction uint64
		Bids    int64
		Max     uint64
	}
	rows := func(t *Tally, r row) {
		t.number(r.Auction)
		t.number(uint64(r.Bids))
		t.number(r.Max)
	}
	return Query{
		Name: "running", About: "keeps the number and the maximum of the bids of each auction: a running keyed aggregate, not one of Nexmark's",
		Columns: []string{"auction", "count", "max"},
		build: func(p *plan) {
			prices := overtake.Map(bidsOf(p.events), func(b *Bid) priced { return priced{b.Auction, b.Price} })
			totals := overtake.Aggregate(overtake.KeyBy(prices, func(v priced) uint64 { return v.Auction }), overtake.Aggregator[priced, acc, acc]{
				Add: func(a *acc, v priced) {
					a.Bids++
					a.Before, a.Max = a.Max, max(a.Max, v.Price)
				},
				Result: func(a *acc) acc { return *a },
			}, uid("total")...)
			emitChanges(p, overtake.Map(totals, func(r overtake.Pair[uint64, acc]) change[row] {
				v := r.Value
				return change[row]{New: row{r.Key, v.Bids, v.Max}, Old: row{r.Key, v.Bids - 1, v.Before}, Had: v.Bids > 1}
			}), rows)
		},
		loop: func(g *Generator, t *Tally) {
			totals := map[uint64]acc{}
			g.eachBid(func(b *Bid) {
				old := totals[b.Auction]
				now := acc{Bids: old.Bids + 1, Max: max(old.Max, b.Price)}
				totals[b.Auction] = now
				addChange(t, rows, change[row]{New: row{b.Auction, now.Bids, now.Max}, Old: row{b.Auction, old.Bids, old.Max}, Had: old.Bids > 0})
			})
		},
	}
}

// seen is a bid, for the count of its bidder or of its auction.
type seen struct {
	Channel string // empty: of all
	Day     int64
	ID      uint64
	Auction bool
	Rank    uint8
	Minute  int64 // of the day
}

// who is whom a seen is counted for.
type who struct {
	Channel string
	Day     int64
	ID      uint64
	Auction bool
}

// where is which row it is counted in.
type where struct {
	Channel string
	Day     int64
}

// delta says which counters of a row go up, a bit for each.
type delta struct {
	Channel string
	Day     int64
	Up      uint16
	Minute  int64
}

// stats is a row: bids, bidders and auctions; of each all, and those of the ranks 1 to 3.
type stats struct {
	Counts [12]int64
	Minute int64 // of the day, the latest
}

// distinct turns what is seen for the first time into deltas.
type distinct struct {
	ranks *overtake.ValueState[uint16] // that were seen
}

// Open implements overtake.Processor.
func (d *distinct) Open(ctx *overtake.KeyedContext) (err error) {
	d.ranks, err = overtake.NewValueState[uint16](ctx, "ranks")
	return err
}

// Process implements overtake.Processor. Bit 0 stands for any rank.
func (d *distinct) Process(_ who, s seen, out overtake.Collector[delta]) error {
	bits := uint16(1 | 1<<s.Rank)
	old, _, err := d.ranks.Get()
	if err != nil {
		return err
	}
	fresh := bits &^ old
	up := fresh << 4
	if s.Auction {
		up = fresh << 8
	} else {
		up |= bits
	}
	if up != 0 {
		out.Collect(delta{s.Channel, s.Day, up, s.Minute})
	}
	if fresh == 0 {
		return nil
	}
	return d.ranks.Set(old | bits)
}

func minuteOf(time int64) int64 { return time % day / 60_000 }

// statsByHand computes what statsOf does.
func statsByHand(g *Generator, byChannel bool) map[where]*stats {
	found, members := map[where]*stats{}, map[who]uint16{}
	g.eachBid(func(b *Bid) {
		at := where{Day: b.Time / day}
		if byChannel {
			at.Channel = b.Channel
		}
		s := found[at]
		if s == nil {
			s = &stats{}
			found[at] = s
		}
		r := rank(b.Price)
		s.Counts[0]++
		s.Counts[r]++
		s.Minute = max(s.Minute, minuteOf(b.Time))
		for i, w := range []who{{at.Channel, at.Day, b.Bidder, false}, {at.Channel, at.Day, b.Auction, true}} {
			before := members[w]
			for _, bit := range []int{0, r} {
				if before>>bit&1 == 0 {
					s.Counts[4+4*i+bit]++
				}
			}
			members[w] = before | 1 | 1<<r
		}
	})
	return found
}

// statsOf keeps the statistics of each day or, by channel, of each channel and day.
func statsOf(p *plan, byChannel bool) overtake.Stream[change[overtake.Pair[where, stats]]] {
	type row = overtake.Pair[where, stats]
	type acc struct {
		Now, Before stats
	}
	all := overtake.FlatMap(p.events, func(e *Event, out overtake.Collector[seen]) {
		if e.Kind != BidKind {
			return
		}
		b := &e.Bid
		s := seen{Day: b.Time / day, ID: b.Bidder, Rank: uint8(rank(b.Price)), Minute: minuteOf(b.Time)}
		if byChannel {
			s.Channel = b.Channel
		}
		out.Collect(s)
		s.ID, s.Auction = b.Auction, true
		out.Collect(s)
	}, overtake.WithName("seen"))
	deltas := overtake.Process(overtake.KeyBy(all, func(s seen) who { return who{s.Channel, s.Day, s.ID, s.Auction} }),
		func() overtake.Processor[who, seen, delta] { return &distinct{} }, uid("distinct")...)
	sums := overtake.Aggregate(overtake.KeyBy(deltas, func(d delta) where { return where{d.Channel, d.Day} }), overtake.Aggregator[delta, acc, acc]{
		Add: func(a *acc, d delta) {
			a.Before = a.Now
			for i := range a.Now.Counts {
				a.Now.Counts[i] += int64(d.Up >> i & 1)
			}
			a.Now.Minute = max(a.Now.Minute, d.Minute)
		},
		Result: func(a *acc) acc { return *a },
	}, uid("sum")...)
	return overtake.Map(sums, func(v overtake.Pair[where, acc]) change[row] {
		return change[row]{New: row{Key: v.Key, Value: v.Value.Now}, Old: row{Key: v.Key, Value: v.Value.Before}, Had: v.Value.Before != stats{}}
	})
}

const statColumns = "total_bids,rank1_bids,rank2_bids,rank3_bids,total_bidders,rank1_bidders,rank2_bidders,rank3_bidders,total_auctions,rank1_auctions,rank2_auctions,rank3_auctions"

func dailyStatistics() Query {
	return statisticsQuery("q15", "counts bids, bidders and auctions of each day", "day,"+statColumns, false, func(t *Tally, r overtake.Pair[where, stats]) {
		t.number(uint64(r.Key.Day))
		for _, c := range r.Value.Counts {
			t.number(uint64(c))
		}
	})
}

func channelStatistics() Query {
	return statisticsQuery("q16", "does the same for each channel", "channel,day,minute,"+statColumns, true, func(t *Tally, r overtake.Pair[where, stats]) {
		t.string(r.Key.Channel)
		t.number(uint64(r.Key.Day))
		t.number(uint64(r.Value.Minute))
		for _, c := range r.Value.Counts {
			t.number(uint64(c))
		}
	})
}

func statisticsQuery(name, about, columns string, byChannel bool, rows fold[overtake.Pair[where, stats]]) Query {
	return Query{
		Name: name, About: about, Columns: strings.Split(columns, ","),
		build: func(p *plan) { emitChanges(p, statsOf(p, byChannel), rows) },
		loop: func(g *Generator, t *Tally) {
			for at, s := range statsByHand(g, byChannel) {
				addRow(t, rows, overtake.Pair[where, stats]{Key: at, Value: *s})
			}
		},
	}
}

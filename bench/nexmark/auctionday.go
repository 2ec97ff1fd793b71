package nexmark

import "github.com/overtake-stream/overtake"

// auctionDay is an auction on one day.
type auctionDay struct {
	Auction uint64
	Day     int64
}

// dayTotals are the bids for it: all, and those of the ranks 1 to 3.
type dayTotals struct {
	Bids          [4]int64
	Min, Max, Sum uint64
}

func (d *dayTotals) add(price uint64) {
	if d.Bids[0] == 0 || price < d.Min {
		d.Min = price
	}
	d.Bids[0]++
	d.Bids[rank(price)]++
	d.Max = max(d.Max, price)
	d.Sum += price
}

func auctionDays() Query {
	type acc struct{ Now, Before dayTotals }
	type bid struct {
		At    auctionDay
		Price uint64
	}
	type row = overtake.Pair[auctionDay, dayTotals]
	rows := func(t *Tally, r row) {
		t.number(r.Key.Auction)
		t.number(uint64(r.Key.Day))
		v := &r.Value
		for _, n := range v.Bids {
			t.number(uint64(n))
		}
		t.number(v.Min)
		t.number(v.Max)
		t.number(v.Sum / uint64(v.Bids[0]))
		t.number(v.Sum)
	}
	return Query{
		Name: "q17", About: "keeps statistics of the prices of each auction and day",
		Columns: []string{"auction", "day", "total_bids", "rank1_bids", "rank2_bids", "rank3_bids", "min_price", "max_price", "avg_price", "sum_price"},
		build: func(p *plan) {
			bids := overtake.Map(bidsOf(p.events), func(b *Bid) bid { return bid{auctionDay{b.Auction, b.Time / day}, b.Price} })
			totals := overtake.Aggregate(overtake.KeyBy(bids, func(b bid) auctionDay { return b.At }), overtake.Aggregator[bid, acc, acc]{
				Add: func(a *acc, b bid) {
					a.Before = a.Now
					a.Now.add(b.Price)
				},
				Result: func(a *acc) acc { return *a },
			}, uid("total")...)
			emitChanges(p, overtake.Map(totals, func(v overtake.Pair[auctionDay, acc]) change[row] {
				return change[row]{New: row{Key: v.Key, Value: v.Value.Now}, Old: row{Key: v.Key, Value: v.Value.Before}, Had: v.Value.Before.Bids[0] > 0}
			}), rows)
		},
		loop: func(g *Generator, t *Tally) {
			totals := map[auctionDay]*dayTotals{}
			g.eachBid(func(b *Bid) {
				at := auctionDay{b.Auction, b.Time / day}
				if totals[at] == nil {
					totals[at] = &dayTotals{}
				}
				totals[at].add(b.Price)
			})
			for at, d := range totals {
				addRow(t, rows, row{Key: at, Value: *d})
			}
		},
	}
}

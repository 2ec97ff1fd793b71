package nexmark

import (
	"github.com/overtake-stream/overtake"
)

func windows() []Query { return []Query{hotItems(), highestBids()} }

// tops are the auctions with the most bids of a window.
type tops struct {
	Most     int64
	Auctions []uint64
}

// hot is one of them.
type hot struct {
	Auction uint64
	Bids    int64
}

func foldHot(t *Tally, h hot) {
	t.number(h.Auction)
	t.number(uint64(h.Bids))
}

func (m *tops) take(auction uint64, bids int64) {
	if bids > m.Most {
		m.Most, m.Auctions = bids, m.Auctions[:0]
	}
	if bids == m.Most {
		m.Auctions = append(m.Auctions, auction)
	}
}

func hotItems() Query {
	type counted = overtake.Windowed[uint64, int64]
	return Query{
		Name: "q5", About: "counts bids in windows of 10 s every 2 s and finds the auctions with the most", Columns: []string{"auction", "num"},
		build: func(p *plan) {
			of := overtake.Map(bidsOf(p.timed()), func(b *Bid) uint64 { return b.Auction })
			counts := overtake.Window(overtake.KeyBy(of, func(a uint64) uint64 { return a }), overtake.Sliding(window, slide), overtake.Aggregator[uint64, int64, int64]{
				Add:    func(n *int64, _ uint64) { *n++ },
				Result: func(n *int64) int64 { return *n },
			}, uid("count")...)
			// The counts of a window have its last moment as their time, so that a window as
			// long as the slide gathers them, and no others.
			most := overtake.Window(overtake.KeyBy(counts, func(c counted) int64 { return c.End }), overtake.Tumbling(slide), overtake.Aggregator[counted, tops, tops]{
				Add:    func(m *tops, c counted) { m.take(c.Key, c.Value) },
				Result: func(m *tops) tops { return *m },
			}, uid("most")...)
			emit(p, overtake.FlatMap(most, func(w overtake.Windowed[int64, tops], out overtake.Collector[hot]) {
				for _, a := range w.Value.Auctions {
					out.Collect(hot{a, w.Value.Most})
				}
			}), foldHot)
		},
		loop: func(g *Generator, t *Tally) {
			panes := map[int64]map[uint64]int64{} // by start
			g.eachBid(func(b *Bid) {
				start := b.Time - b.Time%slide.Milliseconds()
				if panes[start] == nil {
					panes[start] = map[uint64]int64{}
				}
				panes[start][b.Auction]++
			})
			sums := map[int64]map[uint64]int64{}
			for start, pane := range panes {
				for w := start; w > start-window.Milliseconds(); w -= slide.Milliseconds() {
					if sums[w] == nil {
						sums[w] = map[uint64]int64{}
					}
					for a, n := range pane {
						sums[w][a] += n
					}
				}
			}
			for _, sum := range sums {
				var m tops
				for a, n := range sum {
					m.take(a, n)
				}
				for _, a := range m.Auctions {
					addRow(t, foldHot, hot{a, m.Most})
				}
			}
		},
	}
}

// high are the highest bids of a window.
type high struct {
	Price uint64
	Bids  []offer
}

func (h *high) take(o offer) {
	if o.Price > h.Price {
		h.Price, h.Bids = o.Price, h.Bids[:0]
	}
	if o.Price == h.Price {
		h.Bids = append(h.Bids, o)
	}
}

// parts is how many maxima are taken side by side before the one of all.
const parts = 128

func highestBids() Query {
	type partial = overtake.Windowed[uint64, high]
	rows := func(t *Tally, o offer) {
		t.number(o.Auction)
		t.number(o.Price)
		t.number(o.Bidder)
		t.number(uint64(o.Time))
		t.string(o.Text)
	}
	return Query{
		Name: "q7", About: "finds the highest bids of each 10 s", Columns: []string{"auction", "price", "bidder", "dateTime", "extra"},
		build: func(p *plan) {
			offers := overtake.Map(bidsOf(p.timed()), func(b *Bid) offer { o, _ := passed(b); return o })
			some := overtake.Window(overtake.KeyBy(offers, func(o offer) uint64 { return o.Bidder % parts }), overtake.Tumbling(window), overtake.Aggregator[offer, high, high]{
				Add:    func(h *high, o offer) { h.take(o) },
				Result: func(h *high) high { return *h },
			}, uid("some")...)
			all := overtake.Window(overtake.KeyBy(some, func(w partial) int64 { return w.End }), overtake.Tumbling(window), overtake.Aggregator[partial, high, high]{
				Add: func(h *high, w partial) {
					for _, o := range w.Value.Bids {
						h.take(o)
					}
				},
				Result: func(h *high) high { return *h },
			}, uid("all")...)
			emit(p, overtake.FlatMap(all, func(w overtake.Windowed[int64, high], out overtake.Collector[offer]) {
				for _, o := range w.Value.Bids {
					out.Collect(o)
				}
			}), rows)
		},
		loop: func(g *Generator, t *Tally) {
			found := map[int64]*high{}
			g.eachBid(func(b *Bid) {
				start := b.Time - b.Time%window.Milliseconds()
				if found[start] == nil {
					found[start] = &high{}
				}
				o, _ := passed(b)
				found[start].take(o)
			})
			for _, h := range found {
				for _, o := range h.Bids {
					addRow(t, rows, o)
				}
			}
		},
	}
}

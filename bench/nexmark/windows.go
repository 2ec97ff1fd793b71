package nexmark

import (
	"errors"

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
			self := func(a uint64) uint64 { return a }
			// A bid is counted once, in a pane as long as the slide. Panes, whose time is their
			// last moment, add up to windows.
			panes := overtake.Window(overtake.KeyBy(of, self), overtake.Tumbling(slide), overtake.Aggregator[uint64, int64, int64]{
				Add:    func(n *int64, _ uint64) { *n++ },
				Result: func(n *int64) int64 { return *n },
			}, uid("panes")...)
			counts := overtake.Window(overtake.KeyBy(panes, func(c counted) uint64 { return c.Key }), overtake.Sliding(window, slide), overtake.Aggregator[counted, int64, int64]{
				Add:    func(n *int64, c counted) { *n += c.Value },
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

// parts is how many maxima are taken side by side before the one of all.
const parts = 128

// part is a part of the bids of a window.
type part struct {
	Number uint64
	Start  int64
}

func partOf(o offer) part {
	return part{Number: o.Bidder % parts, Start: o.Time - o.Time%window.Milliseconds()}
}

func whole(o offer) part { return part{Start: partOf(o).Start} }

// highest passes on the highest bids of a part, when its window is over.
type highest struct {
	ctx   *overtake.KeyedContext
	price *overtake.ValueState[uint64]
	bids  *overtake.ListState[offer] // with that price
}

// Open implements overtake.Processor.
func (h *highest) Open(ctx *overtake.KeyedContext) (err error) {
	h.ctx = ctx
	if h.price, err = overtake.NewValueState[uint64](ctx, "price"); err != nil {
		return err
	}
	h.bids, err = overtake.NewListState[offer](ctx, "bids")
	return err
}

// Process implements overtake.Processor.
func (h *highest) Process(key part, o offer, _ overtake.Collector[offer]) error {
	price, found, err := h.price.Get()
	if err != nil || found && o.Price < price {
		return err
	}
	if !found || o.Price > price {
		if err := errors.Join(h.price.Set(o.Price), h.bids.Clear(), h.ctx.SetTimer(key.Start+window.Milliseconds()-1)); err != nil {
			return err
		}
	}
	return h.bids.Add(o)
}

// OnTimer implements overtake.TimerProcessor.
func (h *highest) OnTimer(_ part, _ int64, out overtake.Collector[offer]) error {
	err := h.bids.Each(func(o offer) bool {
		out.Collect(o)
		return true
	})
	return errors.Join(err, h.bids.Clear(), h.price.Clear())
}

func highestBids() Query {
	rows := func(t *Tally, o offer) {
		t.number(o.Auction)
		t.number(o.Price)
		t.number(o.Bidder)
		t.number(uint64(o.Time))
		t.string(o.Text)
	}
	factory := func() overtake.Processor[part, offer, offer] { return &highest{} }
	return Query{
		Name: "q7", About: "finds the highest bids of each 10 s", Columns: []string{"auction", "price", "bidder", "dateTime", "extra"},
		build: func(p *plan) {
			offers := overtake.Map(bidsOf(p.timed()), func(b *Bid) offer { o, _ := passed(b); return o })
			some := overtake.Process(overtake.KeyBy(offers, partOf), factory, uid("some")...)
			emit(p, overtake.Process(overtake.KeyBy(some, whole), factory, uid("all")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			type high struct {
				price uint64
				bids  []offer
			}
			found := map[int64]*high{}
			g.eachBid(func(b *Bid) {
				start := b.Time - b.Time%window.Milliseconds()
				h := found[start]
				if h == nil {
					h = &high{}
					found[start] = h
				}
				if b.Price > h.price {
					h.price, h.bids = b.Price, h.bids[:0]
				}
				if b.Price == h.price {
					o, _ := passed(b)
					h.bids = append(h.bids, o)
				}
			})
			for _, h := range found {
				for _, o := range h.bids {
					addRow(t, rows, o)
				}
			}
		},
	}
}

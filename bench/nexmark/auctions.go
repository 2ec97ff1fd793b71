package nexmark

import (
	"cmp"
	"slices"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/statecow"
)

func auctions() []Query { return []Query{categoryAverages(), sellerAverages(), winners()} }

// better says which of two bids for an auction wins: the higher, of those the earlier,
// and then whichever can be told from the other.
func better(a, b *Bid) bool {
	return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(b.Time, a.Time), cmp.Compare(b.Bidder, a.Bidder), cmp.Compare(b.Extra, a.Extra)) > 0
}

// during reports whether a bid comes while an auction is open.
func during(b *Bid, a *Auction) bool { return b.Time >= a.Time && b.Time <= a.Expires }

// closer passes on each auction with the bid that has won it, once event time has passed
// the auction's end.
//
// A bid that comes before its auction waits until event time has passed the bid: an
// auction that is not there by then begins after it, or is over.
type closer struct {
	ctx     *overtake.KeyedContext
	auction *overtake.ValueState[Auction]
	best    *overtake.ValueState[Bid]
	waiting *overtake.ListState[Bid]
	kept    []byte // scratch: an auction, which the state lends until it is read again
}

// Open implements overtake.Processor.
func (c *closer) Open(ctx *overtake.KeyedContext) (err error) {
	c.ctx = ctx
	if c.auction, err = statecow.NewValueState(ctx.States(), "auction", AuctionCodec{}, overtake.TTL{}); err != nil {
		return err
	}
	if c.best, err = statecow.NewValueState(ctx.States(), "best", BidCodec{}, overtake.TTL{}); err != nil {
		return err
	}
	c.waiting, err = statecow.NewListState(ctx.States(), "waiting", BidCodec{}, overtake.TTL{})
	return err
}

// Process implements overtake.Processor.
func (c *closer) Process(_ uint64, l lot, _ overtake.Collector[lot]) error {
	if l.Kind == AuctionKind {
		return c.begin(&l.Auction)
	}
	b := &l.Bid
	a, ok, err := c.auction.Get()
	switch {
	case err != nil:
		return err
	case ok && !during(b, &a) || !ok && b.Time <= c.ctx.Watermark:
		return nil
	case !ok:
		if err := c.waiting.Add(*b); err != nil {
			return err
		}
		return c.ctx.SetTimer(b.Time)
	}
	best, ok, err := c.best.Get()
	if err != nil || ok && !better(b, &best) {
		return err
	}
	return c.best.Set(*b)
}

// begin takes an auction, and the bids that came before it.
func (c *closer) begin(a *Auction) error {
	if err := c.auction.Set(*a); err != nil {
		return err
	}
	if err := c.ctx.SetTimer(a.Expires); err != nil {
		return err
	}
	var best Bid
	found := false
	if err := c.waiting.Each(func(b Bid) bool {
		if during(&b, a) && (!found || better(&b, &best)) {
			best, found = b, true
		}
		return true
	}); err != nil {
		return err
	}
	if found {
		if err := c.best.Set(best); err != nil {
			return err
		}
	}
	return c.waiting.Clear()
}

// OnTimer implements overtake.TimerProcessor.
func (c *closer) OnTimer(_ uint64, at int64, out overtake.Collector[lot]) error {
	a, ok, err := c.auction.Get()
	if err != nil || ok && a.Expires != at {
		return err
	}
	if !ok {
		return c.forget(at)
	}
	c.kept = AuctionCodec{}.Append(c.kept[:0], a)
	l := lot{Kind: AuctionKind}
	if l.Auction, err = (AuctionCodec{}).Decode(c.kept); err != nil {
		return err
	}
	if l.Bid, ok, err = c.best.Get(); err != nil {
		return err
	}
	if ok {
		out.Collect(l)
		if err := c.best.Clear(); err != nil {
			return err
		}
	}
	return c.auction.Clear()
}

// forget drops the bids that wait in vain, when the last of them does.
func (c *closer) forget(at int64) error {
	last := true
	if err := c.waiting.Each(func(b Bid) bool {
		last = b.Time <= at
		return last
	}); err != nil || !last {
		return err
	}
	return c.waiting.Clear()
}

// closed are the auctions that have been won, with the bids that have.
func closed(p *plan, texts bool) overtake.Stream[lot] {
	lots := overtake.KeyBy(lotsOf(p.timed(), texts), lotID)
	return overtake.Process(lots, func() overtake.Processor[uint64, lot, lot] { return &closer{} },
		append(uid("close"), overtake.WithCodec[lot](wonCodec{}))...)
}

// wonCodec encodes an auction and its bid.
type wonCodec struct{}

// Append implements operators.Codec.
func (wonCodec) Append(dst []byte, l lot) []byte {
	n := len(dst)
	dst = AuctionCodec{}.Append(append(dst, 0, 0, 0, 0), l.Auction)
	le.PutUint32(dst[n:], uint32(len(dst)-n-4))
	return BidCodec{}.Append(dst, l.Bid)
}

// Decode implements operators.Codec.
func (wonCodec) Decode(src []byte) (l lot, err error) {
	l.Kind = AuctionKind
	if err := short(src, 4); err != nil {
		return l, err
	}
	n := 4 + int(le.Uint32(src))
	if err := short(src, n); err != nil {
		return l, err
	}
	if l.Auction, err = (AuctionCodec{}).Decode(src[4:n]); err != nil {
		return l, err
	}
	l.Bid, err = BidCodec{}.Decode(src[n:])
	return l, err
}

// Fingerprint implements operators.Codec.
func (wonCodec) Fingerprint() uint64 { return 0x4E584D574F4E0001 }

// closeByHand finds what closed does.
func closeByHand(g *Generator, f func(a *Auction, b *Bid)) {
	open, best, early := map[uint64]*Auction{}, map[uint64]Bid{}, map[uint64][]Bid{}
	offer := func(a *Auction, b *Bid) {
		if old, ok := best[a.ID]; during(b, a) && (!ok || better(b, &old)) {
			best[a.ID] = *b
		}
	}
	g.each(func(e *Event) {
		switch e.Kind {
		case AuctionKind:
			a := e.Auction
			open[a.ID] = &a
			for _, b := range early[a.ID] {
				offer(&a, &b)
			}
			delete(early, a.ID)
		case BidKind:
			if a := open[e.Bid.Auction]; a != nil {
				offer(a, &e.Bid)
			} else {
				early[e.Bid.Auction] = append(early[e.Bid.Auction], e.Bid)
			}
		}
	})
	for id, b := range best {
		f(open[id], &b)
	}
}

func winners() Query {
	rows := func(t *Tally, l lot) {
		t.number(l.Auction.ID)
		foldAuction(t, &l.Auction)
		foldBid(t, &l.Bid)
	}
	return Query{
		Name: "q9", About: "finds the bids that win",
		Columns: []string{"id", "itemName", "description", "initialBid", "reserve", "A.dateTime", "expires", "seller", "category", "A.extra",
			"auction", "bidder", "price", "channel", "url", "B.dateTime", "B.extra"},
		build: func(p *plan) { emit(p, closed(p, true), rows) },
		loop: func(g *Generator, t *Tally) {
			closeByHand(g, func(a *Auction, b *Bid) { addRow(t, rows, lot{Auction: *a, Bid: *b}) })
		},
	}
}

// mean is an average: of a category's or seller's prices.
type mean struct{ Of, Sum, Count uint64 }

func foldMean(t *Tally, m mean) {
	t.number(m.Of)
	t.number(m.Sum / m.Count)
}

func categoryAverages() Query {
	type acc struct{ Now, Before mean }
	return Query{
		Name: "q4", About: "averages the prices of what is sold, by category", Columns: []string{"category", "avg"},
		build: func(p *plan) {
			byCategory := overtake.KeyBy(closed(p, false), func(l lot) uint64 { return l.Auction.Category })
			means := overtake.Aggregate(byCategory, overtake.Aggregator[lot, acc, change[mean]]{
				Add: func(a *acc, l lot) {
					a.Before = a.Now
					a.Now = mean{l.Auction.Category, a.Now.Sum + l.Bid.Price, a.Now.Count + 1}
				},
				Result: func(a *acc) change[mean] { return change[mean]{New: a.Now, Old: a.Before, Had: a.Before.Count > 0} },
			}, uid("average")...)
			emitChanges(p, overtake.Map(means, func(m overtake.Pair[uint64, change[mean]]) change[mean] { return m.Value }), foldMean)
		},
		loop: func(g *Generator, t *Tally) {
			means := map[uint64]mean{}
			closeByHand(g, func(a *Auction, b *Bid) {
				m := means[a.Category]
				means[a.Category] = mean{a.Category, m.Sum + b.Price, m.Count + 1}
			})
			for _, m := range means {
				addRow(t, foldMean, m)
			}
		},
	}
}

// sold is what an auction brought.
type sold struct {
	Expires         int64
	Auction, Seller uint64
	Price           uint64
}

func bySale(a, b sold) int {
	return cmp.Or(cmp.Compare(a.Expires, b.Expires), cmp.Compare(a.Auction, b.Auction))
}

// lastSales is how many sales of a seller count.
const lastSales = 10

func meanOf(list []sold) (m mean) {
	for _, s := range list {
		m = mean{s.Seller, m.Sum + s.Price, m.Count + 1}
	}
	return m
}

// recent averages the last sales of a seller.
type recent struct {
	state *overtake.ValueState[[]sold]
	list  []sold // scratch
}

// Open implements overtake.Processor.
func (r *recent) Open(ctx *overtake.KeyedContext) (err error) {
	r.state, err = overtake.NewValueState[[]sold](ctx, "sales")
	return err
}

// Process implements overtake.Processor.
func (r *recent) Process(_ uint64, s sold, out overtake.Collector[change[mean]]) error {
	old, had, err := r.state.Get()
	if err != nil {
		return err
	}
	before := meanOf(old)
	at, _ := slices.BinarySearchFunc(old, s, bySale)
	r.list = append(append(append(r.list[:0], old[:at]...), s), old[at:]...)
	if extra := len(r.list) - lastSales; extra > 0 {
		r.list = slices.Delete(r.list, 0, extra)
	}
	out.Collect(change[mean]{New: meanOf(r.list), Old: before, Had: had})
	return r.state.Set(r.list)
}

func sellerAverages() Query {
	return Query{
		Name: "q6", About: "averages the last ten prices of each seller", Columns: []string{"seller", "avg"},
		build: func(p *plan) {
			sales := overtake.Map(closed(p, false), func(l lot) sold {
				return sold{l.Auction.Expires, l.Auction.ID, l.Auction.Seller, l.Bid.Price}
			})
			bySeller := overtake.KeyBy(sales, func(s sold) uint64 { return s.Seller })
			emitChanges(p, overtake.Process(bySeller, func() overtake.Processor[uint64, sold, change[mean]] { return &recent{} }, uid("average")...), foldMean)
		},
		loop: func(g *Generator, t *Tally) {
			sales := map[uint64][]sold{}
			closeByHand(g, func(a *Auction, b *Bid) {
				sales[a.Seller] = append(sales[a.Seller], sold{a.Expires, a.ID, a.Seller, b.Price})
			})
			for _, list := range sales {
				slices.SortFunc(list, bySale)
				addRow(t, foldMean, meanOf(list[max(0, len(list)-lastSales):]))
			}
		},
	}
}

package nexmark

import (
	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/statecow"
)

func joins() []Query { return []Query{localSellers(), newSellers(), categoryBids()} }

// party is a person, or the seller of an auction.
type party struct {
	ID                uint64 // of the person
	Seller            bool
	Auction           uint64 // of a seller
	Name, City, State string // of a person
}

func partyID(p party) uint64 { return p.ID }

// sale is an auction with its seller.
type sale struct {
	Name, City, State string
	Auction           uint64
}

// wanted are what q3 joins.
func wanted(e *Event) (p party, ok bool) {
	switch e.Kind {
	case PersonKind:
		s := e.Person.State
		return party{ID: e.Person.ID, Name: e.Person.Name, City: e.Person.City, State: s}, s == "OR" || s == "ID" || s == "CA"
	case AuctionKind:
		return party{ID: e.Auction.Seller, Seller: true, Auction: e.Auction.ID}, e.Auction.Category == firstCategory
	}
	return p, false
}

func localSellers() Query {
	rows := func(t *Tally, s sale) {
		t.string(s.Name)
		t.string(s.City)
		t.string(s.State)
		t.number(s.Auction)
	}
	return Query{
		Name: "q3", About: "joins auctions of a category with sellers from three states", Columns: []string{"name", "city", "state", "id"},
		build: func(p *plan) {
			parties := overtake.FlatMap(p.events, func(e *Event, out overtake.Collector[party]) {
				if v, ok := wanted(e); ok {
					out.Collect(v)
				}
			}, overtake.WithName("parties"))
			emit(p, overtake.Process(overtake.KeyBy(parties, partyID), func() overtake.Processor[uint64, party, sale] { return &sellers{} }, uid("join")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			people, waiting := map[uint64]Person{}, map[uint64][]uint64{}
			g.each(func(e *Event) {
				v, ok := wanted(e)
				switch {
				case !ok:
				case !v.Seller:
					people[v.ID] = e.Person
					for _, a := range waiting[v.ID] {
						addRow(t, rows, sale{v.Name, v.City, v.State, a})
					}
				default:
					if w, ok := people[v.ID]; ok {
						addRow(t, rows, sale{w.Name, w.City, w.State, v.Auction})
					} else {
						waiting[v.ID] = append(waiting[v.ID], v.Auction)
					}
				}
			})
		},
	}
}

// sellers joins the auctions of a seller with the person.
type sellers struct {
	person   *overtake.ValueState[party]
	auctions *overtake.ListState[uint64] // that came before the person
}

// Open implements overtake.Processor.
func (s *sellers) Open(ctx *overtake.KeyedContext) (err error) {
	if s.person, err = overtake.NewValueState[party](ctx, "person"); err != nil {
		return err
	}
	s.auctions, err = overtake.NewListState[uint64](ctx, "auctions")
	return err
}

// Process implements overtake.Processor.
func (s *sellers) Process(_ uint64, v party, out overtake.Collector[sale]) error {
	if !v.Seller {
		if err := s.person.Set(v); err != nil {
			return err
		}
		if err := s.auctions.Each(func(auction uint64) bool {
			out.Collect(sale{v.Name, v.City, v.State, auction})
			return true
		}); err != nil {
			return err
		}
		return s.auctions.Clear()
	}
	p, ok, err := s.person.Get()
	if err != nil {
		return err
	}
	if !ok {
		return s.auctions.Add(v.Auction)
	}
	out.Collect(sale{p.Name, p.City, p.State, v.Auction})
	return nil
}

// presence is what a window has of a person.
type presence struct {
	Name         string
	Came, Seller bool
}

func newSellers() Query {
	type row = overtake.Windowed[uint64, presence]
	rows := func(t *Tally, r row) {
		t.number(r.Key)
		t.string(r.Value.Name)
		t.number(uint64(r.Start))
	}
	return Query{
		Name: "q8", About: "finds people who sell in the 10 s window in which they came", Columns: []string{"id", "name", "starttime"},
		build: func(p *plan) {
			parties := overtake.FlatMap(p.timed(), func(e *Event, out overtake.Collector[party]) {
				switch e.Kind {
				case PersonKind:
					out.Collect(party{ID: e.Person.ID, Name: e.Person.Name})
				case AuctionKind:
					out.Collect(party{ID: e.Auction.Seller, Seller: true})
				}
			}, overtake.WithName("parties"))
			both := overtake.Window(overtake.KeyBy(parties, partyID), overtake.Tumbling(window), overtake.Aggregator[party, presence, presence]{
				Add: func(acc *presence, v party) {
					if v.Seller {
						acc.Seller = true
					} else {
						acc.Name, acc.Came = v.Name, true
					}
				},
				Result: func(acc *presence) presence { return *acc },
			}, uid("windows")...)
			emit(p, both.Filter(func(r row) bool { return r.Value.Came && r.Value.Seller }), rows)
		},
		loop: func(g *Generator, t *Tally) {
			type key struct {
				id    uint64
				start int64
			}
			found := map[key]*presence{}
			at := func(id uint64, time int64) *presence {
				k := key{id, time - time%window.Milliseconds()}
				if found[k] == nil {
					found[k] = &presence{}
				}
				return found[k]
			}
			g.each(func(e *Event) {
				switch e.Kind {
				case PersonKind:
					p := at(e.Person.ID, e.Person.Time)
					p.Name, p.Came = e.Person.Name, true
				case AuctionKind:
					at(e.Auction.Seller, e.Auction.Time).Seller = true
				}
			})
			for k, p := range found {
				if p.Came && p.Seller {
					addRow(t, rows, row{Key: k.id, Start: k.start, Value: *p})
				}
			}
		},
	}
}

// lot is an auction, or a bid for one.
type lot struct {
	Kind    Kind
	Auction Auction
	Bid     Bid
}

func lotID(l lot) uint64 {
	if l.Kind == AuctionKind {
		return l.Auction.ID
	}
	return l.Bid.Auction
}

// lotCodec encodes as EventCodec does.
type lotCodec struct{}

// Append implements operators.Codec.
func (lotCodec) Append(dst []byte, l lot) []byte {
	dst = append(dst, byte(l.Kind))
	if l.Kind == AuctionKind {
		return AuctionCodec{}.Append(dst, l.Auction)
	}
	return BidCodec{}.Append(dst, l.Bid)
}

// Decode implements operators.Codec.
func (lotCodec) Decode(src []byte) (l lot, err error) {
	if err := short(src, 1); err != nil {
		return l, err
	}
	if l.Kind = Kind(src[0]); l.Kind == AuctionKind {
		l.Auction, err = AuctionCodec{}.Decode(src[1:])
	} else {
		l.Bid, err = BidCodec{}.Decode(src[1:])
	}
	return l, err
}

// Fingerprint implements operators.Codec.
func (lotCodec) Fingerprint() uint64 { return 0x4E584D4C4F540001 }

// lotsOf are the auctions and bids among events. Without texts, they are smaller.
func lotsOf(events overtake.Stream[*Event], texts bool) overtake.Stream[lot] {
	return overtake.FlatMap(events, func(e *Event, out overtake.Collector[lot]) {
		l := lot{Kind: e.Kind}
		switch e.Kind {
		case PersonKind:
			return
		case AuctionKind:
			l.Auction = e.Auction
		default:
			l.Bid = e.Bid
		}
		if !texts {
			l.Auction.Item, l.Auction.Description, l.Auction.Extra = "", "", ""
			l.Bid.Channel, l.Bid.URL, l.Bid.Extra = "", "", ""
		}
		out.Collect(l)
	}, overtake.WithName("lots"), overtake.WithCodec[lot](lotCodec{}))
}

func foldBid(t *Tally, b *Bid) {
	t.number(b.Auction)
	t.number(b.Bidder)
	t.number(b.Price)
	t.string(b.Channel)
	t.string(b.URL)
	t.number(uint64(b.Time))
	t.string(b.Extra)
}

func foldAuction(t *Tally, a *Auction) {
	t.string(a.Item)
	t.string(a.Description)
	t.number(a.Initial)
	t.number(a.Reserve)
	t.number(uint64(a.Time))
	t.number(uint64(a.Expires))
	t.number(a.Seller)
	t.number(a.Category)
	t.string(a.Extra)
}

func categoryBids() Query {
	rows := func(t *Tally, l lot) {
		foldBid(t, &l.Bid)
		foldAuction(t, &l.Auction)
	}
	return Query{
		Name: "q20", About: "joins bids with auctions of a category",
		Columns: []string{"auction", "bidder", "price", "channel", "url", "B.dateTime", "B.extra",
			"itemName", "description", "initialBid", "reserve", "A.dateTime", "expires", "seller", "category", "A.extra"},
		build: func(p *plan) {
			lots := overtake.KeyBy(lotsOf(p.events, true), lotID)
			emit(p, overtake.Process(lots, func() overtake.Processor[uint64, lot, lot] { return &expander{} }, uid("join")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			open, waiting := map[uint64]Auction{}, map[uint64][]Bid{}
			g.each(func(e *Event) {
				switch e.Kind {
				case AuctionKind:
					a := e.Auction
					open[a.ID] = a
					for _, b := range waiting[a.ID] {
						if a.Category == firstCategory {
							addRow(t, rows, lot{Auction: a, Bid: b})
						}
					}
					delete(waiting, a.ID)
				case BidKind:
					a, ok := open[e.Bid.Auction]
					if ok && a.Category == firstCategory {
						addRow(t, rows, lot{Auction: a, Bid: e.Bid})
					} else if !ok {
						waiting[e.Bid.Auction] = append(waiting[e.Bid.Auction], e.Bid)
					}
				}
			})
		},
	}
}

// expander joins the bids for an auction with it, if it is of the category. Of others it
// only remembers that they are there, so that no bid waits for them.
type expander struct {
	auction *overtake.ValueState[Auction]
	bids    *overtake.ListState[Bid] // that came before the auction
}

// Open implements overtake.Processor.
func (x *expander) Open(ctx *overtake.KeyedContext) (err error) {
	if x.auction, err = statecow.NewValueState(ctx.States(), "auction", AuctionCodec{}, overtake.TTL{}); err != nil {
		return err
	}
	x.bids, err = statecow.NewListState(ctx.States(), "bids", BidCodec{}, overtake.TTL{})
	return err
}

// Process implements overtake.Processor.
func (x *expander) Process(_ uint64, l lot, out overtake.Collector[lot]) error {
	if l.Kind == BidKind {
		a, ok, err := x.auction.Get()
		switch {
		case err != nil:
			return err
		case !ok:
			return x.bids.Add(l.Bid)
		case a.Category == firstCategory:
			l.Auction = a
			out.Collect(l)
		}
		return nil
	}
	a := l.Auction
	if a.Category != firstCategory {
		if err := x.auction.Set(Auction{ID: a.ID, Category: a.Category}); err != nil {
			return err
		}
		return x.bids.Clear()
	}
	if err := x.bids.Each(func(b Bid) bool {
		out.Collect(lot{Kind: BidKind, Auction: a, Bid: b})
		return true
	}); err != nil {
		return err
	}
	if err := x.auction.Set(a); err != nil {
		return err
	}
	return x.bids.Clear()
}

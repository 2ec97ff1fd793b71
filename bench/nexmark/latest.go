package nexmark

import (
	"cmp"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/statecow"
)

func latest() []Query { return []Query{lastBids(), topBids()} }

var bidColumns = []string{"auction", "bidder", "price", "channel", "url", "dateTime", "extra"}

// pair is who bids for what.
type pair struct{ Bidder, Auction uint64 }

func pairOf(b Bid) pair { return pair{b.Bidder, b.Auction} }

// later says which of two bids of a pair is the last one: if their times are the same,
// whichever can be told from the other.
func later(a, b *Bid) bool {
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Price, b.Price), strings.Compare(a.Extra, b.Extra), strings.Compare(a.URL, b.URL)) > 0
}

// last keeps the last bid of a pair.
type last struct {
	bid *overtake.ValueState[Bid]
}

// Open implements overtake.Processor.
func (l *last) Open(ctx *overtake.KeyedContext) (err error) {
	l.bid, err = statecow.NewValueState(ctx.States(), "bid", BidCodec{}, overtake.TTL{})
	return err
}

// Process implements overtake.Processor.
func (l *last) Process(_ pair, b Bid, out overtake.Collector[change[Bid]]) error {
	old, had, err := l.bid.Get()
	if err != nil || had && !later(&b, &old) {
		return err
	}
	out.Collect(change[Bid]{New: b, Old: old, Had: had})
	return l.bid.Set(b)
}

func copyBid(b *Bid) Bid { return *b }

func lastBids() Query {
	rows := func(t *Tally, b Bid) { foldBid(t, &b) }
	return Query{
		Name: "q18", About: "keeps the last bid of each bidder for each auction", Columns: bidColumns,
		build: func(p *plan) {
			bids := overtake.Map(bidsOf(p.events), copyBid, overtake.WithCodec[Bid](BidCodec{}))
			emitChanges(p, overtake.Process(overtake.KeyBy(bids, pairOf), func() overtake.Processor[pair, Bid, change[Bid]] { return &last{} }, uid("last")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			found := map[pair]Bid{}
			g.eachBid(func(b *Bid) {
				k := pairOf(*b)
				if old, ok := found[k]; !ok || later(b, &old) {
					found[k] = *b
				}
			})
			for _, b := range found {
				addRow(t, rows, b)
			}
		},
	}
}

// topCount is how many bids of an auction are kept.
const topCount = 10

// ranked is a bid and its place among those for the auction, from 1.
type ranked struct {
	Bid  Bid
	Rank int
}

// top keeps the highest bids of an auction in one value: their encodings, the highest
// first, each behind its length in 4 bytes.
type top struct {
	state *overtake.ValueState[[]byte]

	bids []Bid  // scratch: those kept, views into the state
	next []byte // scratch: the value to be stored
}

// Open implements overtake.Processor.
func (k *top) Open(ctx *overtake.KeyedContext) (err error) {
	k.state, err = overtake.NewValueState[[]byte](ctx, "top")
	return err
}

// Process implements overtake.Processor.
func (k *top) Process(_ uint64, b Bid, out overtake.Collector[change[ranked]]) error {
	stored, _, err := k.state.Get()
	if err != nil {
		return err
	}
	if k.bids, err = decodeBids(k.bids[:0], stored); err != nil {
		return err
	}
	at := len(k.bids)
	for at > 0 && better(&b, &k.bids[at-1]) {
		at--
	}
	if at == topCount {
		return nil
	}
	k.bids = slices.Insert(k.bids, at, b)
	for i := at; i < min(len(k.bids), topCount); i++ {
		c := change[ranked]{New: ranked{k.bids[i], i + 1}}
		if i+1 < len(k.bids) { // who was there has gone down
			c.Old, c.Had = ranked{k.bids[i+1], i + 1}, true
		}
		out.Collect(c)
	}
	k.next = k.next[:0]
	for _, b := range k.bids[:min(len(k.bids), topCount)] {
		n := len(k.next)
		k.next = BidCodec{}.Append(append(k.next, 0, 0, 0, 0), b)
		le.PutUint32(k.next[n:], uint32(len(k.next)-n-4))
	}
	return k.state.Set(k.next)
}

func decodeBids(list []Bid, b []byte) ([]Bid, error) {
	for len(b) > 0 {
		if err := short(b, 4); err != nil {
			return list, err
		}
		n := 4 + int(le.Uint32(b))
		if err := short(b, n); err != nil {
			return list, err
		}
		bid, err := BidCodec{}.Decode(b[4:n])
		if err != nil {
			return list, err
		}
		list, b = append(list, bid), b[n:]
	}
	return list, nil
}

func topBids() Query {
	rows := func(t *Tally, r ranked) {
		foldBid(t, &r.Bid)
		t.number(uint64(r.Rank))
	}
	return Query{
		Name: "q19", About: "keeps the ten highest bids for each auction", Columns: append(slices.Clone(bidColumns), "rank_number"),
		build: func(p *plan) {
			bids := overtake.Map(bidsOf(p.events), copyBid, overtake.WithCodec[Bid](BidCodec{}))
			byAuction := overtake.KeyBy(bids, func(b Bid) uint64 { return b.Auction })
			emitChanges(p, overtake.Process(byAuction, func() overtake.Processor[uint64, Bid, change[ranked]] { return &top{} }, uid("top")...), rows)
		},
		loop: func(g *Generator, t *Tally) {
			found := map[uint64][]Bid{}
			g.eachBid(func(b *Bid) {
				list := found[b.Auction]
				at := len(list)
				for at > 0 && better(b, &list[at-1]) {
					at--
				}
				if at < topCount {
					list = slices.Insert(list, at, *b)
					found[b.Auction] = list[:min(len(list), topCount)]
				}
			})
			for _, list := range found {
				for i, b := range list {
					addRow(t, rows, ranked{b, i + 1})
				}
			}
		},
	}
}

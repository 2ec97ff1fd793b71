package nexmark

import (
	"strconv"
	"strings"

	"github.com/overtake-stream/overtake"
)

// offer is what most queries want of a bid. Price is in cents or, converted, in
// thousandths of one.
type offer struct {
	Auction, Bidder, Price uint64
	Time                   int64
	Text, More             string
	Number                 uint64
}

// The conversion of prices: dollars to euros, in thousandths.
const (
	euros     = 908
	thousand  = 1000
	sideTable = 10_000
)

func stateless() []Query {
	return []Query{
		passThrough(),
		perBid("q1", "converts prices", "auction,bidder,price*908,dateTime,extra", converted,
			func(t *Tally, o offer) { base(t, o); t.string(o.Text) }),
		perBid("q2", "selects bids by auction", "auction,price", selected,
			func(t *Tally, o offer) { t.number(o.Auction); t.number(o.Price) }),
		perBid("q13", "looks up bids in a side table", "auction,bidder,price,dateTime,value", lookedUp(),
			func(t *Tally, o offer) { base(t, o); t.string(o.Text) }),
		perBid("q14", "filters and calculates", "auction,bidder,price*908,bidTimeType,dateTime,extra,c_counts", calculated, func(t *Tally, o offer) {
			t.number(o.Auction)
			t.number(o.Bidder)
			t.number(o.Price)
			t.string(o.More)
			t.number(uint64(o.Time))
			t.string(o.Text)
			t.number(o.Number)
		}),
		perBid("q21", "adds the channel's id", "auction,bidder,price,channel,channel_id", identified, func(t *Tally, o offer) {
			t.number(o.Auction)
			t.number(o.Bidder)
			t.number(o.Price)
			t.string(o.Text)
			t.string(o.More)
		}),
		directories(),
	}
}

func base(t *Tally, o offer) {
	t.number(o.Auction)
	t.number(o.Bidder)
	t.number(o.Price)
	t.number(uint64(o.Time))
}

// perBid is a query that makes one row, or none, of a bid.
func perBid(name, about, columns string, f func(b *Bid) (offer, bool), rows fold[offer]) Query {
	return Query{
		Name: name, About: about, Columns: strings.Split(columns, ","),
		build: func(p *plan) {
			emit(p, overtake.FlatMap(p.events, func(e *Event, out overtake.Collector[offer]) {
				if e.Kind != BidKind {
					return
				}
				if o, ok := f(&e.Bid); ok {
					out.Collect(o)
				}
			}, overtake.WithName(name)), rows)
		},
		loop: func(g *Generator, t *Tally) {
			g.eachBid(func(b *Bid) {
				if o, ok := f(b); ok {
					addRow(t, rows, o)
				}
			})
		},
	}
}

func passThrough() Query {
	rows := func(t *Tally, b *Bid) {
		t.number(b.Auction)
		t.number(b.Bidder)
		t.number(b.Price)
		t.number(uint64(b.Time))
		t.string(b.Extra)
	}
	return Query{
		Name: "q0", About: "passes on all bids", Columns: []string{"auction", "bidder", "price", "dateTime", "extra"},
		build: func(p *plan) { emit(p, bidsOf(p.events), rows) },
		loop:  func(g *Generator, t *Tally) { g.eachBid(func(b *Bid) { addRow(t, rows, b) }) },
	}
}

func passed(b *Bid) (offer, bool) {
	return offer{Auction: b.Auction, Bidder: b.Bidder, Price: b.Price, Time: b.Time, Text: b.Extra}, true
}

func converted(b *Bid) (offer, bool) {
	return offer{Auction: b.Auction, Bidder: b.Bidder, Price: b.Price * euros, Time: b.Time, Text: b.Extra}, true
}

func selected(b *Bid) (offer, bool) {
	return offer{Auction: b.Auction, Price: b.Price}, b.Auction%123 == 0
}

// lookedUp joins with a table that all subtasks share: key k has the value "k".
func lookedUp() func(b *Bid) (offer, bool) {
	table := make([]string, sideTable)
	for i := range table {
		table[i] = strconv.Itoa(i)
	}
	return func(b *Bid) (offer, bool) {
		return offer{Auction: b.Auction, Bidder: b.Bidder, Price: b.Price, Time: b.Time, Text: table[b.Auction%sideTable]}, true
	}
}

func calculated(b *Bid) (o offer, ok bool) {
	price := b.Price * euros
	if price <= 1_000_000*thousand || price >= 50_000_000*thousand {
		return o, false
	}
	when := "otherTime"
	switch hour := b.Time / (60 * 60 * 1000) % 24; {
	case hour >= 8 && hour <= 18:
		when = "dayTime"
	case hour <= 6 || hour >= 20:
		when = "nightTime"
	}
	return offer{
		Auction: b.Auction, Bidder: b.Bidder, Price: price, Time: b.Time, Text: b.Extra, More: when,
		Number: uint64(strings.Count(b.Extra, "c")),
	}, true
}

func identified(b *Bid) (o offer, ok bool) {
	id, ok := channelID(b.Channel, b.URL)
	return offer{Auction: b.Auction, Bidder: b.Bidder, Price: b.Price, Text: b.Channel, More: id}, ok
}

// channelID is a number by name or, failing that, what the regular expression
// (&|^)channel_id=([^&]*) finds in the URL.
func channelID(name, url string) (string, bool) {
	switch {
	case strings.EqualFold(name, "apple"):
		return "0", true
	case strings.EqualFold(name, "google"):
		return "1", true
	case strings.EqualFold(name, "facebook"):
		return "2", true
	case strings.EqualFold(name, "baidu"):
		return "3", true
	}
	const key = "channel_id="
	id, found := strings.CutPrefix(url, key)
	if !found {
		_, id, found = strings.Cut(url, "&"+key)
	}
	id, _, _ = strings.Cut(id, "&")
	return id, found
}

// located is a bid with the folders of its URL.
type located struct {
	Auction, Bidder, Price uint64
	Channel                string
	Folders                [3]string
}

func directories() Query {
	rows := func(t *Tally, l located) {
		t.number(l.Auction)
		t.number(l.Bidder)
		t.number(l.Price)
		t.string(l.Channel)
		for _, f := range l.Folders {
			t.string(f)
		}
	}
	of := func(b *Bid) located {
		return located{Auction: b.Auction, Bidder: b.Bidder, Price: b.Price, Channel: b.Channel, Folders: folders(b.URL)}
	}
	return Query{
		Name: "q22", About: "splits URLs", Columns: []string{"auction", "bidder", "price", "channel", "dir1", "dir2", "dir3"},
		build: func(p *plan) { emit(p, overtake.Map(bidsOf(p.events), of, overtake.WithName("q22")), rows) },
		loop:  func(g *Generator, t *Tally) { g.eachBid(func(b *Bid) { addRow(t, rows, of(b)) }) },
	}
}

// folders are the parts 3, 4 and 5, from 0, between the slashes of a URL.
func folders(url string) (list [3]string) {
	for i := range 6 {
		part, rest, _ := strings.Cut(url, "/")
		if i >= 3 {
			list[i-3] = part
		}
		url = rest
	}
	return list
}

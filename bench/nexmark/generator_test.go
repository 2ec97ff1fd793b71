package nexmark_test

import (
	"math"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench/nexmark"
)

func generator(t testing.TB, o nexmark.Options) *nexmark.Generator {
	t.Helper()
	g, err := nexmark.NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// near fails unless a share is as expected, within what chance may do to n draws.
func near(t *testing.T, what string, hits, n int, want float64) {
	t.Helper()
	got := float64(hits) / float64(n)
	if limit := 5 * math.Sqrt(want*(1-want)/float64(n)); math.Abs(got-want) > limit+1e-9 {
		t.Errorf("%s: %.4f of %d, want %.4f ± %.4f", what, got, n, want, limit)
	}
}

func TestSharesOfEverything(t *testing.T) {
	const n = 500_000
	g := generator(t, nexmark.Options{Events: n})
	var e nexmark.Event
	var kinds [3]int
	var sizes [3]float64
	var hotBid, hotBidder, hotSeller, hotChannel, withID, cold, category int
	prices := [6]int{}
	for i := range uint64(n) {
		g.Event(i, &e)
		kinds[e.Kind]++
		sizes[e.Kind] += float64(e.Size())
		epoch := i / 50
		switch e.Kind {
		case nexmark.AuctionKind:
			if e.Auction.Seller == 1000+epoch/100*100 {
				hotSeller++
			}
			if e.Auction.Category == 12 {
				category++
			}
		case nexmark.BidKind:
			last := 3*epoch + 2
			if e.Bid.Auction == 1000+last/100*100 {
				hotBid++
			}
			if e.Bid.Bidder == 1001+epoch/100*100 {
				hotBidder++
			}
			if strings.HasPrefix(e.Bid.Channel, "channel-") {
				cold++
				if strings.Contains(e.Bid.URL, "&channel_id=") {
					withID++
				}
			} else if e.Bid.Channel == "Baidu" {
				hotChannel++
			}
			prices[min(5, int(math.Log10(float64(e.Bid.Price)/100)))]++
		}
	}
	if kinds != [3]int{n / 50, n / 50 * 3, n / 50 * 46} {
		t.Errorf("persons, auctions, bids: %v", kinds)
	}
	for k, want := range [3]float64{200, 500, 100} {
		if got := sizes[k] / float64(kinds[k]); math.Abs(got-want) > 0.02*want {
			t.Errorf("kind %d: %.1f bytes, want %.0f", k, got, want)
		}
	}
	bids, auctions := kinds[2], kinds[1]
	// A cold one may be the hot one by chance: one of 111 auctions, of about 1,010 people.
	near(t, "hot auctions", hotBid, bids, 0.5+0.5/111)
	near(t, "hot bidders", hotBidder, bids, 0.75+0.25/1010)
	near(t, "hot sellers", hotSeller, auctions, 0.75+0.25/1010)
	near(t, "cold channels", cold, bids, 0.5)
	near(t, "one hot channel", hotChannel, bids, 0.125)
	near(t, "a category", category, auctions, 0.2)
	for _, c := range prices {
		near(t, "prices of a power of ten", c, bids, 1.0/6)
	}
	if got := float64(withID) / float64(cold); math.Abs(got-0.9) > 0.02 { // of 10,000 channels
		t.Errorf("channels with an id: %.3f, want 0.9", got)
	}
}

func TestPricesAreAPowerOfTen(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 100_000})
	var e nexmark.Event
	logs, n, least, most := 0.0, 0, uint64(math.MaxUint64), uint64(0)
	for i := range uint64(100_000) {
		if g.Event(i, &e); e.Kind == nexmark.BidKind {
			logs += math.Log10(float64(e.Bid.Price))
			least, most = min(least, e.Bid.Price), max(most, e.Bid.Price)
			n++
		}
	}
	if mean := logs / float64(n); math.Abs(mean-5) > 0.03 {
		t.Errorf("mean power %.3f, want 5: from 2 to 8", mean)
	}
	if least < 100 || least > 110 || most > 100_000_000 || most < 95_000_000 {
		t.Errorf("prices from %d to %d", least, most)
	}
}

func TestIdsAndTimes(t *testing.T) {
	const n = 100_000
	g := generator(t, nexmark.Options{Events: n, Rate: 4000})
	var e nexmark.Event
	person, auction := uint64(1000), uint64(1000)
	long := map[bool]int{}
	for i := range uint64(n) {
		g.Event(i, &e)
		if want := 1_436_918_400_000 + int64(i/4); e.Time() != want {
			t.Fatalf("event %d at %d, want %d", i, e.Time(), want)
		}
		if first := g.First(e.Time()); first > i || i-first > 3 {
			t.Fatalf("the first event of the time of %d is %d", i, first)
		}
		switch e.Kind {
		case nexmark.PersonKind:
			if e.Person.ID != person {
				t.Fatalf("event %d: person %d, want %d", i, e.Person.ID, person)
			}
			person++
		case nexmark.AuctionKind:
			a := e.Auction
			if a.ID != auction || a.Reserve < a.Initial+100 || a.Category < 10 || a.Category > 14 {
				t.Fatalf("event %d: %+v, want id %d", i, a, auction)
			}
			auction++
			open := a.Expires - a.Time // from 1 to twice the time of 1,666 events
			if open < 1 || open > 834 || a.Seller < 1000 || a.Seller > person+10 {
				t.Fatalf("event %d: open for %d ms: %+v", i, open, a)
			}
			long[open > 417]++
		case nexmark.BidKind:
			b := e.Bid
			if b.Auction < 1000 || b.Auction >= auction+10 || b.Auction+200 < auction || b.Bidder < 1000 || b.Bidder > person+10 {
				t.Fatalf("event %d: %+v with %d people and %d auctions", i, b, person, auction)
			}
		}
	}
	near(t, "long auctions", long[true], long[true]+long[false], 0.5)
}

func TestGroupsAreMixedAndLagCoversThem(t *testing.T) {
	for _, group := range []uint64{2, 7, 50, 128, 1000} {
		const n = 10_000
		g, straight := generator(t, nexmark.Options{Events: n, Group: group, Rate: 777}), generator(t, nexmark.Options{Events: n, Rate: 777})
		var e nexmark.Event
		want, latest, moved := map[nexmark.Event]int{}, int64(0), 0
		for i := range n / group * group { // whole groups
			straight.Event(i, &e)
			before := clone(&e)
			want[before]++
			g.Event(i, &e)
			want[clone(&e)]--
			if e.Time() != before.Time() {
				moved++
			}
			if latest = max(latest, e.Time()); e.Time() < latest-g.Lag() {
				t.Fatalf("group %d: event %d is %d ms late, and the lag %d", group, i, latest-e.Time(), g.Lag())
			}
		}
		for e, c := range want {
			if c != 0 {
				t.Fatalf("group %d: %+v %d times too few", group, e, c)
			}
		}
		if moved == 0 && 953%group != 1 {
			t.Errorf("group %d: nothing is mixed", group)
		}
	}
}

// clone is what is valid of an event.
func clone(e *nexmark.Event) nexmark.Event {
	c := nexmark.Event{Kind: e.Kind}
	switch e.Kind {
	case nexmark.PersonKind:
		c.Person = e.Person
	case nexmark.AuctionKind:
		c.Auction = e.Auction
	default:
		c.Bid = e.Bid
	}
	return c
}

func TestSeedsDiffer(t *testing.T) {
	a, b, again := generator(t, nexmark.Options{}), generator(t, nexmark.Options{Seed: 1}), generator(t, nexmark.Options{})
	same := 0
	for i := range uint64(1000) {
		var x, y, z nexmark.Event
		a.Event(i, &x)
		b.Event(i, &y)
		again.Event(i, &z)
		if x != z {
			t.Fatalf("event %d differs from itself", i)
		}
		if x == y {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d events do not depend on the seed", same)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for want, o := range map[string]nexmark.Options{
		"Events": {Events: 1 << 41}, "Rate": {Rate: 1e10}, "Group": {Group: 953 * 2}, "Base": {Base: -1}, "Group is": {Group: 1 << 21},
	} {
		if _, err := nexmark.NewGenerator(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want a word about %s", o, err, want)
		}
	}
}

func TestEventsCostNoAllocation(t *testing.T) {
	g := generator(t, nexmark.Options{})
	var e nexmark.Event
	var buf []byte
	n := uint64(0)
	if a := testing.AllocsPerRun(100, func() {
		for range 100 {
			g.Event(n, &e)
			buf = nexmark.EventCodec{}.Append(buf[:0], &e)
			n++
		}
	}); a > 0.5 {
		t.Errorf("%v allocations in 100 events", a)
	}
}

func BenchmarkEvent(b *testing.B) {
	for name, o := range map[string]nexmark.Options{"in order": {Events: 1 << 40}, "mixed": {Events: 1 << 40, Group: 100}} {
		b.Run(name, func(b *testing.B) {
			g := generator(b, o)
			var e nexmark.Event
			for i := range uint64(b.N) {
				g.Event(i, &e)
			}
		})
	}
}

func BenchmarkBidCodec(b *testing.B) {
	g := generator(b, nexmark.Options{})
	var e nexmark.Event
	g.Event(49, &e)
	var buf []byte
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			buf = nexmark.BidCodec{}.Append(buf[:0], e.Bid)
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := (nexmark.BidCodec{}).Decode(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestEventsInMemoryAreTheSame(t *testing.T) {
	for _, group := range []uint64{1, 100} {
		g := generator(t, nexmark.Options{Events: 5000, Group: group})
		m := g.InMemory()
		for _, n := range []uint64{0, 1, 3, 4, 49, 50, 777, 4999} {
			var want, got nexmark.Event
			g.Event(n, &want)
			m.Event(n, &got)
			if got != want {
				t.Fatalf("event %d of groups of %d: %+v, want %+v", n, group, got, want)
			}
		}
	}
}

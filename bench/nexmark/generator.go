package nexmark

// Generator makes events. Event number n is a function of the options and of n alone. A
// Generator is never changed: goroutines may share it.
type Generator struct {
	opts     Options
	text     *tables
	recorded *recorded // nil: events are made
}

// NewGenerator returns the generator of the events that opts describe.
func NewGenerator(opts Options) (*Generator, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	return &Generator{opts: opts, text: newTables(opts.Seed)}, nil
}

// Events is how many there are.
func (g *Generator) Events() uint64 { return g.opts.Events }

// What there is of everything.
const (
	slots         = 50   // one person, three auctions, 46 bids
	firstID       = 1000 // of persons and auctions
	firstCategory = 10
	categories    = 5
	hotEvery      = 100  // one seller, bidder and auction in so many is hot
	activePeople  = 1000 // who sell and bid, besides the hot ones
	openAuctions  = 100  // that bids are for
	ahead         = 10   // ids that do not exist yet
	lifetime      = openAuctions * slots / 3
	mixer         = 953 // mixes the order within a group
)

// Lag is how far an event's time may be behind that of events before it, in
// milliseconds.
func (g *Generator) Lag() int64 {
	if g.opts.Group == 1 {
		return 0
	}
	return int64(g.opts.Group*1000/g.opts.Rate) + 1
}

// id is which event comes as number n.
func (g *Generator) id(n uint64) uint64 {
	k := g.opts.Group
	if k == 1 {
		return n
	}
	return n - n%k + n%k*mixer%k
}

// time is when the event with an id happens, in Unix milliseconds.
func (g *Generator) time(id uint64) int64 {
	return g.opts.Base + int64(id*1_000_000/g.opts.Rate/1000)
}

// First is the number of the first event that is not before a time in Unix milliseconds,
// if the order is not mixed.
func (g *Generator) First(time int64) uint64 {
	t := uint64(max(0, time-g.opts.Base))
	return (t*g.opts.Rate + 999) / 1000
}

// Event makes event number n in e. Its texts are views that stay valid; nothing is
// allocated.
func (g *Generator) Event(n uint64, e *Event) {
	if g.recorded != nil {
		g.recorded.event(n, e)
		return
	}
	id := g.id(n)
	epoch, slot := id/slots, id%slots
	switch {
	case slot > 3:
		e.Kind = BidKind
		g.bid(id, epoch, &e.Bid)
	case slot == 0:
		e.Kind = PersonKind
		g.person(id, epoch, &e.Person)
	default:
		e.Kind = AuctionKind
		g.auction(id, epoch, slot, &e.Auction)
	}
}

func (g *Generator) bid(id, epoch uint64, b *Bid) {
	t, d := g.text, newDraws(g.opts.Seed, id)
	who, what, price := d.next(), d.next(), d.next()
	last := 3*epoch + 2 // auction
	if what>>63 == 0 {
		b.Auction = firstID + last/hotEvery*hotEvery
	} else {
		oldest := max(last, openAuctions) - openAuctions
		b.Auction = firstID + oldest + below(what, last-oldest+1+ahead)
	}
	b.Bidder = someone(who, epoch, 1)
	b.Price = t.prices.draw(price)
	c := &t.hot[who>>34&3]
	if who>>36&1 == 0 {
		c = &t.cold[(who>>37&(1<<25-1))*coldChannels>>25]
	}
	b.Channel, b.URL = c.name, c.url
	b.Time = g.time(id)
	const shortest, more = 54, 28 // as padding has it
	b.Extra = cut(t.letters, what>>32, shortest+(price&0xFFFF)*more>>16)
}

// someone is a seller or bidder: three of four are the hot one.
func someone(r, epoch, hot uint64) uint64 {
	if r>>62 != 0 {
		return firstID + epoch/hotEvery*hotEvery + hot
	}
	people := epoch + 1
	active := min(people, activePeople)
	return firstID + people - active + below(r, active+ahead)
}

func (g *Generator) person(id, epoch uint64, p *Person) {
	t, d := g.text, newDraws(g.opts.Seed, id)
	a, b := d.next(), d.next()
	p.ID = firstID + epoch
	p.Name, p.Email, p.Card = pick(t.names, a), t.emails[a>>32%addresses], t.cards[a>>44%addresses]
	p.City, p.State = pick(t.cities, b), pick(t.states, b>>32)
	p.Time = g.time(id)
	p.Extra = t.padding(200, p.fields(), d.next())
}

func (g *Generator) auction(id, epoch, slot uint64, a *Auction) {
	t, d := g.text, newDraws(g.opts.Seed, id)
	r, s := d.next(), d.next()
	a.ID = firstID + 3*epoch + slot - 1
	a.Item = cut(t.words, r>>32, 3+below(r, 17))
	a.Description = cut(t.words, s>>32, 3+below(s, 97))
	a.Initial = t.prices.draw(d.next())
	a.Reserve = a.Initial + t.prices.draw(d.next())
	a.Time = g.time(id)
	long := uint64(g.time(id+lifetime) - a.Time)
	when := d.next()
	a.Expires = a.Time + 1 + int64(below(when, max(1, 2*long)))
	a.Category = firstCategory + below(when>>32, categories)
	a.Seller = someone(d.next(), epoch, 0)
	a.Extra = t.padding(500, a.fields(), d.next())
}

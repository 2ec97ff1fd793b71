package nexmark

// recorded is events in memory: those of each kind in a row.
type recorded struct {
	places   []uint32 // by number: the place in its row, and the kind in the lowest two bits
	persons  []Person
	auctions []Auction
	bids     []Bid
}

// InMemory returns a generator of the same events that has made them all: it takes them
// from memory, about 100 bytes each.
func (g *Generator) InMemory() *Generator {
	r := &recorded{places: make([]uint32, 0, g.opts.Events)}
	r.bids = make([]Bid, 0, g.opts.Events/slots*(slots-4)+slots)
	var e Event
	for n := range g.opts.Events {
		g.Event(n, &e)
		var place int
		switch e.Kind {
		case PersonKind:
			place, r.persons = len(r.persons), append(r.persons, e.Person)
		case AuctionKind:
			place, r.auctions = len(r.auctions), append(r.auctions, e.Auction)
		default:
			place, r.bids = len(r.bids), append(r.bids, e.Bid)
		}
		r.places = append(r.places, uint32(place)<<2|uint32(e.Kind))
	}
	return &Generator{opts: g.opts, text: g.text, recorded: r}
}

// event copies event number n to e.
func (r *recorded) event(n uint64, e *Event) {
	place := r.places[n]
	switch e.Kind = Kind(place & 3); e.Kind {
	case PersonKind:
		e.Person = r.persons[place>>2]
	case AuctionKind:
		e.Auction = r.auctions[place>>2]
	default:
		e.Bid = r.bids[place>>2]
	}
}

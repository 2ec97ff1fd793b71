package nexmark

// Kind says what an event is.
type Kind uint8

// The kinds.
const (
	PersonKind Kind = iota
	AuctionKind
	BidKind
)

// Person is somebody new, who may sell and bid.
type Person struct {
	ID                             uint64
	Name, Email, Card, City, State string
	Time                           int64 // Unix milliseconds
	Extra                          string
}

// Auction is something new for sale.
type Auction struct {
	ID                uint64
	Item, Description string
	Initial, Reserve  uint64 // cents
	Time, Expires     int64  // Unix milliseconds
	Seller, Category  uint64
	Extra             string
}

// Bid is an offer for an auction.
type Bid struct {
	Auction, Bidder, Price uint64 // Price in cents
	Channel, URL           string
	Time                   int64 // Unix milliseconds
	Extra                  string
}

// Event is one of the three; what Kind does not name is not valid.
type Event struct {
	Kind    Kind
	Person  Person
	Auction Auction
	Bid     Bid
}

// Time is the event's time in Unix milliseconds.
func (e *Event) Time() int64 {
	switch e.Kind {
	case PersonKind:
		return e.Person.Time
	case AuctionKind:
		return e.Auction.Time
	default:
		return e.Bid.Time
	}
}

// Size is what Nexmark takes for the bytes of the event: 8 for a number, texts by length,
// and nothing for a person's time and a bid's channel and URL.
func (e *Event) Size() int {
	switch e.Kind {
	case PersonKind:
		return e.Person.fields() + len(e.Person.Extra)
	case AuctionKind:
		return e.Auction.fields() + len(e.Auction.Extra)
	default:
		return bidFields + len(e.Bid.Extra)
	}
}

const bidFields = 4 * 8

func (p *Person) fields() int {
	return 8 + len(p.Name) + len(p.Email) + len(p.Card) + len(p.City) + len(p.State)
}

func (a *Auction) fields() int { return 6*8 + len(a.Item) + len(a.Description) }

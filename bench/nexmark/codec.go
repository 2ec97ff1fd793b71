package nexmark

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDecode says that bytes are no event.
var ErrDecode = errors.New("nexmark: bytes are no event")

// The codecs write numbers in 8 bytes, little-endian, then the lengths of the texts in 2
// bytes each, then the texts: see the package comment. Decoded texts are views.
type (
	// BidCodec encodes a Bid.
	BidCodec struct{}
	// AuctionCodec encodes an Auction.
	AuctionCodec struct{}
	// PersonCodec encodes a Person.
	PersonCodec struct{}
	// EventCodec encodes an Event: one byte with its kind, then what it is.
	EventCodec struct{}
)

const (
	bidHead     = 4*8 + 3*2
	auctionHead = 7*8 + 3*2
	personHead  = 2*8 + 6*2
)

var le = binary.LittleEndian

// texts appends strings whose lengths belong at head.
func texts(dst []byte, head int, list ...string) []byte {
	for i, s := range list {
		le.PutUint16(dst[head+2*i:], uint16(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

// cutTexts reads as many strings as there are in list: lengths are at src[head:], the
// texts behind them fill src.
func cutTexts(src []byte, head int, list ...*string) error {
	at := head + 2*len(list)
	for i, s := range list {
		n := int(le.Uint16(src[head+2*i:]))
		if n > len(src)-at {
			return fmt.Errorf("%w: text %d ends too late", ErrDecode, i)
		}
		*s = view(src[at : at+n])
		at += n
	}
	if at != len(src) {
		return fmt.Errorf("%w: %d bytes too many", ErrDecode, len(src)-at)
	}
	return nil
}

func short(src []byte, head int) error {
	if len(src) < head {
		return fmt.Errorf("%w: %d bytes, want %d at least", ErrDecode, len(src), head)
	}
	return nil
}

// Append implements operators.Codec.
func (BidCodec) Append(dst []byte, b Bid) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, bidHead)...)
	h := dst[n : n+bidHead]
	le.PutUint64(h, b.Auction)
	le.PutUint64(h[8:], b.Bidder)
	le.PutUint64(h[16:], b.Price)
	le.PutUint64(h[24:], uint64(b.Time))
	return texts(dst, n+32, b.Channel, b.URL, b.Extra)
}

// Decode implements operators.Codec.
func (BidCodec) Decode(src []byte) (b Bid, err error) {
	if err := short(src, bidHead); err != nil {
		return b, err
	}
	b.Auction, b.Bidder, b.Price, b.Time = le.Uint64(src), le.Uint64(src[8:]), le.Uint64(src[16:]), int64(le.Uint64(src[24:]))
	return b, cutTexts(src, 32, &b.Channel, &b.URL, &b.Extra)
}

// Fingerprint implements operators.Codec.
func (BidCodec) Fingerprint() uint64 { return 0x4E584D4249440001 }

// Append implements operators.Codec.
func (AuctionCodec) Append(dst []byte, a Auction) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, auctionHead)...)
	h := dst[n : n+auctionHead]
	for i, v := range [...]uint64{a.ID, a.Initial, a.Reserve, uint64(a.Time), uint64(a.Expires), a.Seller, a.Category} {
		le.PutUint64(h[8*i:], v)
	}
	return texts(dst, n+56, a.Item, a.Description, a.Extra)
}

// Decode implements operators.Codec.
func (AuctionCodec) Decode(src []byte) (a Auction, err error) {
	if err := short(src, auctionHead); err != nil {
		return a, err
	}
	a.ID, a.Initial, a.Reserve = le.Uint64(src), le.Uint64(src[8:]), le.Uint64(src[16:])
	a.Time, a.Expires = int64(le.Uint64(src[24:])), int64(le.Uint64(src[32:]))
	a.Seller, a.Category = le.Uint64(src[40:]), le.Uint64(src[48:])
	return a, cutTexts(src, 56, &a.Item, &a.Description, &a.Extra)
}

// Fingerprint implements operators.Codec.
func (AuctionCodec) Fingerprint() uint64 { return 0x4E584D4155430001 }

// Append implements operators.Codec.
func (PersonCodec) Append(dst []byte, p Person) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, personHead)...)
	le.PutUint64(dst[n:], p.ID)
	le.PutUint64(dst[n+8:], uint64(p.Time))
	return texts(dst, n+16, p.Name, p.Email, p.Card, p.City, p.State, p.Extra)
}

// Decode implements operators.Codec.
func (PersonCodec) Decode(src []byte) (p Person, err error) {
	if err := short(src, personHead); err != nil {
		return p, err
	}
	p.ID, p.Time = le.Uint64(src), int64(le.Uint64(src[8:]))
	return p, cutTexts(src, 16, &p.Name, &p.Email, &p.Card, &p.City, &p.State, &p.Extra)
}

// Fingerprint implements operators.Codec.
func (PersonCodec) Fingerprint() uint64 { return 0x4E584D5045520001 }

// Append implements operators.Codec.
func (EventCodec) Append(dst []byte, e *Event) []byte {
	dst = append(dst, byte(e.Kind))
	switch e.Kind {
	case PersonKind:
		return PersonCodec{}.Append(dst, e.Person)
	case AuctionKind:
		return AuctionCodec{}.Append(dst, e.Auction)
	default:
		return BidCodec{}.Append(dst, e.Bid)
	}
}

// Decode implements operators.Codec. It allocates the event.
func (EventCodec) Decode(src []byte) (e *Event, err error) {
	if err := short(src, 1); err != nil {
		return nil, err
	}
	e = &Event{Kind: Kind(src[0])}
	switch e.Kind {
	case PersonKind:
		e.Person, err = PersonCodec{}.Decode(src[1:])
	case AuctionKind:
		e.Auction, err = AuctionCodec{}.Decode(src[1:])
	case BidKind:
		e.Bid, err = BidCodec{}.Decode(src[1:])
	default:
		err = fmt.Errorf("%w: kind %d", ErrDecode, src[0])
	}
	return e, err
}

// Fingerprint implements operators.Codec.
func (EventCodec) Fingerprint() uint64 { return 0x4E584D4556540001 }

package nexmark

import (
	"io"
	"strconv"
	"strings"

	"github.com/overtake-stream/overtake/internal/atomicfile"
)

// Export writes all events to a file, in the formats of the package comment: text if the
// name ends in .tsv, else binary.
func (g *Generator) Export(name string) error {
	if strings.HasSuffix(name, ".tsv") {
		return atomicfile.Replace(name, 0o644, g.WriteText)
	}
	return atomicfile.Replace(name, 0o644, g.WriteBinary)
}

// ExportRows writes the table of a query to a file: lines of fields with tabs between
// them, in no particular order.
func (q Query) ExportRows(g *Generator, name string) (r Result, err error) {
	err = atomicfile.Replace(name, 0o644, func(w io.Writer) (err error) {
		r = q.Rows(g, func(line []byte) {
			if err == nil {
				_, err = w.Write(line)
			}
		})
		return err
	})
	return r, err
}

// WriteBinary writes all events in binary.
func (g *Generator) WriteBinary(w io.Writer) (err error) {
	var buf []byte
	g.each(func(e *Event) {
		buf = EventCodec{}.Append(append(buf[:0], 0, 0, 0, 0), e)
		le.PutUint32(buf, uint32(len(buf)-4))
		if err == nil {
			_, err = w.Write(buf)
		}
	})
	return err
}

// WriteText writes all events as lines of text.
func (g *Generator) WriteText(w io.Writer) (err error) {
	var buf []byte
	g.each(func(e *Event) {
		buf = appendLine(buf[:0], e)
		if err == nil {
			_, err = w.Write(buf)
		}
	})
	return err
}

func appendLine(b []byte, e *Event) []byte {
	number := func(v uint64) { b = strconv.AppendUint(append(b, '\t'), v, 10) }
	str := func(s string) { b = append(append(b, '\t'), s...) }
	switch e.Kind {
	case PersonKind:
		p := &e.Person
		b = append(b, 'P')
		number(p.ID)
		for _, s := range []string{p.Name, p.Email, p.Card, p.City, p.State} {
			str(s)
		}
		number(uint64(p.Time))
		str(p.Extra)
	case AuctionKind:
		a := &e.Auction
		b = append(b, 'A')
		number(a.ID)
		str(a.Item)
		str(a.Description)
		for _, v := range []uint64{a.Initial, a.Reserve, uint64(a.Time), uint64(a.Expires), a.Seller, a.Category} {
			number(v)
		}
		str(a.Extra)
	default:
		v := &e.Bid
		b = append(b, 'B')
		number(v.Auction)
		number(v.Bidder)
		number(v.Price)
		str(v.Channel)
		str(v.URL)
		number(uint64(v.Time))
		str(v.Extra)
	}
	return append(b, '\n')
}

package nexmark_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench/nexmark"
)

func TestExportedEventsAreTheEvents(t *testing.T) {
	g := generator(t, nexmark.Options{Events: 1003})
	dir := t.TempDir()
	read := func(name string) []byte {
		if err := g.Export(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := read("events.bin")
	lines := strings.Split(strings.TrimSuffix(string(read("events.tsv")), "\n"), "\n")
	var e nexmark.Event
	for n := range g.Events() {
		size := binary.LittleEndian.Uint32(b)
		got, err := nexmark.EventCodec{}.Decode(b[4 : 4+size])
		if err != nil {
			t.Fatal(err)
		}
		g.Event(n, &e)
		if *got != clone(&e) {
			t.Fatalf("event %d is %+v, want %+v", n, *got, clone(&e))
		}
		if want := line(&e); lines[n] != want {
			t.Fatalf("line %q, want %q", lines[n], want)
		}
		b = b[4+size:]
	}
	if len(b) != 0 || len(lines) != 1003 {
		t.Errorf("%d bytes left, %d lines", len(b), len(lines))
	}
}

func line(e *nexmark.Event) string {
	switch e.Kind {
	case nexmark.PersonKind:
		p := e.Person
		return tabs("P", p.ID, p.Name, p.Email, p.Card, p.City, p.State, p.Time, p.Extra)
	case nexmark.AuctionKind:
		a := e.Auction
		return tabs("A", a.ID, a.Item, a.Description, a.Initial, a.Reserve, a.Time, a.Expires, a.Seller, a.Category, a.Extra)
	default:
		b := e.Bid
		return tabs("B", b.Auction, b.Bidder, b.Price, b.Channel, b.URL, b.Time, b.Extra)
	}
}

func tabs(fields ...any) string {
	var list []string
	for _, f := range fields {
		list = append(list, fmt.Sprint(f))
	}
	return strings.Join(list, "\t")
}

// The hash of rows is what the package comment says, computed from their text.
func TestRowsHashToTheResult(t *testing.T) {
	g := generator(t, small(1))
	for _, q := range nexmark.Queries() {
		name := filepath.Join(t.TempDir(), q.Name)
		r, err := q.ExportRows(g, name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Count(string(b), "\n")
		sum := uint64(0)
		changes := strings.Contains(q.Name, "running") // its loop passes on every change
		for l := range strings.Lines(string(b)) {
			fields := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
			if len(fields) != len(q.Columns) {
				t.Fatalf("%s: %d fields in %q, want %v", q.Name, len(fields), l, q.Columns)
			}
			sum += rowHash(q.Columns, fields)
		}
		if !changes && (r != q.Loop(g, false) || int64(rows) != r.Rows || sum != r.Hash) {
			t.Errorf("%s: %d rows with hash %016x in the file, want %v", q.Name, rows, sum, r)
		}
	}
}

// rowHash computes the hash of a row plainly. Which columns are texts is known by name.
func rowHash(columns, fields []string) uint64 {
	h := uint64(0x6E65786D61726B21)
	word := func(v uint64) {
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 32
	}
	texts := "name city state extra A.extra B.extra channel url channel_id itemName description value bidTimeType dir1 dir2 dir3 dt hm"
	for i, f := range fields {
		if !strings.Contains(" "+texts+" ", " "+columns[i]+" ") {
			var v int64
			if _, err := fmt.Sscan(f, &v); err != nil {
				return 0
			}
			word(uint64(v))
			continue
		}
		word(uint64(len(f)))
		for b := append([]byte(f), make([]byte, (8-len(f)%8)%8)...); len(b) > 0; b = b[8:] {
			word(binary.LittleEndian.Uint64(b))
		}
	}
	return h
}

package nexmark

import "strings"

// tables are the texts that events are made of. They are made once and never changed:
// what an event holds are views into them.
type tables struct {
	letters string // a to z
	words   string // the same with spaces
	emails  []string
	cards   []string
	names   []string
	cities  []string
	states  []string
	hot     []channel
	cold    []channel
	prices  *prices
}

const (
	textWindow = 1 << 15 // places where a text may begin
	textMost   = 1 << 10 // bytes that it may have
	addresses  = 1 << 12 // e-mail addresses and credit cards
)

func newTables(seed uint64) *tables {
	d := newDraws(mix(seed), 0)
	t := &tables{
		letters: text(&d, textWindow+textMost, 0), words: text(&d, textWindow+textMost, ' '),
		cities: strings.Split("Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne", ","),
		states: strings.Split("AZ,CA,ID,OR,WA,WY", ","),
		prices: newPrices(),
	}
	for _, first := range strings.Split("Peter,Paul,Luke,John,Saul,Vicky,Kate,Julie,Sarah,Deiter,Walter", ",") {
		for _, last := range strings.Split("Shultz,Abrams,Spencer,White,Bartels,Walton,Smith,Jones,Noris", ",") {
			t.names = append(t.names, first+" "+last)
		}
	}
	for range addresses {
		t.emails = append(t.emails, text(&d, 3+below(d.next(), 4), 0)+"@"+text(&d, 3+below(d.next(), 2), 0)+".com")
		t.cards = append(t.cards, digits(&d)+" "+digits(&d)+" "+digits(&d)+" "+digits(&d))
	}
	t.hot, t.cold = newChannels(&d)
	return t
}

// text draws n letters; one in 13 is replaced by special, if there is one.
func text(d *draws, n uint64, special byte) string {
	b := make([]byte, n)
	for i := range b {
		r := d.next()
		b[i] = 'a' + byte(below(r, 26))
		if special != 0 && below(r>>32, 13) == 0 {
			b[i] = special
		}
	}
	return string(b)
}

func digits(d *draws) string {
	var b [4]byte
	for i := range b {
		b[i] = '0' + byte(below(d.next(), 10))
	}
	return string(b[:])
}

// cut is a piece of a text, which begins where r says.
func cut(s string, r, length uint64) string {
	at := r % textWindow
	return s[at : at+length]
}

// pick is an element of a list, by the lower 32 bits of r.
func pick[T any](list []T, r uint64) T { return list[below(r, uint64(len(list)))] }

// padding is the text that brings an event to its size: target less what its fields take,
// and 20% more or less. r says how much and where from.
func (t *tables) padding(target, fields int, r uint64) string {
	if fields >= target {
		return ""
	}
	d := uint64(target - fields)
	delta := (2*d + 5) / 10
	return cut(t.letters, r>>32, d-delta+below(r, 2*delta))
}

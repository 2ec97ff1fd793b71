package nexmark

import (
	"fmt"
	"strconv"
)

// Result identifies a table without regard to the order of its rows.
type Result struct {
	Rows int64
	Hash uint64 // sum of the hashes of the rows
}

// String is the number of rows and the hash.
func (r Result) String() string { return fmt.Sprintf("%d rows, hash %016x", r.Rows, r.Hash) }

func (r Result) plus(o Result) Result { return Result{Rows: r.Rows + o.Rows, Hash: r.Hash + o.Hash} }

// Tally makes the Result of a table, row by row: the fields of a row first, in the order
// of the query's columns, then add. See the package comment for the hash.
type Tally struct {
	sum   Result
	brief bool         // of texts, take the length alone
	rows  func([]byte) // gets each row as TSV, if set

	hash uint64
	text []byte
}

const (
	rowBasis = 0x6E65786D61726B21
	rowPrime = 0x9E3779B97F4A7C15
)

func (t *Tally) begin() { t.hash, t.text = rowBasis, t.text[:0] }

func (t *Tally) word(v uint64) {
	h := (t.hash ^ v) * rowPrime
	t.hash = h ^ h>>32
}

// number takes a field that is one. Negative ones are in two's complement.
func (t *Tally) number(v uint64) {
	t.word(v)
	if t.rows != nil {
		t.text = append(strconv.AppendInt(t.text, int64(v), 10), '\t')
	}
}

// string takes a field that is a text.
func (t *Tally) string(s string) {
	t.word(uint64(len(s)))
	if t.brief {
		return
	}
	if t.rows != nil {
		t.text = append(append(t.text, s...), '\t')
	}
	for ; len(s) >= 8; s = s[8:] {
		t.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	if len(s) > 0 {
		rest := uint64(0)
		for i := len(s) - 1; i >= 0; i-- {
			rest = rest<<8 | uint64(s[i])
		}
		t.word(rest)
	}
}

// add ends a row that has come, remove one that is gone.
func (t *Tally) add() {
	t.sum.Rows++
	t.sum.Hash += t.hash
	if t.rows != nil {
		t.text[len(t.text)-1] = '\n'
		t.rows(t.text)
	}
}

func (t *Tally) remove() {
	t.sum.Rows--
	t.sum.Hash -= t.hash
}

// fold takes the fields of a row.
type fold[R any] func(t *Tally, row R)

func addRow[R any](t *Tally, f fold[R], row R) {
	t.begin()
	f(t, row)
	t.add()
}

// change is a row that takes the place of an old one, if there was one: together, the
// changes are the table that they lead to.
type change[R any] struct {
	New, Old R
	Had      bool
}

func addChange[R any](t *Tally, f fold[R], c change[R]) {
	if c.Had {
		t.begin()
		f(t, c.Old)
		t.remove()
	}
	addRow(t, f, c.New)
}

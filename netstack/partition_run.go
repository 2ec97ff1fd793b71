package netstack

import "github.com/overtake-stream/overtake/perf"

// Expect says that records have n bytes at most, for Sure. 0: that is not known.
func (p *Partition) Expect(n int) { p.expected = n }

// Sure is how many records, at most and at least one, are certain to find room in the open
// buffers and in those that are to be had now, whatever subpartitions they go to, so that the
// last is written without overdraft. Available must be true. It is cheap enough to be asked
// before every run of records.
func (p *Partition) Sure(most int) int {
	if most <= 1 || p.expected == 0 {
		return 1
	}
	most = min(most, p.debloat.fill/p.expected) // then none needs more than one buffer
	if most <= 1 || len(p.builders) > sureBuilders {
		return 1
	}
	if short := p.short(most * p.expected); short > 1 && short-1 > p.pool.Available() {
		return 1
	}
	return most
}

// sureBuilders is how many subpartitions Sure looks at. It would cost more than it saves with
// more of them.
const sureBuilders = 64

// short counts open buffers with room for less than n bytes, at least up to what is
// in hand.
func (p *Partition) short(n int) (count int) {
	if len(p.builders) == 1 {
		return 1
	}
	for i := range p.builders {
		if b := &p.builders[i]; len(b.mem)-b.used < n {
			count++
		}
	}
	return count
}

// ExtendRun is Extend for as many of count records of n bytes each as the open buffer has room
// for, and at least one. It lends their places, one behind the other, which must be written
// before anything is sealed, flushed or sent.
func (p *Partition) ExtendRun(sub, n, count int) (space []byte, records int) {
	b := &p.builders[sub]
	if len(b.mem)-b.used < n {
		p.next(sub, n)
	}
	at := b.used
	if records = count; len(b.mem)-at < n*count {
		records = (len(b.mem) - at) / n
	}
	b.used += n * records
	if perf.Enabled {
		b.records += records
	}
	return b.mem[at:b.used], records
}

package netstack_test

import (
	"fmt"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// step is one thing that happens to a pair of subtasks.
type step struct {
	name string
	do   func(l *local, held *[]netstack.Item)
}

func next(l *local, held *[]netstack.Item) {
	if it, ok := l.ins[0].Next(); ok && it.Event == nil {
		*held = append(*held, it)
	}
}

func giveBack(l *local, held *[]netstack.Item) {
	if len(*held) > 0 {
		it := (*held)[0]
		*held = (*held)[1:]
		it.Buf.Release()
		l.ins[0].Done(it.Channel)
	}
}

func available(l *local, _ *[]netstack.Item) {
	for _, p := range l.outs {
		p.Available()
	}
}

func put(n, size int) func(*local, *[]netstack.Item) {
	return func(l *local, _ *[]netstack.Item) {
		for _, p := range l.outs {
			write(p, 0, numbered(uint64(n), size))
		}
	}
}

// life is what two producers and a consumer with little credit go through: open
// buffers, spare ones, queued ones, ones in the inbox, in the channels' queues, in
// the consumer's hands, half a record.
var life = []step{
	{"ask", available},
	{"write", put(0, 8)},
	{"flush", func(l *local, _ *[]netstack.Item) { l.outs[0].Flush(0) }},
	{"fill", put(1, 200)},
	{"fill more", put(2, 200)},
	{"next", next},
	{"next", next},
	{"write a large one", put(3, 700)},
	{"event", func(l *local, _ *[]netstack.Item) { l.outs[1].EmitAll(event(0, false)) }},
	{"give back", giveBack},
	{"priority event", func(l *local, _ *[]netstack.Item) { l.outs[0].EmitAll(event(1, true)) }},
	{"block", func(l *local, _ *[]netstack.Item) { l.ins[0].Block(0) }},
	{"next", next},
	{"next", next},
	{"give back", giveBack},
	{"ask", available},
	{"write", put(4, 8)},
	{"reserve", func(l *local, _ *[]netstack.Item) { l.outs[0].Space(0, 200) }},
	{"finish", func(l *local, _ *[]netstack.Item) { l.outs[0].Finish() }},
	{"next", next},
	{"give back", giveBack},
}

// TestNothingIsHeldWhereverLifeEnds cancels and closes after each step, in each
// order of the parties.
func TestNothingIsHeldWhereverLifeEnds(t *testing.T) {
	ends := map[string]func(l *local){
		"producers first": func(l *local) {
			for _, p := range l.outs {
				p.Cancel()
				p.Close()
			}
			l.ins[0].Close()
		},
		"consumer first": func(l *local) {
			l.ins[0].Close()
			for _, p := range l.outs {
				p.Cancel()
				p.Close()
			}
		},
		"cancelled, and still running": func(l *local) {
			l.outs[0].Cancel()
			for n := range 30 {
				put(n, 200)(&local{outs: l.outs[:1]}, nil)
			}
			l.outs[0].Close()
			l.ins[0].Close()
			l.outs[1].Cancel()
		},
	}
	for _, broadcast := range []bool{false, true} {
		for n := range len(life) + 1 {
			for name, end := range ends {
				t.Run(fmt.Sprintf("%d steps, %s, broadcast %v", n, name, broadcast), func(t *testing.T) {
					l := newLocal(t, localOptions{
						partitions: 2, gates: 2, out: netstack.PartitionOptions{Broadcast: broadcast, MaxQueued: 100, Floating: 20},
						in: netstack.GateOptions{Exclusive: 1, Floating: 1},
					})
					var held []netstack.Item
					for _, s := range life[:n] {
						s.do(l, &held)
					}
					end(l)
					for _, it := range held { // a capture may still hold some
						it.Buf.Release()
					}
					l.close()
				})
			}
		}
	}
}

// TestFinishedPartitionMayCloseBeforeItIsRead: what is queued outlives its pool.
func TestFinishedPartitionMayCloseBeforeItIsRead(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: 1, Floating: 1}})
	p, r := l.outs[0], newReader(t, l.ins[0])
	for n := range uint64(6) {
		flushed(p, n)
	}
	write(p, 0, numbered(6, 700))
	p.Finish()
	p.Close()
	var got []uint64
	for l.ins[0].Open() > 0 {
		it, ok := l.ins[0].Next()
		if !ok {
			t.Fatalf("nothing comes any more after %v", got)
		}
		if it.Event == nil {
			r.records(it, func(rec *record.Record) { got = append(got, number(t, rec)) })
		}
	}
	if len(got) != 7 {
		t.Fatalf("records %v, want 7", got)
	}
	l.close()
}

func TestClosedGateTakesNothingMore(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2})
	flushed(l.outs[0], 0)
	flushed(l.outs[1], 0)
	it, _ := l.ins[0].Next() // the other channel is listed as ready now
	it.Buf.Release()
	l.ins[0].Close()
	flushed(l.outs[0], 1)
	l.outs[0].Finish()
	if n := l.arena.Held(); n != 0 {
		t.Errorf("%d buffers are held for a closed gate", n)
	}
	if it, ok := l.ins[0].Next(); ok {
		t.Errorf("a closed gate hands out %+v", it)
	}
	l.close()
}

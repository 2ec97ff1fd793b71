package netstack_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// passage is what became of one event in one channel: the numbers of the records
// that were handed out before it, that it overtook at the gate, and that it passed at
// the partition. Together they must be all those written before it.
type passage struct {
	written  uint64
	consumed uint64
	queued   []uint64
	passed   []uint64
	came     int
}

func (p *passage) check() error {
	next := p.consumed
	for _, n := range slices.Concat(p.queued, p.passed) {
		if n != next {
			return fmt.Errorf("%d records were written and %d consumed; then it overtook %v, and passed %v", p.written, p.consumed, p.queued, p.passed)
		}
		next++
	}
	if next != p.written || p.came != 1 {
		return fmt.Errorf("%d records were written before it, %d accounted for; it came %d times", p.written, next, p.came)
	}
	return nil
}

type passageKey struct {
	from, to int
	event    uint64
}

// passages is the ledger of all events. A goroutine of its own reads what was shared.
type passages struct {
	t    *testing.T
	seed uint64
	mu   sync.Mutex
	all  map[passageKey]*passage

	shared  chan captured
	capture sync.WaitGroup
}

type captured struct {
	key passageKey
	buf bufferpool.Buffer
}

func newPassages(t *testing.T) *passages {
	l := &passages{t: t, seed: uint64(time.Now().UnixNano()), all: map[passageKey]*passage{}, shared: make(chan captured, 4)}
	l.capture.Go(func() {
		for c := range l.shared {
			numbers := numbers(t, c.buf)
			c.buf.Release()
			l.with(c.key, func(p *passage) { p.passed = append(p.passed, numbers...) })
		}
	})
	return l
}

func (l *passages) with(key passageKey, f func(p *passage)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.all[key]
	if p == nil {
		p = &passage{}
		l.all[key] = p
	}
	f(p)
}

func (l *passages) rand(i int) *rand.Rand { return rand.New(rand.NewPCG(l.seed, uint64(i))) }

// end checks all events.
func (l *passages) end() {
	close(l.shared)
	l.capture.Wait()
	kinds := [3]int{}
	for key, p := range l.all {
		if err := p.check(); err != nil {
			l.t.Errorf("seed %d: event %d from %d to %d: %v", l.seed, key.event, key.from, key.to, err)
		}
		if len(p.queued) > 0 {
			kinds[0]++
		}
		if len(p.passed) > 0 {
			kinds[1]++
		}
		if len(p.queued) > 0 && len(p.passed) > 0 {
			kinds[2]++
		}
	}
	l.t.Logf("%d events; %d overtook at a gate, %d at a partition, %d at both", len(l.all), kinds[0], kinds[1], kinds[2])
}

func numbers(t testing.TB, buf bufferpool.Buffer) (got []uint64) {
	var rec record.Record
	for i := record.Over(buf.Payload()); ; {
		ok, err := i.Next(&rec)
		if err != nil {
			t.Error(err)
		}
		if !ok || err != nil {
			return got
		}
		got = append(got, number(t, &rec))
	}
}

// overtaker is a producer whose events overtake.
type overtaker struct {
	*subtask
	*passages
	rand    *rand.Rand
	index   int
	written []uint64   // by subpartition
	events  uint64     // number of the next one
	ordered [][]uint64 // by subpartition: numbers of ordered events, latest last
}

func (o *overtaker) run(records int) {
	o.written, o.ordered = make([]uint64, o.out.Subpartitions()), make([][]uint64, o.out.Subpartitions())
	for range records {
		sub := o.rand.IntN(len(o.written))
		o.put(sub, numbered(o.written[sub], 8+o.rand.IntN(180)))
		o.written[sub]++
		switch o.rand.IntN(25) {
		case 0, 1:
			o.emit(o.rand.IntN(len(o.written)))
		case 2:
			o.overtake()
		case 3, 4:
			o.promote()
		case 5:
			o.out.Flush(0)
		}
	}
	o.finish()
}

func (o *overtaker) emit(sub int) {
	e := counted(o.events, false)
	if o.rand.IntN(4) == 0 {
		e.Kind += 100
	}
	o.expect(sub, o.events)
	o.ordered[sub] = append(o.ordered[sub], o.events)
	o.events++
	o.out.Emit(sub, e)
}

func (o *overtaker) expect(sub int, event uint64) {
	o.with(o.key(sub, event), func(p *passage) { p.written = o.written[sub] })
}

func (o *overtaker) key(sub int, event uint64) passageKey { return passageKey{o.index, sub, event} }

func (o *overtaker) overtake() {
	n := o.events
	o.events++
	for sub := range o.written {
		o.expect(sub, n)
	}
	o.out.Overtake(counted(n, true), o.passing(func(int) uint64 { return n }))
}

func (o *overtaker) passing(event func(sub int) uint64) netstack.Passing {
	return netstack.Passing{Stop: stops, Share: func(sub int, buf bufferpool.Buffer, _ bool) {
		o.shared <- captured{o.key(sub, event(sub)), buf}
	}}
}

// promote tries it with recent events.
func (o *overtaker) promote() {
	want := make([]uint64, len(o.written))
	for sub, list := range o.ordered {
		if want[sub] = ^uint64(0); len(list) > 0 {
			want[sub] = list[max(0, len(list)-1-o.rand.IntN(3))]
		}
	}
	match := func(e *netstack.Event) bool {
		return slices.Contains(want, binary.LittleEndian.Uint64(e.Payload)) // numbers are unique in a partition
	}
	got := make([]uint64, len(want))
	o.out.Promote(match, func(sub int, e *netstack.Event) *netstack.Event {
		got[sub] = binary.LittleEndian.Uint64(e.Payload)
		return urgently(sub, e)
	}, o.passing(func(sub int) uint64 { return got[sub] }))
}

// overtaken is a consumer that checks order and notes what events overtook.
type overtaken struct {
	*subtask
	*passages
	rand    *rand.Rand
	index   int
	seen    []uint64 // by channel
	held    []netstack.Item
	blocked bool
}

func (o *overtaken) run() {
	o.seen = make([]uint64, o.in.Channels())
	o.each(o.take, o.idle)
	o.release(len(o.held))
}

// idle gives everything back, before it waits.
func (o *overtaken) idle() {
	o.release(len(o.held))
	if !o.blocked {
		return
	}
	for ch := range o.seen {
		o.in.Unblock(ch)
	}
	o.blocked = false
	o.parker.Wake() // look again: Unblock wakes nobody
}

func (o *overtaken) take(it netstack.Item) {
	switch {
	case it.Event == nil:
		for _, n := range numbers(o.subtask.t, it.Buf) {
			if n != o.seen[it.Channel] {
				o.subtask.t.Errorf("seed %d: channel %d: record %d came, want %d", o.seed, it.Channel, n, o.seen[it.Channel])
			}
			o.seen[it.Channel]++
		}
		o.held = append(o.held, it)
	case it.Event.Kind != netstack.EndOfPartition:
		o.came(it.Channel, it.Event, it.Overtaken)
	}
	ch := o.rand.IntN(len(o.seen))
	switch o.rand.IntN(20) {
	case 0, 1:
		o.in.Block(ch)
		o.blocked = true
	case 2:
		o.in.Unblock(ch)
	case 3:
		o.in.Hasten(func(e *netstack.Event) bool { return e.Payload[0]%3 == 0 })
	case 4:
		o.in.Hasten(nil)
	case 7, 8, 9:
		if it, ok := o.in.NextPriority(); ok {
			o.came(it.Channel, it.Event, it.Overtaken)
		}
	case 5, 6:
		if e, n, ok := o.in.Promote(ch, func(*netstack.Event) bool { return o.rand.IntN(2) == 0 }); ok {
			o.came(ch, e, n)
		}
	}
	if len(o.held) > o.rand.IntN(4) {
		o.release(1)
	}
}

func (o *overtaken) came(ch int, e *netstack.Event, n int) {
	var queued []uint64
	o.in.EachQueued(ch, n, func(buf bufferpool.Buffer, _ bool, e *netstack.Event) {
		if e == nil {
			queued = append(queued, numbers(o.subtask.t, buf)...)
		}
	})
	o.with(passageKey{ch, o.index, binary.LittleEndian.Uint64(e.Payload)}, func(p *passage) {
		p.came++
		p.consumed, p.queued = o.seen[ch], queued
	})
}

func (o *overtaken) release(n int) {
	for ; n > 0 && len(o.held) > 0; n-- {
		o.held[0].Buf.Release()
		o.in.Done(o.held[0].Channel)
		o.held = o.held[1:]
	}
}

// stressOvertaking lets all producers and consumers run at full speed.
func stressOvertaking(t *testing.T, from, to []*subtask, records int) {
	l := newPassages(t)
	var wg sync.WaitGroup
	for i, s := range from {
		wg.Go(func() { (&overtaker{subtask: s, passages: l, rand: l.rand(i), index: i}).run(records) })
	}
	for i, s := range to {
		wg.Go(func() { (&overtaken{subtask: s, passages: l, rand: l.rand(100 + i), index: i}).run() })
	}
	finishes(t, "the exchange to end", wg.Wait)
	l.end()
}

var (
	stressGate      = netstack.GateOptions{Exclusive: 1, Floating: 3}
	stressPartition = netstack.PartitionOptions{Exclusive: 4, Floating: 8, MaxQueued: 6}
)

func TestStressOvertaking(t *testing.T) {
	for _, shape := range []struct{ producers, consumers int }{{1, 1}, {3, 1}, {1, 3}, {2, 2}} {
		t.Run(fmt.Sprintf("%d to %d", shape.producers, shape.consumers), func(t *testing.T) {
			a := newArena(t, 256, 256)
			from := newRank(t, a, shape.producers, 0, shape.consumers, stressGate, stressPartition)
			to := newRank(t, a, shape.consumers, shape.producers, 0, stressGate, stressPartition)
			join(from, to)
			stressOvertaking(t, from, to, 1000)
			wantNothingHeld(t, a)
		})
	}
}

func TestStressOvertakingBetweenWorkers(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const producers, consumers = 2, 2
		co.segment, co.budget = 256, 256*1024
		c := newCluster(t, co)
		from := newRank(t, c.arenas[0], producers, 0, consumers, stressGate, stressPartition)
		to := newRank(t, c.arenas[1], consumers, producers, 0, stressGate, stressPartition)
		for i, f := range from {
			for j, s := range to {
				id := uint32(1 + i*consumers + j)
				must(t, c.stacks[0].BindOut(1, id, f.out, j))
				must(t, c.stacks[1].BindIn(0, id, s.in, i))
			}
		}
		c.start()
		stressOvertaking(t, from, to, 1000)
		c.close()
	})
}

// TestOvertakingIsCutShort: consumers close their gates and producers are cancelled in
// the middle of it, while shares are out. Nothing is held in the end.
func TestOvertakingIsCutShort(t *testing.T) {
	for range 5 {
		a := newArena(t, 256, 256)
		from := newRank(t, a, 2, 0, 2, stressGate, stressPartition)
		to := newRank(t, a, 2, 2, 0, stressGate, stressPartition)
		join(from, to)
		l := newPassages(t)
		var producers, consumers sync.WaitGroup
		var cut atomic.Bool // the first consumer has gone
		for i, s := range from {
			producers.Go(func() { (&overtaker{subtask: s, passages: l, rand: l.rand(i), index: i}).run(4000) })
		}
		for i, s := range to {
			o := &overtaken{subtask: s, passages: l, rand: l.rand(100 + i), index: i, seen: make([]uint64, 2)}
			consumers.Go(func() {
				for range 50 + o.rand.IntN(200) {
					if cut.Load() { // nothing more may come, not even the end
						break
					}
					it, ok := s.in.Next()
					if !ok {
						o.idle()
						s.parker.Park(nil)
						continue
					}
					o.take(it)
				}
				s.in.Close()
				o.release(len(o.held))
				for _, f := range from {
					f.out.Cancel()
				}
				cut.Store(true)
				for _, s := range to {
					s.parker.Wake()
				}
			})
		}
		finishes(t, "the consumers to end", consumers.Wait)
		finishes(t, "the producers to end", producers.Wait)
		close(l.shared)
		l.capture.Wait()
		wantNothingHeld(t, a)
	}
}

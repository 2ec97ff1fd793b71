package netstack_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"pgregory.net/rapid"
)

// passingWorld is a random exchange, driven by one goroutine, whose events overtake
// data, with a model that knows neither credit nor where anything is: for each
// channel, what still has to be handed out in order, and the events that overtake.
type passingWorld struct {
	*local
	rt        *rapid.T
	broadcast bool
	channels  [][]*passingChannel // by gate and partition
	held      []heldItem          // with the consumers
	captured  []sharedItem        // references that shares took
	lines     [][]string          // what these held when they were taken
	events    uint64              // number of the next one
	finished  []bool
	hastens   [][]uint64 // by gate: events of these multiples may have been hastened
}

// passingChannel is the model of one channel. Positions count up over all that is
// ever written to it in order.
type passingChannel struct {
	log      []passingEntry // not handed out yet
	next     int            // position
	overtake []*overtaking  // not handed out yet, in order
	promoted map[string]bool
}

type passingEntry struct {
	at   int
	line string
	stop bool
}

// overtaking is an event on its way: it passes, here or there, all entries before
// position at that have not been handed out.
type overtaking struct {
	number uint64
	at     int
	behind int      // the position before which entries may have held it back
	told   []string // what Share and Event were told
}

func newPassingWorld(t *testing.T, rt *rapid.T) *passingWorld {
	w := &passingWorld{rt: rt, broadcast: rapid.Bool().Draw(rt, "broadcast")}
	partitions, gates := rapid.IntRange(1, 3).Draw(rt, "partitions"), rapid.IntRange(1, 3).Draw(rt, "gates")
	inputs := []int{partitions}
	if partitions > 1 && rapid.Bool().Draw(rt, "union") {
		inputs = []int{1, partitions - 1}
	}
	w.local = newLocal(t, localOptions{
		partitions: partitions, gates: gates,
		segments: partitions*(gates+1) + rapid.IntRange(10, 60).Draw(rt, "memory"),
		out: netstack.PartitionOptions{
			Broadcast: w.broadcast,
			Exclusive: rapid.IntRange(1, 5).Draw(rt, "exclusive"),
			MaxQueued: rapid.IntRange(1, 8).Draw(rt, "max queued"),
			Wait:      func() { rt.Fatal("a partition that was available waits for a buffer") },
		},
		in: netstack.GateOptions{
			Inputs:    inputs,
			Exclusive: rapid.SampledFrom([]int{-1, 1, 2}).Draw(rt, "own credit"),
			Floating:  rapid.IntRange(1, 3).Draw(rt, "floating credit"),
		},
	})
	w.finished, w.hastens = make([]bool, partitions), make([][]uint64, gates)
	for range gates {
		var row []*passingChannel
		for range partitions {
			row = append(row, &passingChannel{promoted: map[string]bool{}})
		}
		w.channels = append(w.channels, row)
	}
	return w
}

func (c *passingChannel) add(line string, stop bool) {
	c.log = append(c.log, passingEntry{c.next, line, stop})
	c.next++
}

// before is what an event that overtakes everything before position at must pass.
func (c *passingChannel) before(at int) (lines []string) {
	for _, e := range c.log {
		if e.at < at {
			lines = append(lines, e.line)
		}
	}
	return lines
}

// came takes what is handed out next.
func (w *passingWorld) came(g, ch int, lines []string) {
	c := w.channels[g][ch]
	for _, line := range lines {
		if len(c.log) == 0 || c.log[0].line != line {
			w.rt.Fatalf("gate %d, channel %d: %q came, want %.3v", g, ch, line, c.log)
		}
		c.log = c.log[1:]
	}
}

func (w *passingWorld) write(p, size int) {
	out := w.outs[p]
	if w.finished[p] || !out.Available() {
		return
	}
	sub := 0
	if !w.broadcast {
		sub = rapid.IntRange(0, len(w.ins)-1).Draw(w.rt, "to")
	}
	n := uint64(0)
	for g := range w.ins {
		if c := w.channels[g][p]; w.broadcast || g == sub {
			n = uint64(c.next)
			c.add(fmt.Sprint("record ", n), false)
		}
	}
	write(out, sub, numbered(n, size))
}

// emit sends an ordered event, which holds others back if stop is set.
func (w *passingWorld) emit(p int, stop bool) {
	if w.finished[p] {
		return
	}
	if w.broadcast { // records have the same number in all channels: so has everything else
		w.ordered(p, -1, stop)
		return
	}
	w.ordered(p, rapid.IntRange(0, len(w.ins)-1).Draw(w.rt, "to"), stop)
}

func (w *passingWorld) ordered(p, to int, stop bool) {
	e := w.event(stop)
	for g := range w.ins {
		if to < 0 || g == to {
			w.channels[g][p].add(w.line(e), stop)
			w.outs[p].Emit(g, e)
		}
	}
}

func (w *passingWorld) event(stop bool) *netstack.Event {
	e := counted(w.events, false)
	w.events++
	if stop {
		e.Kind += 100
	}
	return e
}

func (w *passingWorld) line(e *netstack.Event) string {
	if e.Kind == netstack.EndOfPartition {
		return "end"
	}
	return fmt.Sprint("event ", binary.LittleEndian.Uint64(e.Payload))
}

func (w *passingWorld) itemLines(it sharedItem) (lines []string) {
	if it.event != nil {
		return []string{w.line(it.event)}
	}
	var rec record.Record
	for i := record.Over(it.buf.Payload()); ; {
		ok, err := i.Next(&rec)
		must(w.t, err)
		if !ok {
			return lines
		}
		lines = append(lines, fmt.Sprint("record ", number(w.t, &rec)))
	}
}

// passing adds what it is told to the event that subpartition sub is given by of.
func (w *passingWorld) passing(of func(sub int) *overtaking) netstack.Passing {
	s := &shares{t: w.t}
	pass := s.passing()
	tell := func(it sharedItem) {
		o := of(it.sub)
		o.told = append(o.told, w.itemLines(it)...)
	}
	share := pass.Share
	pass.Share = func(sub int, buf bufferpool.Buffer, partial bool) {
		share(sub, buf, partial)
		it := s.items[len(s.items)-1]
		tell(it)
		w.captured, w.lines = append(w.captured, it), append(w.lines, w.itemLines(it))
	}
	pass.Event = func(sub int, e *netstack.Event) { tell(sharedItem{sub: sub, event: e}) }
	return pass
}

func (w *passingWorld) overtakeAll(p int) {
	if w.finished[p] {
		return
	}
	e := w.event(false)
	e.Priority = true
	made := make([]*overtaking, len(w.ins))
	for g := range w.ins {
		c := w.channels[g][p]
		o := &overtaking{number: w.events - 1, at: c.next}
		for _, entry := range c.log {
			if entry.stop {
				o.behind = entry.at + 1
			}
		}
		if n := len(c.overtake); n > 0 {
			o.behind = max(o.behind, c.overtake[n-1].behind)
		}
		c.overtake, made[g] = append(c.overtake, o), o
	}
	w.outs[p].Overtake(e, w.passing(func(sub int) *overtaking { return made[sub] }))
}

// candidates are the ordered events of a channel that have not been handed out.
func (w *passingWorld) candidate(p int) (string, bool) {
	var lines []string
	for g := range w.ins {
		for _, e := range w.channels[g][p].log {
			if e.line[0] == 'e' && e.line != "end" && !slices.Contains(lines, e.line) {
				lines = append(lines, e.line)
			}
		}
	}
	if len(lines) == 0 {
		return "", false
	}
	return rapid.SampledFrom(lines).Draw(w.rt, "event"), true
}

// remove takes an ordered event out of the log: it overtakes from now on.
func (c *passingChannel) remove(line string) (at int, ok bool) {
	i := slices.IndexFunc(c.log, func(e passingEntry) bool { return e.line == line })
	if i < 0 {
		return 0, false
	}
	at = c.log[i].at
	c.log = slices.Delete(slices.Clone(c.log), i, i+1)
	c.promoted[line] = true
	return at, true
}

func (w *passingWorld) promote(p int) {
	line, ok := w.candidate(p)
	if !ok {
		return
	}
	made := make([]*overtaking, len(w.ins))
	urgent := func(sub int, e *netstack.Event) *netstack.Event {
		made[sub] = &overtaking{number: binary.LittleEndian.Uint64(e.Payload)}
		return urgently(sub, e)
	}
	match := func(e *netstack.Event) bool { return w.line(e) == line }
	found := w.outs[p].Promote(match, urgent, w.passing(func(sub int) *overtaking { return made[sub] }))
	for g, o := range made {
		if found[g] != (o != nil) {
			w.rt.Fatalf("subpartition %d: found %v, made %v", g, found[g], o != nil)
		}
		if o == nil {
			continue
		}
		c := w.channels[g][p]
		if o.at, ok = c.remove(line); !ok {
			w.rt.Fatalf("subpartition %d: %s was found, and has been handed out", g, line)
		}
		for _, e := range c.log {
			if e.stop && e.at < o.at {
				o.behind = e.at + 1
			}
		}
		i := slices.IndexFunc(c.overtake, func(other *overtaking) bool { return other.behind > o.at })
		if i < 0 {
			i = len(c.overtake)
		}
		if i > 0 {
			o.behind = max(o.behind, c.overtake[i-1].behind)
		}
		c.overtake = slices.Insert(c.overtake, i, o)
	}
}

func (w *passingWorld) promoteAtGate(g, ch int) {
	line, ok := w.candidate(ch)
	if !ok {
		return
	}
	c := w.channels[g][ch]
	e, n, ok := w.ins[g].Promote(ch, func(e *netstack.Event) bool { return w.line(e) == line })
	if !ok {
		return // elsewhere, and it still has to come, like everything in the log
	}
	at, known := c.remove(w.line(e))
	got := w.queued(g, ch, n)
	want := slices.DeleteFunc(c.before(at), func(line string) bool { // it may wait to be handed out, as hastened
		return w.hastened(g, line) && !slices.Contains(got, line)
	})
	if !known || !slices.Equal(got, want) {
		w.rt.Fatalf("gate %d, channel %d: %s was promoted ahead of %q, want %q", g, ch, line, got, want)
	}
}

func (w *passingWorld) queued(g, ch, n int) (lines []string) {
	w.ins[g].EachQueued(ch, n, func(buf bufferpool.Buffer, _ bool, e *netstack.Event) {
		lines = append(lines, w.itemLines(sharedItem{buf: buf, event: e})...)
	})
	return lines
}

// overtook checks the one claim of all this: what an event overtook at the gate, and
// then what it passed before, is all that was written before it and was not handed out.
func (w *passingWorld) overtook(g int, it netstack.Item) {
	c := w.channels[g][it.Channel]
	number := binary.LittleEndian.Uint64(it.Event.Payload)
	if len(c.overtake) == 0 || c.overtake[0].number != number {
		w.rt.Fatalf("gate %d, channel %d: event %d came, want %+v", g, it.Channel, number, c.overtake)
	}
	o := c.overtake[0]
	c.overtake = c.overtake[1:]
	got := w.queued(g, it.Channel, it.Overtaken)
	got = append(got, slices.DeleteFunc(slices.Clone(o.told), func(line string) bool { return c.promoted[line] })...)
	if want := c.before(o.at); !slices.Equal(got, want) {
		w.rt.Fatalf("gate %d, channel %d: event %d overtook %d items here and %q there, together %q, want %q",
			g, it.Channel, number, it.Overtaken, o.told, got, want)
	}
}

func (w *passingWorld) next(g int) bool {
	it, ok := w.ins[g].Next()
	return w.handedOut(g, it, ok)
}

func (w *passingWorld) nextPriority(g int) {
	if it, ok := w.ins[g].NextPriority(); ok {
		if it.Event == nil {
			w.rt.Fatalf("gate %d: %+v came before all data", g, it)
		}
		w.handedOut(g, it, ok)
	}
}

func (w *passingWorld) handedOut(g int, it netstack.Item, ok bool) bool {
	switch {
	case !ok:
		return false
	case it.Event == nil:
		if w.ins[g].Blocked(it.Channel) {
			w.rt.Fatalf("gate %d: %+v came from a blocked channel", g, it)
		}
		w.came(g, it.Channel, w.itemLines(sharedItem{buf: it.Buf}))
		w.held = append(w.held, heldItem{g, it})
	case it.Event.Priority:
		w.overtook(g, it)
	default:
		w.orderedCame(g, it)
	}
	return true
}

// orderedCame checks an ordered event, hastened or not: it overtook what was before it
// and has not been handed out, which is nothing when its turn has come.
func (w *passingWorld) orderedCame(g int, it netstack.Item) {
	c := w.channels[g][it.Channel]
	at, ok := c.remove(w.line(it.Event))
	if got, want := w.queued(g, it.Channel, it.Overtaken), c.before(at); !ok || !slices.Equal(got, want) {
		w.rt.Fatalf("gate %d, channel %d: %s came and overtook %q, want %q", g, it.Channel, w.line(it.Event), got, want)
	}
	if it.Overtaken > 0 && !w.hastened(g, w.line(it.Event)) {
		w.rt.Fatalf("gate %d, channel %d: %s overtook %d items", g, it.Channel, w.line(it.Event), it.Overtaken)
	}
}

// hasten lets ordered events through whose number is a multiple of n, none if n is 0.
func (w *passingWorld) hasten(g, n int) {
	if n == 0 {
		w.ins[g].Hasten(nil)
		return
	}
	w.hastens[g] = append(w.hastens[g], uint64(n))
	w.ins[g].Hasten(func(e *netstack.Event) bool { return binary.LittleEndian.Uint64(e.Payload)%uint64(n) == 0 })
}

// hastened reports whether an event can have been hastened.
func (w *passingWorld) hastened(g int, line string) bool {
	var number uint64
	_, err := fmt.Sscanf(line, "event %d", &number)
	return err == nil && slices.ContainsFunc(w.hastens[g], func(n uint64) bool { return number%n == 0 })
}

// release gives back n of the items that the consumers hold.
func (w *passingWorld) release(n int) {
	for ; n > 0 && len(w.held) > 0; n-- {
		h := w.held[0]
		w.held = w.held[1:]
		h.it.Buf.Release()
		w.ins[h.gate].Done(h.it.Channel)
	}
}

// forget gives back n shares, after a look at what they hold by now.
func (w *passingWorld) forget(n int) {
	for ; n > 0 && len(w.captured) > 0; n-- {
		if got := w.itemLines(w.captured[0]); !slices.Equal(got, w.lines[0]) {
			w.rt.Fatalf("a shared buffer holds %q, and held %q", got, w.lines[0])
		}
		w.captured[0].buf.Release()
		w.captured, w.lines = w.captured[1:], w.lines[1:]
	}
}

func (w *passingWorld) finish(p int) {
	if w.finished[p] {
		return
	}
	w.finished[p] = true
	for g := range w.ins {
		w.channels[g][p].add("end", false)
	}
	w.outs[p].Finish()
}

// settle lets everything arrive.
func (w *passingWorld) settle() {
	for busy := true; busy; {
		for g := range w.ins {
			for ch := range w.outs {
				w.ins[g].Unblock(ch)
			}
			for w.next(g) {
			}
		}
		busy = len(w.held) > 0
		w.release(len(w.held))
	}
}

func (w *passingWorld) end() {
	for p := range w.outs {
		w.finish(p)
	}
	w.settle()
	for g, row := range w.channels {
		for ch, c := range row {
			if len(c.log)+len(c.overtake) > 0 {
				w.rt.Fatalf("gate %d, channel %d: missing %v, %v", g, ch, c.log, c.overtake)
			}
		}
		if n := w.ins[g].QueuedBuffers(); n != 0 {
			w.rt.Fatalf("gate %d: %d buffers are queued in the end", g, n)
		}
	}
	for p, out := range w.outs {
		if n := out.QueuedBuffers(); n != 0 {
			w.rt.Fatalf("partition %d: %d buffers are queued in the end", p, n)
		}
	}
	w.forget(len(w.captured))
	w.close()
}

func TestRandomEventsOvertakeExactlyWhatIsBeforeThem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newPassingWorld(t, rt)
		partition := rapid.IntRange(0, len(w.outs)-1)
		gate := rapid.IntRange(0, len(w.ins)-1)
		size := rapid.OneOf(rapid.IntRange(8, 64), rapid.IntRange(8, 200))
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(rt, "times") {
					w.write(partition.Draw(rt, "partition"), size.Draw(rt, "size"))
				}
			},
			"event":           func(rt *rapid.T) { w.emit(partition.Draw(rt, "partition"), false) },
			"stop":            func(rt *rapid.T) { w.emit(partition.Draw(rt, "partition"), true) },
			"overtake":        func(rt *rapid.T) { w.overtakeAll(partition.Draw(rt, "partition")) },
			"promote":         func(rt *rapid.T) { w.promote(partition.Draw(rt, "partition")) },
			"promote at gate": func(rt *rapid.T) { w.promoteAtGate(gate.Draw(rt, "gate"), partition.Draw(rt, "channel")) },
			"flush":           func(rt *rapid.T) { w.outs[partition.Draw(rt, "partition")].Flush(0) },
			"next": func(rt *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(rt, "times") {
					w.next(gate.Draw(rt, "gate"))
				}
			},
			"next priority": func(rt *rapid.T) { w.nextPriority(gate.Draw(rt, "gate")) },
			"release":       func(rt *rapid.T) { w.release(rapid.IntRange(1, 5).Draw(rt, "times")) },
			"forget":        func(rt *rapid.T) { w.forget(rapid.IntRange(1, 9).Draw(rt, "times")) },
			"block":         func(rt *rapid.T) { w.ins[gate.Draw(rt, "gate")].Block(partition.Draw(rt, "channel")) },
			"hasten":        func(rt *rapid.T) { w.hasten(gate.Draw(rt, "gate"), rapid.IntRange(0, 3).Draw(rt, "multiples")) },
			"unblock":       func(rt *rapid.T) { w.ins[gate.Draw(rt, "gate")].Unblock(partition.Draw(rt, "channel")) },
			"finish": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "really") == 0 {
					w.finish(partition.Draw(rt, "partition"))
				}
			},
		})
		w.end()
	})
}

package netstack_test

import (
	"fmt"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"pgregory.net/rapid"
)

// world is a random exchange, driven by one goroutine, together with what each
// channel still has to deliver.
type world struct {
	*local
	rt        *rapid.T
	broadcast bool
	pumping   bool // Space may wait: the consumers read meanwhile

	written  []uint64     // by partition: the next record's number
	finished []bool       // by partition
	ordered  [][][]string // by gate and channel: records and ordered events to come
	priority [][][]string // by gate and channel: priority events to come
	readers  []*reader
	held     []heldItem // with the consumers
}

type heldItem struct {
	gate int
	it   netstack.Item
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{rt: rt, broadcast: rapid.Bool().Draw(rt, "broadcast")}
	partitions, gates := rapid.IntRange(1, 3).Draw(rt, "partitions"), rapid.IntRange(1, 3).Draw(rt, "gates")
	least := partitions * (gates + 1)
	w.local = newLocal(t, localOptions{
		partitions: partitions, gates: gates,
		segments: least + rapid.IntRange(0, 40).Draw(rt, "memory"),
		out: netstack.PartitionOptions{
			Broadcast: w.broadcast,
			Exclusive: rapid.IntRange(1, 3).Draw(rt, "exclusive"),
			MaxQueued: rapid.IntRange(1, 5).Draw(rt, "max queued"),
			Wait:      w.pump,
		},
		in: netstack.GateOptions{
			Exclusive: rapid.SampledFrom([]int{-1, 1, 2}).Draw(rt, "own credit"),
			Floating:  rapid.IntRange(1, 4).Draw(rt, "floating credit"),
		},
	})
	w.written, w.finished = make([]uint64, partitions), make([]bool, partitions)
	for _, g := range w.ins {
		w.readers = append(w.readers, newReader(t, g))
		w.ordered = append(w.ordered, make([][]string, partitions))
		w.priority = append(w.priority, make([][]string, partitions))
	}
	return w
}

// pump is Wait: everything that the consumers have goes, and a bit more comes.
func (w *world) pump() {
	if !w.pumping {
		w.rt.Fatal("a partition that was available waits for a buffer")
	}
	w.release(len(w.held))
	for g := range w.ins {
		w.unblock(g)
		w.next(g)
	}
	w.release(len(w.held))
}

func (w *world) unblock(g int) {
	for ch := range w.outs {
		w.ins[g].Unblock(ch)
	}
}

// expect adds what subpartition sub of partition p is about to send.
func (w *world) expect(lists [][][]string, p, sub int, what string) {
	for g := range w.ins {
		if w.broadcast && sub < 0 || g == sub {
			lists[g][p] = append(lists[g][p], what)
		}
	}
}

func (w *world) write(p, size int) {
	out := w.outs[p]
	w.pumping = record.Size(size, false) > out.MaxRecord()
	if w.finished[p] || (!w.pumping && !out.Available()) {
		return
	}
	sub, target := 0, -1
	if !w.broadcast {
		sub = rapid.IntRange(0, len(w.ins)-1).Draw(w.rt, "to")
		target = sub
	}
	w.expect(w.ordered, p, target, fmt.Sprint(w.written[p]))
	write(out, sub, numbered(w.written[p], size))
	w.written[p]++
	w.pumping = false
}

func (w *world) emit(p int, priority bool) {
	if w.finished[p] {
		return
	}
	sub := rapid.IntRange(0, len(w.ins)-1).Draw(w.rt, "to")
	kind := rapid.IntRange(0, 200).Draw(w.rt, "kind")
	list := w.ordered
	if priority {
		list = w.priority
	}
	list[sub][p] = append(list[sub][p], fmt.Sprint("event ", kind))
	w.outs[p].Emit(sub, event(kind, priority))
}

func (w *world) finish(p int) {
	if w.finished[p] {
		return
	}
	w.finished[p] = true
	for g := range w.ins {
		w.ordered[g][p] = append(w.ordered[g][p], "end")
	}
	w.outs[p].Finish()
}

// came checks that what came on a channel is what had to come next.
func (w *world) came(lists [][][]string, g, ch int, what string) {
	list := lists[g][ch]
	if len(list) == 0 || list[0] != what {
		w.rt.Fatalf("gate %d, channel %d: %q came, want %.3q", g, ch, what, list)
	}
	lists[g][ch] = list[1:]
}

func (w *world) urgent(g int) (n int) {
	for _, list := range w.priority[g] {
		n += len(list)
	}
	return n
}

// next reads one item from a gate. Data stays with the consumer.
func (w *world) next(g int) bool {
	urgent := w.urgent(g)
	it, ok := w.ins[g].Next()
	if urgent > 0 && (!ok || it.Event == nil || !it.Event.Priority) {
		w.rt.Fatalf("gate %d: %+v came before %d priority events", g, it, urgent)
	}
	if !ok {
		return false
	}
	switch e := it.Event; {
	case e == nil:
		w.readers[g].parse(it, func(r *record.Record) {
			w.came(w.ordered, g, it.Channel, fmt.Sprint(number(w.t, r)))
		})
		w.held = append(w.held, heldItem{g, it})
	case e.Kind == netstack.EndOfPartition:
		w.came(w.ordered, g, it.Channel, "end")
	case e.Priority:
		w.came(w.priority, g, it.Channel, fmt.Sprint("event ", e.Kind-netstack.FirstUserEvent))
	default:
		w.came(w.ordered, g, it.Channel, fmt.Sprint("event ", e.Kind-netstack.FirstUserEvent))
	}
	return true
}

// release gives back n of the items that the consumers hold, in any order.
func (w *world) release(n int) {
	for ; n > 0 && len(w.held) > 0; n-- {
		i := rapid.IntRange(0, len(w.held)-1).Draw(w.rt, "release")
		h := w.held[i]
		w.held[i] = w.held[len(w.held)-1]
		w.held = w.held[:len(w.held)-1]
		w.readers[h.gate].done(h.it)
	}
}

// check holds after every step.
func (w *world) check(rt *rapid.T) {
	for _, p := range w.arena.Ledger().Pools {
		if p.InUse() > p.Limit+netstack.DefaultOverdraft {
			rt.Fatalf("pool %q has %d buffers in use, limit %d", p.Name, p.InUse(), p.Limit)
		}
	}
}

// settle lets everything arrive.
func (w *world) settle() {
	for busy := true; busy; {
		for g := range w.ins {
			w.unblock(g)
			for w.next(g) {
			}
		}
		busy = len(w.held) > 0 // what is given back may let more come
		w.release(len(w.held))
	}
}

// end finishes everything and checks that nothing is missing and nothing is held.
func (w *world) end() {
	w.settle()
	for p, out := range w.outs {
		if !out.Available() {
			w.rt.Fatalf("partition %d is not available although all has been read", p)
		}
		w.finish(p)
	}
	w.settle()
	for g := range w.ins {
		for p := range w.outs {
			if missing := len(w.ordered[g][p]) + len(w.priority[g][p]); missing > 0 {
				w.rt.Fatalf("gate %d, channel %d: missing %q %q", g, p, w.ordered[g][p], w.priority[g][p])
			}
		}
		if n := w.ins[g].Open(); n != 0 {
			w.rt.Fatalf("gate %d: %d channels are open", g, n)
		}
	}
	w.close()
}

func TestRandomExchangesKeepOrderAndBuffers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		partition := rapid.IntRange(0, len(w.outs)-1)
		gate := rapid.IntRange(0, len(w.ins)-1)
		size := rapid.OneOf(rapid.IntRange(8, 64), rapid.IntRange(8, 216))
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(rt, "times") {
					w.write(partition.Draw(rt, "partition"), size.Draw(rt, "size"))
				}
			},
			"write large": func(rt *rapid.T) {
				w.write(partition.Draw(rt, "partition"), rapid.IntRange(217, 2000).Draw(rt, "size"))
			},
			"event":          func(rt *rapid.T) { w.emit(partition.Draw(rt, "partition"), false) },
			"priority event": func(rt *rapid.T) { w.emit(partition.Draw(rt, "partition"), true) },
			"flush":          func(rt *rapid.T) { w.outs[partition.Draw(rt, "partition")].Flush(0) },
			"next": func(rt *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(rt, "times") {
					w.next(gate.Draw(rt, "gate"))
				}
			},
			"release": func(rt *rapid.T) { w.release(rapid.IntRange(1, 5).Draw(rt, "times")) },
			"block": func(rt *rapid.T) {
				w.ins[gate.Draw(rt, "gate")].Block(partition.Draw(rt, "channel"))
			},
			"unblock": func(rt *rapid.T) {
				w.ins[gate.Draw(rt, "gate")].Unblock(partition.Draw(rt, "channel"))
			},
			"finish": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "really") == 0 {
					w.finish(partition.Draw(rt, "partition"))
				}
			},
			"": w.check,
		})
		w.end()
	})
}

package netstack_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
)

// A little data that is flushed while nothing else goes on has been written when Flush
// returns: no other goroutine had to run.
func TestFlushWritesALittleItself(t *testing.T) {
	p := newPair(t, variants["tcp"], netstack.PartitionOptions{Subpartitions: 1, FlushInterval: -1}, 0)
	sender := p.stacks[0]
	itself := 0
	for n := range uint64(200) {
		waitUntil(t, "all credit", func() bool { return sender.Connections()[0].Credits >= netstack.DefaultExclusive })
		p.out.send(0, n, 64)
		before := sender.Stats().Writes
		p.out.Flush(0)
		if sender.Stats().Writes > before {
			itself++
		}
		it := p.in.next()
		if got := binary.LittleEndian.Uint64(it.Buf.Payload()); got != n {
			t.Fatalf("record %d, want %d", got, n)
		}
		it.Buf.Release()
		p.in.Done(it.Channel)
	}
	if itself < 100 { // the loop may be about to look at something
		t.Errorf("%d flushes of 200 wrote", itself)
	}
	p.out.finish()
	p.in.each(func(netstack.Item) {})
	p.close()
}

// Subtasks that flush all the time, in both directions, beside the loop.
func TestFlushesOfManySubtasksKeepTheirOrder(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const subtasks, records = 4, 300
		c := newCluster(t, co)
		outs, ins := make([][]*outlet, 2), make([][]*inlet, 2)
		for w := range 2 {
			for i := range subtasks {
				out := newOutlet(t, c.arenas[w], netstack.PartitionOptions{Subpartitions: 2, FlushInterval: -1})
				in := newInlet(t, netstack.GateOptions{Inputs: []int{2}})
				for ch := range 2 {
					must(t, c.stacks[w].BindOut(1-w, uint32(1+2*i+ch), out.Partition, ch))
					must(t, c.stacks[w].BindIn(1-w, uint32(1+2*i+ch), in.Gate, ch))
				}
				outs[w], ins[w] = append(outs[w], out), append(ins[w], in)
			}
		}
		c.start()
		var wg sync.WaitGroup
		for w := range 2 {
			for i := range subtasks {
				wg.Go(func() {
					for n := range uint64(records) {
						outs[w][i].send(int(n%2), n/2, 64+int(n%7)*1000)
						outs[w][i].Flush(0)
					}
					outs[w][i].finish()
				})
				wg.Go(func() {
					next := make([]uint64, 2)
					ins[w][i].each(func(it netstack.Item) {
						if it.Event != nil {
							return
						}
						for b := it.Buf.Payload(); len(b) > 0; next[it.Channel]++ {
							n := 2*next[it.Channel] + uint64(it.Channel)
							if got := binary.LittleEndian.Uint64(b); got != n/2 {
								t.Errorf("channel %d: record %d, want %d", it.Channel, got, n/2)
								return
							}
							b = b[64+int(n%7)*1000:]
						}
					})
					if next[0] != records/2 || next[1] != records/2 {
						t.Errorf("%d records, want %d of each channel", next, records/2)
					}
				})
			}
		}
		wg.Wait()
		c.close()
	})
}

// A peer that is gone is reported once, whoever finds out.
func TestFlushFindsThePeerGone(t *testing.T) {
	p := newPair(t, variants["tcp"], netstack.PartitionOptions{Subpartitions: 1, FlushInterval: -1}, 0)
	p.stacks[1].Abort(nil)
	for n := uint64(0); len(p.failed) == 0; n++ {
		if p.out.Available() {
			p.out.send(0, n, 64)
		}
		p.out.Flush(0)
	}
	p.out.Cancel()
	p.out.Close()
	p.in.Close()
	errs := p.each((*netstack.Stack).Close)
	if errs[0] == nil {
		t.Error("Close does not say that the peer is gone")
	}
	if len(p.failed) != 1 {
		t.Errorf("%d failures were reported, want 1", len(p.failed))
	}
	p.checkLeaks()
}

package netstack_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// pair joins subpartitions of a partition at worker 0 to a gate at worker 1.
type pair struct {
	*cluster
	out *outlet
	in  *inlet
}

func newPair(t testing.TB, co clusterOptions, po netstack.PartitionOptions, exclusive int) *pair {
	t.Helper()
	c := newCluster(t, co)
	p := &pair{cluster: c, out: newOutlet(t, c.arenas[0], po)}
	p.in = newInlet(t, netstack.GateOptions{Inputs: []int{po.Subpartitions}, Exclusive: exclusive})
	for ch := range po.Subpartitions {
		must(t, c.stacks[0].BindOut(1, uint32(1+ch), p.out.Partition, ch))
		must(t, c.stacks[1].BindIn(0, uint32(1+ch), p.in.Gate, ch))
	}
	c.start()
	return p
}

// waitUntil polls a condition that no callback announces.
func waitUntil(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestEventsKeepTheirPlace(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1}, 0)
		go func() {
			for n := range uint64(100) {
				p.out.send(0, n, 64)
				e := &netstack.Event{Kind: netstack.FirstUserEvent, Payload: binary.LittleEndian.AppendUint64(nil, n)}
				if n == 50 {
					e.Payload = append(e.Payload, make([]byte, netstack.MaxEventPayload-8)...)
				}
				p.out.Emit(0, e)
			}
			p.out.finish()
		}()
		var got []uint64
		p.in.each(func(it netstack.Item) {
			switch {
			case it.Event == nil:
				got = append(got, 2*binary.LittleEndian.Uint64(it.Buf.Payload()))
			case it.Event.Kind == netstack.FirstUserEvent:
				got = append(got, 2*binary.LittleEndian.Uint64(it.Event.Payload)+1)
			}
		})
		want := make([]uint64, 200)
		for i := range want {
			want[i] = uint64(i)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want 0 to 199 in order", got)
		}
		p.close()
	})
}

// TestPriorityEventOvertakesQueuedData: without credit nothing moves but events.
func TestPriorityEventOvertakesQueuedData(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1, Exclusive: 20, MaxQueued: 30}, 2)
		first := p.in.parker
		size := p.out.MaxRecord()
		for n := range uint64(20) {
			p.out.send(0, n, size)
		}
		p.out.Flush(0)
		p.out.Emit(0, &netstack.Event{Kind: netstack.FirstUserEvent, Priority: true})
		var before int
		var held []netstack.Item
		for {
			it, ok := p.in.Next()
			if !ok {
				first.Park(nil)
				continue
			}
			if it.Event != nil {
				break
			}
			before++ // not released: no new credit
			held = append(held, it)
		}
		if before > 12 {
			t.Errorf("%d buffers came before the priority event, with 2 + 8 of credit", before)
		}
		for _, it := range held {
			it.Buf.Release()
			p.in.Done(it.Channel)
		}
		p.out.finish()
		n := before
		p.in.each(func(it netstack.Item) {
			if it.Event == nil {
				n++
			}
		})
		if n != 20 {
			t.Errorf("%d buffers in total, want 20", n)
		}
		p.close()
	})
}

func TestBroadcastSharesBuffers(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels, records = 5, 300
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: channels, Broadcast: true}, 0)
		go func() {
			for n := range uint64(records) {
				p.out.send(0, n, 8+int(n*97)%2000)
				if n%50 == 0 {
					p.out.Emit(int(n)%channels, &netstack.Event{Kind: netstack.FirstUserEvent})
				}
			}
			p.out.finish()
		}()
		sums := make([][]byte, channels)
		p.in.each(func(it netstack.Item) {
			if it.Event == nil {
				sums[it.Channel] = append(sums[it.Channel], it.Buf.Payload()...)
			}
		})
		for ch := range sums {
			if !bytes.Equal(sums[ch], sums[0]) {
				t.Errorf("channel %d got other bytes than channel 0", ch)
			}
		}
		p.close()
	})
}

func TestLargeRecordsAreCutAndAssembled(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		co.segment = 256
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 2}, 0)
		go func() {
			for n := range 50 {
				rec := bytes.Repeat([]byte{byte(n)}, 8+n*100)
				p.out.ready()
				if len(rec) > p.out.MaxRecord() {
					p.out.WriteLarge(n%2, rec)
					continue
				}
				p.out.Commit(n%2, copy(p.out.Space(n%2, len(rec)), rec))
				p.out.Flush(0)
			}
			p.out.finish()
		}()
		whole := [2][]byte{}
		assemblers := [2]record.Assembler{record.NewAssembler(1 << 20), record.NewAssembler(1 << 20)}
		p.in.each(func(it netstack.Item) {
			if it.Event != nil {
				return
			}
			b, err := assemblers[it.Channel].Add(it.Buf.Payload(), !it.Partial)
			must(t, err)
			whole[it.Channel] = append(whole[it.Channel], b...)
		})
		for ch := range whole {
			var want []byte
			for n := ch; n < 50; n += 2 {
				want = append(want, bytes.Repeat([]byte{byte(n)}, 8+n*100)...)
			}
			if !bytes.Equal(whole[ch], want) {
				t.Errorf("channel %d: %d bytes, want %d, or other content", ch, len(whole[ch]), len(want))
			}
		}
		p.close()
	})
}

// TestStalledChannelDoesNotHoldUpOthers: two gates share a connection; one never
// reads.
func TestStalledChannelDoesNotHoldUpOthers(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		c := newCluster(t, co)
		stalled := newOutlet(t, c.arenas[0], netstack.PartitionOptions{Name: "stalled", Subpartitions: 1})
		moving := newOutlet(t, c.arenas[0], netstack.PartitionOptions{Name: "moving", Subpartitions: 1})
		sleeper := newInlet(t, netstack.GateOptions{Name: "sleeper", Inputs: []int{1}})
		reader := newInlet(t, netstack.GateOptions{Name: "reader", Inputs: []int{1}})
		must(t, c.stacks[0].BindOut(1, 1, stalled.Partition, 0))
		must(t, c.stacks[0].BindOut(1, 2, moving.Partition, 0))
		must(t, c.stacks[1].BindIn(0, 1, sleeper.Gate, 0))
		must(t, c.stacks[1].BindIn(0, 2, reader.Gate, 0))
		c.start()
		var sent atomic.Int64
		go func() {
			for stalled.ready(); sent.Load() < 100; stalled.ready() {
				stalled.Space(0, stalled.MaxRecord())
				stalled.Commit(0, stalled.MaxRecord())
				sent.Add(1)
			}
			stalled.finish()
		}()
		go func() {
			for n := range uint64(1000) {
				moving.send(0, n, moving.MaxRecord())
			}
			moving.finish()
		}()
		n := 0
		reader.each(func(netstack.Item) { n++ })
		if n != 1001 {
			t.Errorf("%d items on the moving channel, want 1000 and the end", n)
		}
		if s := sent.Load(); s >= 100 {
			t.Errorf("the stalled channel took %d buffers", s)
		}
		sleeper.each(func(netstack.Item) {})
		c.close()
	})
}

// TestBackpressureBoundsMemory: with a reader that stands still, what is in use
// stops growing at what the two sides may have, and all of it comes back.
func TestBackpressureBoundsMemory(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels = 16
		co.segment, co.budget = 1<<10, 1<<20
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: channels}, 0)
		var n atomic.Int64
		go func() {
			for i := range 4000 {
				p.out.send(i%channels, 0, p.out.MaxRecord())
				n.Add(1)
			}
			p.out.finish()
		}()
		var last int64 = -1
		waitUntil(t, "the source to stop", func() bool {
			now := n.Load()
			stopped := now == last && now > 0
			last = now
			if !stopped {
				time.Sleep(20 * time.Millisecond)
			}
			return stopped
		})
		limit := int64(channels*2 + 8 + channels*2 + 8 + 2*channels) // gate, partition, records open
		if last > limit {
			t.Errorf("the source got %d buffers away, want at most %d", last, limit)
		}
		for i, a := range p.arenas {
			if held := a.Held(); held > channels*2+8+1+5+32 {
				t.Errorf("worker %d holds %d buffers:\n%v", i, held, a.Ledger())
			}
		}
		p.in.each(func(netstack.Item) {})
		p.close()
	})
}

// TestScenario09_ZeroExclusiveOverTCP: no channel has credit of its own; what is
// sent after a silence still gets through, because the backlog is reported.
func TestScenario09_ZeroExclusiveOverTCP(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels, rounds = 12, 20
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: channels}, -1)
		var seen atomic.Int64
		go func() {
			for round := range rounds {
				for ch := range channels {
					p.out.send(ch, uint64(round), p.out.MaxRecord())
				}
				for ch := range channels {
					p.out.Emit(ch, &netstack.Event{Kind: netstack.FirstUserEvent}) // seals
				}
				waitUntil(t, "silence", func() bool { return seen.Load() == int64((round+1)*channels) })
			}
			p.out.finish()
		}()
		p.in.each(func(it netstack.Item) {
			if it.Event == nil {
				seen.Add(1)
			}
		})
		p.close()
	})
}

// TestScenario10_SendersHoldEveryBufferOverTCP: arenas just large enough for what
// is promised, both workers send to each other, one starts to read late.
func TestScenario10_SendersHoldEveryBufferOverTCP(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels, records = 4, 200
		co.segment, co.budget = 256, 256*(channels+1+2*channels+2)
		c := newCluster(t, co)
		outs, ins := [2]*outlet{}, [2]*inlet{}
		for w := range 2 {
			outs[w] = newOutlet(t, c.arenas[w], netstack.PartitionOptions{Subpartitions: channels})
			ins[w] = newInlet(t, netstack.GateOptions{Inputs: []int{channels}})
			for ch := range channels {
				must(t, c.stacks[w].BindOut(1-w, uint32(1+ch), outs[w].Partition, ch))
				must(t, c.stacks[w].BindIn(1-w, uint32(1+ch), ins[w].Gate, ch))
			}
		}
		c.start()
		var wg sync.WaitGroup
		first := make(chan struct{})
		for w := range 2 {
			wg.Go(func() {
				for n := range records * channels {
					outs[w].send(n%channels, uint64(n), 200)
				}
				outs[w].finish()
			})
			wg.Go(func() {
				if w == 1 {
					<-first
				}
				n := 0
				ins[w].each(func(netstack.Item) {
					if n++; n == 20 && w == 0 {
						close(first)
					}
				})
			})
		}
		wg.Wait()
		c.close()
	})
}

func TestManyWorkersFullMesh(t *testing.T) {
	const workers, records = 4, 100
	c := newCluster(t, clusterOptions{workers: workers, budget: 16 << 20})
	var wg sync.WaitGroup
	var runs []func()
	for w := range workers {
		out := newOutlet(t, c.arenas[w], netstack.PartitionOptions{Subpartitions: workers, Name: fmt.Sprint("source ", w)})
		in := newInlet(t, netstack.GateOptions{Inputs: []int{workers}})
		netstack.ConnectLocal(out.Partition, w, in.Gate, w)
		for peer := range workers {
			if peer != w {
				must(t, c.stacks[w].BindOut(peer, uint32(1+w), out.Partition, peer))
				must(t, c.stacks[w].BindIn(peer, uint32(1+peer), in.Gate, peer))
			}
		}
		runs = append(runs, func() {
			for n := range records * workers {
				out.send(n%workers, uint64(n), 1000)
			}
			out.finish()
		}, func() {
			bytes := 0
			in.each(func(it netstack.Item) {
				if it.Event == nil {
					bytes += it.Buf.Len()
				}
			})
			if bytes != workers*records*1000 {
				t.Errorf("worker %d received %d bytes, want %d", w, bytes, workers*records*1000)
			}
		})
	}
	c.start()
	for _, run := range runs {
		wg.Go(run)
	}
	wg.Wait()
	c.close()
}

// TestFullBuffersAreNotCopied: a loaded stream of full buffers is handed over in
// the segments it was read into.
func TestFullBuffersAreNotCopied(t *testing.T) {
	p := newPair(t, clusterOptions{}, netstack.PartitionOptions{Subpartitions: 1, Exclusive: 32, MaxQueued: 32}, 32)
	const n = 2000
	go func() {
		for i := range uint64(n) {
			p.out.send(0, i, p.out.MaxRecord())
		}
		p.out.finish()
	}()
	p.in.each(func(it netstack.Item) {
		if it.Event == nil {
			it.Buf.SetState(bufferpool.Received)
		}
	})
	if s := p.stacks[1].Stats(); s.HandedOver < n*9/10 {
		t.Errorf("%d of %d buffers were handed over, want nearly all: %+v", s.HandedOver, n, s)
	}
	p.close()
}

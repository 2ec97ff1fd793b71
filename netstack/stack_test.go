package netstack_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
)

// variants are the ways in which two workers can be joined.
var variants = map[string]clusterOptions{
	"tcp":            {network: "tcp"},
	"unix":           {network: "unix"},
	"tcp goroutines": {network: "tcp", each: func(_ int, o *netstack.StackOptions) { o.ForceGoroutines = true }},
	"tcp checksums":  {network: "tcp", each: func(_ int, o *netstack.StackOptions) { o.PayloadCRC = true }},
}

func eachVariant(t *testing.T, f func(t *testing.T, co clusterOptions)) {
	for name, co := range variants {
		t.Run(name, func(t *testing.T) { f(t, co) })
	}
	t.Run("tls", func(t *testing.T) { f(t, tlsVariant(t)) })
}

func TestRecordsCrossInOrderBothWays(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels, buffers, size = 8, 200, 4<<10 - 32
		co.segment = size + 32
		c := newCluster(t, co)
		var outs []*outlet
		var ins []*inlet
		for w := range 2 {
			out := newOutlet(t, c.arenas[w], netstack.PartitionOptions{Subpartitions: channels})
			in := newInlet(t, netstack.GateOptions{Inputs: []int{channels}})
			for ch := range channels {
				must(t, c.stacks[w].BindOut(1-w, uint32(1+ch), out.Partition, ch))
				must(t, c.stacks[w].BindIn(1-w, uint32(1+ch), in.Gate, ch))
			}
			outs, ins = append(outs, out), append(ins, in)
		}
		c.start()
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for n := range buffers * channels {
					outs[w].send(n%channels, uint64(n/channels), size-n%2*1000)
				}
				outs[w].finish()
			})
			wg.Go(func() {
				next := make([]uint64, channels)
				ins[w].each(func(it netstack.Item) {
					if it.Event != nil {
						return
					}
					if got := binary.LittleEndian.Uint64(it.Buf.Payload()); got != next[it.Channel] {
						t.Errorf("channel %d: record %d, want %d", it.Channel, got, next[it.Channel])
					}
					next[it.Channel]++
				})
				for ch, n := range next {
					if n != buffers {
						t.Errorf("channel %d: %d records, want %d", ch, n, buffers)
					}
				}
			})
		}
		wg.Wait()
		c.close()
	})
}

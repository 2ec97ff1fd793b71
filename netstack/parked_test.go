package netstack_test

import (
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// Each of many channels has buffers set aside at the receiver. Those that are used are
// nevertheless the few that came back last, whichever channel they come back for.
func TestFewParkedBuffersAreTouched(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const channels, rounds = 60, 2
		co.segment = 4 << 10
		c := newCluster(t, co)
		out := newOutlet(t, c.arenas[0], netstack.PartitionOptions{Subpartitions: channels, FlushInterval: -1})
		in := newInlet(t, netstack.GateOptions{Inputs: []int{channels}, Exclusive: 2, Floating: -1})
		for ch := range channels {
			must(t, c.stacks[0].BindOut(1, uint32(1+ch), out.Partition, ch))
			must(t, c.stacks[1].BindIn(0, uint32(1+ch), in.Gate, ch))
		}
		c.start()
		used := map[*byte]bool{}
		for n := range rounds * channels {
			out.send(n%channels, uint64(n), out.MaxRecord())
			out.Flush(0)
			it := in.next()
			used[&it.Buf.Payload()[0]] = true
			it.Buf.Release()
			in.Done(it.Channel)
			for c.stacks[0].Connections()[0].Credits < 2*channels { // until it is parked again
				time.Sleep(50 * time.Microsecond)
			}
		}
		if most := channels * 3 / 4; len(used) > most {
			t.Errorf("%d buffers were used of %d that are set aside for channels, want at most %d", len(used), 2*channels, most)
		}
		out.finish()
		in.each(func(netstack.Item) {})
		c.close()
	})
}

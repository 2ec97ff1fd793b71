package netstack_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// What a receiver has no room for waits at the sender, and the connection's account says so.
func TestConnectionsTellOfCreditAndQueues(t *testing.T) {
	c := newCluster(t, clusterOptions{network: "tcp", segment: 1 << 10})
	const exclusive, channels, size, more = 4, 3, 1<<10 - 32, 2
	out := newOutlet(t, c.arenas[0], netstack.PartitionOptions{Subpartitions: channels, Exclusive: 32})
	in := newInlet(t, netstack.GateOptions{Inputs: []int{channels}, Exclusive: exclusive, Floating: -1})
	for ch := range channels {
		must(t, c.stacks[0].BindOut(1, uint32(1+ch), out.Partition, ch))
		must(t, c.stacks[1].BindIn(0, uint32(1+ch), in.Gate, ch))
	}
	if all := c.stacks[0].Connections(); len(all) != 1 || all[0] != (netstack.ConnectionStats{Peer: 1, Channels: channels}) {
		t.Errorf("before the start: %+v", all)
	}
	c.start()
	for n := range exclusive + more + 1 { // the last one stays open
		out.send(1, uint64(n), size)
	}
	want := netstack.ConnectionStats{
		Peer: 1, Channels: channels, Granted: exclusive * channels, Credits: exclusive * (channels - 1), Starved: 1, Queued: more, Bytes: more * size,
	}
	for end := time.Now().Add(20 * time.Second); ; {
		all := c.stacks[0].Connections()
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		got := all[0]
		if got.Cookie == 0 && runtime.GOOS == "linux" {
			t.Fatal("the socket has no name")
		}
		if got.Cookie = 0; got == want {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		runtime.Gosched()
	}
	if all := c.stacks[1].Connections(); len(all) != 1 || all[0].Channels != 0 || all[0].Queued != 0 || all[0].Peer != 0 {
		t.Errorf("the receiver sends: %+v", all)
	}
	go out.finish()
	in.each(func(netstack.Item) {})
	c.close()
}

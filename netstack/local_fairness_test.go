package netstack_test

import (
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"pgregory.net/rapid"
)

// TestNoChannelWaitsForLong drives a gate with random loads. A channel that gets
// its first item is served after at most one turn of all channels that were ahead
// of it, plus the items that the gate hands out between two looks at its inbox.
func TestNoChannelWaitsForLong(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		channels := rapid.IntRange(1, 40).Draw(rt, "channels")
		l := newLocal(t, localOptions{
			partitions: channels, segments: 4096,
			out: netstack.PartitionOptions{MaxQueued: 1000, Floating: 64},
			in:  netstack.GateOptions{Exclusive: 8},
		})
		bound := max(16, channels) + channels
		waiting := make([]int, channels) // items that others got since; -1: has none queued
		queued := make([]int, channels)
		for i := range waiting {
			waiting[i] = -1
		}
		push := func(i int) {
			if !l.outs[i].Available() {
				return
			}
			write(l.outs[i], 0, numbered(0, 8))
			l.outs[i].Emit(0, event(0, false))
			if queued[i] == 0 {
				waiting[i] = 0
			}
			queued[i] += 2
		}
		serve := func(rt *rapid.T) {
			it, ok := l.ins[0].Next()
			if !ok {
				return
			}
			if it.Event == nil {
				it.Buf.Release()
				l.ins[0].Done(it.Channel)
			}
			for i := range waiting {
				if waiting[i] >= 0 && i != it.Channel {
					if waiting[i]++; waiting[i] > bound {
						rt.Fatalf("channel %d has waited for %d items of others, want at most %d", i, waiting[i], bound)
					}
				}
			}
			queued[it.Channel]--
			waiting[it.Channel] = 0
			if queued[it.Channel] == 0 {
				waiting[it.Channel] = -1
			}
		}
		greedy := rapid.IntRange(0, channels-1).Draw(rt, "greedy")
		rt.Repeat(map[string]func(*rapid.T){
			"push":   func(rt *rapid.T) { push(rapid.IntRange(0, channels-1).Draw(rt, "channel")) },
			"greedy": func(rt *rapid.T) { push(greedy) },
			"serve": func(rt *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(rt, "items") {
					serve(rt)
				}
			},
			"keep up": func(rt *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(rt, "items") {
					push(greedy)
					serve(rt)
					serve(rt)
				}
			},
		})
		newReader(t, l.ins[0]).rest()
		l.close()
	})
}

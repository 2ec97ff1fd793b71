package bench

import (
	"context"
	"errors"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

// localOpenLoop is openLoop with the echo in another goroutine of this process.
func (w wire) localOpenLoop(_ context.Context, rate float64, count int64, into *perf.Histogram) error {
	arena, err := bufferpool.New(bufferpool.Options{Budget: w.Memory, Prefault: true})
	if err != nil {
		return err
	}
	var ends [2]loopEnds
	for i := range ends {
		e := &ends[i]
		if e.out, err = newOutlet(arena, netstack.PartitionOptions{Subpartitions: 1}); err != nil {
			return err
		}
		if e.in, err = newInlet(netstack.GateOptions{Inputs: []int{1}}); err != nil {
			return err
		}
	}
	here, there := &ends[0], &ends[1]
	netstack.ConnectLocal(here.out.Partition, 0, there.in.Gate, 0)
	netstack.ConnectLocal(there.out.Partition, 0, here.in.Gate, 0)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for n := there.hear(); n > 0; n = there.hear() {
			there.say(n)
		}
		there.out.finish()
		there.in.Close()
	}()
	load := NewOpenLoop(rate, PreciseSleep)
	heard := make(chan error)
	go func() { heard <- here.hearAll(load, count, into) }()
	for range count {
		load.Next()
		here.say(1)
	}
	here.out.drain()
	err = <-heard
	here.out.finish()
	for here.hear() > 0 {
	}
	here.in.Close()
	<-answered
	return errors.Join(err, arena.Close())
}

// channelOpenLoop is the same over two Go channels.
func (w wire) channelOpenLoop(_ context.Context, rate float64, count int64, into *perf.Histogram) error {
	there, back := make(chan [pingSize]byte, 1024), make(chan [pingSize]byte, 1024)
	go func() {
		for m := range there {
			back <- m
		}
		close(back)
	}()
	load := NewOpenLoop(rate, PreciseSleep)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		n := int64(0)
		for range back {
			load.Arrived(n, into)
			n++
		}
	}()
	for range count {
		load.Next()
		there <- [pingSize]byte{}
	}
	close(there)
	<-heard
	return nil
}

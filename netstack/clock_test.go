package netstack_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

// skewed is a clock that is ahead of another.
type skewed struct {
	perf.Clock
	ahead time.Duration
}

func (c skewed) Now() time.Duration { return c.Clock.Now() + c.ahead }

// talkers are two workers that send each other control messages: whatever one has sent
// before a message has been taken when its answer comes.
func talkers(t *testing.T, each func(i int, o *netstack.StackOptions)) (c *cluster, round func()) {
	back := make(chan struct{}, 1)
	c = newCluster(t, clusterOptions{segment: 1 << 10, each: func(i int, o *netstack.StackOptions) {
		o.OnControl = func(peer int, b []byte) {
			if i == 0 {
				back <- struct{}{}
			} else if err := c.stacks[i].Control(peer, b); err != nil {
				t.Error(err)
			}
		}
		each(i, o)
	}})
	c.start()
	return c, func() {
		must(t, c.stacks[0].Control(1, []byte("what time is it?")))
		select {
		case <-back:
		case <-time.After(patience):
			t.Fatal("no answer")
		}
	}
}

func TestPeerClocksAreKnown(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour, -24 * time.Hour, 1<<63 - 1 - time.Minute} {
		for _, mode := range []string{"loop", "goroutines"} {
			t.Run(fmt.Sprint(ahead, "/", mode), func(t *testing.T) {
				base := perf.NewClock()
				c, round := talkers(t, func(i int, o *netstack.StackOptions) {
					o.Clock, o.ForceGoroutines = skewed{base, time.Duration(i) * ahead}, mode == "goroutines"
					o.ClockInterval = time.Millisecond
				})
				for range 100 {
					round()
					for i, s := range c.stacks[:1] {
						got, bound, ok := s.PeerClock(1 - i).At(c.opts[i].Clock.Now())
						if wrong := got - ahead; !ok || wrong > bound || wrong < -bound {
							t.Fatalf("%v, give or take %v, %v: wrong by %v", got, bound, ok, wrong)
						}
					}
				}
				if _, bound, _ := c.stacks[0].PeerClock(1).At(base.Now()); bound > patience/2 {
					t.Errorf("the error is %v", bound)
				}
				c.close()
			})
		}
	}
}

// Nobody asks who has not been told to: but he answers.
func TestPeerClocksAreAskedForOnDemand(t *testing.T) {
	c, round := talkers(t, func(i int, o *netstack.StackOptions) { o.ClockInterval = time.Duration(1-i) * time.Hour })
	round()
	if _, _, ok := c.stacks[0].PeerClock(1).At(0); !ok {
		t.Error("worker 0 has no answer")
	}
	if _, _, ok := c.stacks[1].PeerClock(0).At(0); ok {
		t.Error("worker 1 knows what it did not ask for")
	}
	if c.stacks[0].PeerClock(0) != nil || c.stacks[0].PeerClock(2) != nil || c.stacks[0].PeerClock(-1) != nil {
		t.Error("there is a clock where there is no peer")
	}
	c.close()
}

func answer(asked uint64, payload int) netstack.RawFrame {
	return netstack.RawFrame{Type: netstack.FrameAnswer, Epoch: 7, Sequence: asked, Payload: make([]byte, payload)}
}

// A peer that asks for nothing but the time gets answers, as many as it can read.
func TestHostileQuestions(t *testing.T) {
	v := newVictim(t, nil)
	nc := v.join()
	const n = 10_000
	var flood []byte
	for i := range n {
		flood = append(flood, netstack.RawFrame{Type: netstack.FrameAsk, Epoch: 7, Sequence: uint64(i)}.Encode()...)
		flood = append(flood, answer(uint64(i), 16).Encode()...) // which nobody has asked for
	}
	_, err := nc.Write(flood)
	must(t, err)
	last := int64(-1)
	for last < n-1 {
		var b [48]byte
		_, err := io.ReadFull(nc, b[:])
		must(t, err)
		asked := int64(binary.LittleEndian.Uint64(b[16:]))
		if b[0] != netstack.FrameAnswer || asked <= last {
			t.Fatalf("after %d: % x", last, b)
		}
		last = asked
	}
	if _, _, ok := v.stack.PeerClock(1).At(0); ok {
		t.Error("an answer without a question is believed")
	}
	must(t, nc.Close())
	v.expect(netstack.ErrLost)
	v.end(netstack.ErrLost)
}

func TestHostileAnswers(t *testing.T) {
	ask := netstack.RawFrame{Type: netstack.FrameAsk, Epoch: 7}
	onChannel := ask
	onChannel.Channel = 2
	long := ask
	long.Payload = make([]byte, 8)
	goodbye := netstack.RawFrame{Type: netstack.FrameGoodbye, Epoch: 7}
	for name, tc := range map[string]struct {
		send []byte
		want error
	}{
		"short answer":           {answer(0, 15).Encode(), netstack.ErrFrame},
		"empty answer":           {answer(0, 0).Encode(), netstack.ErrFrame},
		"long answer":            {answer(0, 17).Encode(), netstack.ErrOversize},
		"question with content":  {long.Encode(), netstack.ErrOversize},
		"question on a channel":  {onChannel.Encode(), netstack.ErrChannel},
		"question after goodbye": {append(goodbye.Encode(), ask.Encode()...), netstack.ErrFrame},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t, func(o *netstack.StackOptions) { o.PayloadCRC = true })
			nc := v.join()
			_, err := nc.Write(tc.send)
			must(t, err)
			v.expect(tc.want)
			_, _ = io.Copy(io.Discard, nc)
			must(t, errors.Join(ignoreClosed(nc.Close())))
			v.end(tc.want)
		})
	}
}

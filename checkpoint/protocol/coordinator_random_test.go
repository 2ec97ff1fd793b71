package protocol_test

import (
	"fmt"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
	"pgregory.net/rapid"
)

// A coordinatorRandom makes events out of choices: pick returns 0 to n-1.
type coordinatorRandom struct {
	w     *coordinatorWatch
	pick  func(n int) int
	token Token
}

func newCoordinatorRandom(fatalf func(string, ...any), pick func(int) int) *coordinatorRandom {
	o := Options{
		Interval:          int64([]int{0, 1, 10, 50, 300}[pick(5)]),
		Timeout:           int64([]int{100, 1, 30, 5000}[pick(4)]),
		MaxConcurrent:     pick(4),
		TolerableFailures: []int{0, 1, 3, AnyFailures}[pick(4)],
		Retain:            pick(4),
		Mode:              Mode(pick(4)),
		History:           []int{0, 1, 3}[pick(3)],
	}
	if o.MaxConcurrent < 2 {
		o.MinPause = int64([]int{0, 0, 20, 500}[pick(4)])
	}
	a := Attempt{Members: 1 + pick(5)}
	for m := range Member(a.Members) {
		if m == 0 || pick(3) == 0 {
			a.Sources = append(a.Sources, m)
		}
	}
	for range pick(4) {
		a.Last += ID(1 + pick(2))
		a.Retained = append(a.Retained, a.Last)
	}
	a.Last += ID(pick(2))
	return &coordinatorRandom{w: newCoordinatorWatch(fatalf, o, a), pick: pick}
}

// id is mostly one in flight, else any near those that have been.
func (r *coordinatorRandom) id() ID {
	if flying := r.w.flying(); len(flying) > 0 && r.pick(4) > 0 {
		return flying[r.pick(len(flying))]
	}
	return ID(max(0, int(r.w.last)+1-r.pick(8)))
}

func (r *coordinatorRandom) member() Member {
	if r.pick(10) == 0 {
		return Member([]int{-1, r.w.a.Members, 1 << 40}[r.pick(3)])
	}
	return Member(r.pick(r.w.a.Members))
}

func (r *coordinatorRandom) nextToken() Token {
	switch r.pick(6) {
	case 0:
		return 0
	case 1:
		return r.token
	}
	r.token += Token(1 + r.pick(2))
	return r.token
}

func (r *coordinatorRandom) event() Event {
	e := Event{Now: max(r.w.now, 0) + int64(r.pick(8))}
	if r.pick(12) == 0 {
		e.Now -= int64(r.pick(500))
	}
	switch k := r.pick(40); {
	case k < 4:
		e.Type = Tick
		if r.w.wake > e.Now {
			e.Now = r.w.wake - int64(r.pick(2))
		}
	case k < 10:
		e.Type, e.Kind, e.Token = Request, []Kind{Periodic, Periodic, Savepoint, StopSavepoint, Final}[r.pick(5)], r.nextToken()
	case k < 30:
		e.Type, e.ID, e.Member = Ack, r.id(), r.member()
	case k < 31:
		e.Type, e.ID, e.Member = Decline, r.id(), r.member()
	case k < 36:
		e.Type, e.ID = Published, r.w.publish
		if e.ID == 0 || r.pick(8) == 0 {
			e.ID = r.id()
		}
	case k < 37:
		e.Type, e.ID = PublishFailed, r.w.publish
		if e.ID == 0 || r.pick(8) == 0 {
			e.ID = r.id()
		}
	case k < 39:
		e.Type, e.Member = Finished, r.member()
	default:
		e.Type = []EventType{Tick, Tick, Tick, Tick, Failed, Stop, 77}[r.pick(7)]
	}
	return e
}

// step takes an event, or completes a checkpoint: else few would be.
func (r *coordinatorRandom) step() {
	flying := r.w.flying()
	if len(flying) == 0 || r.pick(8) > 0 {
		r.w.step(r.event())
		return
	}
	id := flying[r.pick(len(flying))]
	for m := range Member(r.w.a.Members) {
		r.w.step(Event{Type: Ack, Now: r.w.now, ID: id, Member: m})
	}
	if r.w.publish != 0 {
		r.w.step(Event{Type: Published, Now: r.w.now, ID: r.w.publish})
	}
}

func TestCoordinatorAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		pick := func(max int) int {
			n++
			return rapid.IntRange(0, max-1).Draw(t, fmt.Sprint("pick ", n))
		}
		r := newCoordinatorRandom(t.Fatalf, pick)
		for range rapid.IntRange(0, 120).Draw(t, "events") {
			r.step()
		}
		r.w.drain()
	})
}

func FuzzCoordinator(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 2, 1, 1, 0, 0, 1, 0, 0, 0, 0, 5, 0, 1, 0, 20, 1, 0, 0, 20, 1, 0, 1, 32, 0, 0})
	for seed := range byte(8) {
		choices := make([]byte, 400)
		for i, x := 0, uint32(seed)+1; i < len(choices); i++ {
			x = x*1664525 + 1013904223
			choices[i] = byte(x >> 24)
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		next := 0
		pick := func(n int) int {
			if next == len(choices) {
				return 0
			}
			next++
			return int(choices[next-1]) % n
		}
		r := newCoordinatorRandom(t.Fatalf, pick)
		for next < len(choices) {
			r.step()
		}
		r.w.drain()
	})
}

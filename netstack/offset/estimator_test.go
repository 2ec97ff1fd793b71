package offset_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/netstack/offset"
)

// However long the ways take, and however clocks drift within what they may, the offset
// is within the error; and the error is no larger than that of the fastest round trip
// that was seen lately.
func TestTheEstimateIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e offset.Estimator
		now := rapid.Int64().Draw(t, "own clock")
		ahead := rapid.Int64().Draw(t, "peer ahead")
		pass := func(name string, most int64) int64 {
			n := rapid.Int64Range(0, most).Draw(t, name)
			drift := n / offset.MaxDrift
			now += n
			ahead += rapid.Int64Range(-drift, drift).Draw(t, "drift")
			return n
		}
		for range rapid.IntRange(1, 40).Draw(t, "exchanges") {
			pass("pause", 1e10)
			asked := now
			e.Ask(now)
			trip := pass("there", 1e7)
			received := now + ahead
			held := pass("held", 1e6)
			replied := now + ahead
			trip += pass("back", 1e7)
			e.Answer(asked, received, replied, now)
			pass("later", 1e8)
			est, ok := e.At(now)
			if wrong := est.Offset - ahead; !ok || wrong > est.Error || wrong < -est.Error {
				t.Fatalf("%+v, %v, is wrong by %d", est, ok, wrong)
			}
			if most := (trip+held/offset.MaxDrift)/2 + 2*(now-asked)/offset.MaxDrift + 20; est.Error > most {
				t.Fatalf("error %d after a round trip of %d, want at most %d", est.Error, trip, most)
			}
		}
		if e.Jumps() > 0 {
			t.Fatalf("%d jumps of clocks that have not", e.Jumps())
		}
	})
}

// Answers come from peers: whatever they say, no time is ever known to a negative error,
// and the next question can be asked.
func FuzzAnswers(f *testing.F) {
	f.Add(int64(0), int64(5), int64(6), int64(10), int64(20), int64(30))
	f.Add(int64(-1<<63), int64(1<<62), int64(-1<<62), int64(1<<63-1), int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, asked, received, replied, now, received2, now2 int64) {
		var e offset.Estimator
		e.Ask(asked)
		e.Answer(asked, received, replied, now)
		e.Ask(now)
		e.Answer(now, received2, received2, now2)
		if est, ok := e.At(now2); ok && est.Error < 0 {
			t.Fatalf("%+v", est)
		}
		if !e.Tick() {
			t.Fatal("the next question is never asked")
		}
	})
}

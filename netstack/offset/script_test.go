package offset_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/overtake-stream/overtake/netstack/offset"
)

// TestScripts runs testdata/scripts. Times are nanoseconds; the script moves them.
//
//	new ahead=1000 [now=5]     the peer's clock is ahead by so much; "edge": the own is at its end
//	tick n=1                   the interval has passed so often
//	ask                        a question leaves, whether or not it is due
//	early                      an answer to a question that has not been asked
//	answer there=9 back=9 held=1   the open question takes so long each way, and the peer so long between
//	late                       the answer before comes again
//	older                      the answer to the question before the open one comes
//	impossible received=0 replied=0 arrives=0   an answer with other times than it can have
//	wait n=100 drift=0         time passes; the peer's clock gains drift in it
//	jump n=-500                the peer's clock jumps
//	at                         the estimate, and whether it is right
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	e     offset.Estimator
	now   int64 // own clock
	ahead int64 // of the peer's
	asked int64
	older int64    // the question before
	last  [3]int64 // the last answer
}

func (x *script) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(key string, or int64) int64 {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &or)
		}
		return or
	}
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	switch d.Cmd {
	case "new":
		*x = script{ahead: arg("ahead", 0), now: arg("now", 1000)}
		if d.HasArg("edge") {
			x.now = math.MaxInt64 - 50
		}
	case "tick":
		for range arg("n", 1) {
			say("ask: %v", x.e.Tick())
		}
	case "ask":
		x.older, x.asked = x.asked, x.now
		x.e.Ask(x.now)
	case "answer":
		x.now += arg("there", 10)
		received := x.now + x.ahead
		x.now += arg("held", 0)
		x.last = [3]int64{x.asked, received, x.now + x.ahead}
		x.now += arg("back", 10)
		say("ask again: %v", x.e.Answer(x.last[0], x.last[1], x.last[2], x.now))
	case "early":
		say("ask again: %v", x.e.Answer(x.now+1, x.now, x.now, x.now))
	case "older":
		received := x.now + x.ahead
		say("ask again: %v", x.e.Answer(x.older, received, received, x.now))
	case "late":
		say("ask again: %v", x.e.Answer(x.last[0], x.last[1], x.last[2], x.now))
	case "impossible":
		x.now += 10
		say("ask again: %v", x.e.Answer(x.asked, x.now+arg("received", 0), x.now+arg("replied", 0), x.now+arg("arrives", 0)))
	case "wait":
		x.now += arg("n", 0)
		x.ahead += arg("drift", 0)
	case "jump":
		x.ahead += arg("n", 0)
	case "at":
	default:
		t.Fatalf("unknown command %q", d.Cmd)
	}
	if d.Cmd == "at" {
		x.estimate(say)
	}
	if out.Len() == 0 {
		return "ok\n"
	}
	return out.String()
}

func (x *script) estimate(say func(string, ...any)) {
	est, ok := x.e.At(x.now)
	if !ok {
		say("unknown")
		return
	}
	wrong := est.Offset - x.ahead
	right := "right"
	if wrong < -est.Error || wrong > est.Error {
		right = fmt.Sprint("WRONG by ", wrong)
	}
	say("%d, error %d: %s; jumps %d", est.Offset, est.Error, right, x.e.Jumps())
}

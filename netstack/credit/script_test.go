package credit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/overtake-stream/overtake/netstack/credit"
)

// TestScripts runs testdata. Announcements travel on a path that the script
// controls: "deliver" picks which of those on the way arrive, and in which order.
//
//	new exclusive=2           both ends, with nothing parked
//	park n=2                  at the receiver
//	announce | reannounce     the limit leaves, if it is due
//	deliver | deliver order=(1,0,0) | drop
//	limit n=5                 an announcement out of nowhere
//	send n=2 backlog=3        the sender spends credit; backlog is behind the last
//	report backlog=3          the sender tells its backlog alone, if it is due
//	arrive n=1                data reaches the receiver
//	data seq=7 backlog=0      a frame out of nowhere reaches the receiver
//	returned total=2          the consumer has given back
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	s      credit.Sender
	r      credit.Receiver
	limits []uint64 // on the way
	data   []dataFrame
}

type dataFrame struct {
	sequence uint64
	backlog  int
}

func (x *script) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(key string, or int) int {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &or)
		}
		return or
	}
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	switch d.Cmd {
	case "new":
		*x = script{r: credit.NewReceiver(arg("exclusive", 0))}
	case "park":
		x.r.Park(arg("n", 1))
	case "announce":
		if limit, due := x.r.Announce(); due {
			say("limit %d leaves", limit)
			x.limits = append(x.limits, limit)
		} else {
			say("not due")
		}
	case "reannounce":
		x.limits = append(x.limits, x.r.Reannounce())
	case "deliver":
		x.deliver(t, d, say)
	case "drop":
		x.limits = nil
	case "limit":
		x.limit(uint64(arg("n", 0)), say)
	case "send":
		x.send(arg("n", 1), arg("backlog", 0), say)
	case "report":
		n := arg("backlog", 0)
		if x.s.Report(n) {
			say("backlog %d is told", n)
			x.r.Backlog(n)
		} else {
			say("not due")
		}
	case "arrive":
		for range arg("n", 1) {
			x.arrive(x.data[0], say)
			x.data = x.data[1:]
		}
	case "data":
		x.arrive(dataFrame{sequence: uint64(arg("seq", 0)), backlog: arg("backlog", 0)}, say)
	case "returned":
		x.r.Returned(uint64(arg("total", 0)))
	default:
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	}
	say("sender %v", &x.s)
	say("receiver %v wants=%d+%d floating=%d", &x.r, x.r.WantsExclusive(), x.r.WantsFloating(), x.r.Floating())
	return out.String()
}

func (x *script) deliver(t *testing.T, d *datadriven.TestData, say func(string, ...any)) {
	if !d.HasArg("order") {
		for _, n := range x.limits {
			x.limit(n, say)
		}
		x.limits = nil
		return
	}
	var i int
	arg, _ := d.Arg("order")
	for k := range arg.Vals {
		arg.Scan(t, k, &i)
		x.limit(x.limits[i], say)
	}
	x.limits = nil
}

func (x *script) limit(n uint64, say func(string, ...any)) {
	switch grew, err := x.s.Limit(n); {
	case err != nil:
		say("limit %d: %v", n, err)
	case !grew:
		say("limit %d is old", n)
	}
}

func (x *script) send(n, backlog int, say func(string, ...any)) {
	for k := range n {
		if x.s.Available() == 0 {
			say("no credit")
			return
		}
		behind := backlog + n - 1 - k
		x.data = append(x.data, dataFrame{sequence: x.s.Send(behind), backlog: behind})
	}
}

func (x *script) arrive(f dataFrame, say func(string, ...any)) {
	if err := x.r.Data(f.sequence, f.backlog); err != nil {
		say("data #%d: %v", f.sequence, err)
	}
}

package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// TestBarrierScripts runs testdata/barriers. Times are in milliseconds. Several events
// of a kind are written as a list: ch=(0,1) is channel 0 first, then 1.
//
//	new channels=2 last=7
//	trigger id=8 mode=aligned at=1000 timeout=100 stop savepoint
//	arrive id=8 ch=(0,1) mode=unaligned overtook
//	announce id=8 ch=0 mode=auto
//	end ch=(0,1) | abort id=8 | expire at=1100
//
// What the machine asks for is printed, and then its open rounds with the channels
// that each waits for.
func TestBarrierScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/barriers", func(t *testing.T, path string) {
		s := &barrierScript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type barrierScript struct {
	m        *Barriers
	channels int
	newest   ID
}

func (s *barrierScript) run(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "new" {
		s.channels, s.newest = scriptArg(t, d, "channels", 0), 0
		s.m = NewBarriers(s.channels, ID(scriptArg(t, d, "last", 0)))
		return s.state()
	}
	var actions []Action
	channels := scriptList[int](t, d, "ch")
	if len(channels) == 0 {
		channels = []int{0}
	}
	b := s.barrier(t, d)
	for _, ch := range channels {
		switch d.Cmd {
		case "trigger":
			actions = s.m.Trigger(actions, b)
		case "arrive":
			actions = s.m.Arrive(actions, ch, b, d.HasArg("overtook"))
		case "announce":
			actions = s.m.Announce(actions, ch, b)
		case "end":
			actions = s.m.End(actions, ch)
		case "abort":
			actions = s.m.Abort(actions, b.ID)
		case "expire":
			actions = s.m.Expire(actions, b.Triggered)
		default:
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
		}
	}
	var out strings.Builder
	for _, a := range actions {
		out.WriteString(scriptAction(a) + "\n")
	}
	return out.String() + s.state()
}

func (s *barrierScript) barrier(t *testing.T, d *datadriven.TestData) Barrier {
	mode, ok := ParseMode(scriptArg(t, d, "mode", "aligned"))
	if !ok {
		t.Fatalf("%s: unknown mode", d.Pos)
	}
	id := ID(scriptArg(t, d, "id", 0))
	s.newest = max(s.newest, min(id, 1000))
	return Barrier{
		ID: id, Mode: mode, Stop: d.HasArg("stop"), Savepoint: d.HasArg("savepoint"),
		Triggered: scriptArg(t, d, "at", int64(0)) * scriptMS, Timeout: scriptArg(t, d, "timeout", int64(100)) * scriptMS,
	}
}

func (s *barrierScript) state() string {
	var out strings.Builder
	fmt.Fprintf(&out, "last=%d open=%d", s.m.Last(), s.m.Open())
	for id := ID(1); id <= s.newest; id++ {
		if !s.m.Knows(id) {
			continue
		}
		var waits []int
		for ch := range s.channels {
			if s.m.Waits(id, ch) {
				waits = append(waits, ch)
			}
		}
		fmt.Fprintf(&out, " %d:waits%v", id, waits)
	}
	if at, ok := s.m.Deadline(); ok {
		fmt.Fprintf(&out, " deadline=%d", at/scriptMS)
	}
	return out.String() + "\n"
}

// scriptAction is an action on one line, with the fields that count.
func scriptAction(a Action) string {
	switch a.Kind {
	case Start:
		line := fmt.Sprintf("start %d %v", a.ID, a.Barrier.Mode)
		for _, flag := range []struct {
			on   bool
			name string
		}{{a.Overtake, "overtake"}, {a.Barrier.Stop, "stop"}, {a.Barrier.Savepoint, "savepoint"}} {
			if flag.on {
				line += " " + flag.name
			}
		}
		return line
	case Block:
		return fmt.Sprintf("block %d for %d", a.Channel, a.ID)
	case Unblock:
		return fmt.Sprintf("unblock %d for %d", a.Channel, a.ID)
	case Capture:
		return fmt.Sprintf("capture %d for %d", a.Channel, a.ID)
	case Captured:
		return fmt.Sprintf("captured %d for %d", a.Channel, a.ID)
	case Promote:
		return fmt.Sprintf("promote %d", a.ID)
	case Done:
		return fmt.Sprintf("done %d", a.ID)
	case Cancelled:
		return fmt.Sprintf("cancelled %d: %v", a.ID, a.Why)
	case Ignored:
		return fmt.Sprintf("ignored %d of channel %d: %v", a.ID, a.Channel, a.Why)
	}
	return fmt.Sprintf("action %d", a.Kind)
}

func TestNamesOutOfRange(t *testing.T) {
	if got := Mode(200).String(); got != "mode 200" {
		t.Errorf("Mode(200) is %q", got)
	}
	if got := Why(200).String(); got != "reason 200" {
		t.Errorf("Why(200) is %q", got)
	}
}

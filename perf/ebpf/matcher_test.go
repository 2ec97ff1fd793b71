package ebpf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// A script is the events of one direction. Times are in microseconds.
type script []Event

const us = int64(time.Microsecond)

// wrote is a message that was opened, sealed and taken 30, 20 and 10 us before.
func wrote(at int64, seq, end uint64) Event {
	at *= us
	return Event{Kind: WriteBegin, Time: at, PID: 1, Message: probe.Message{
		Channel: 7, Sequence: seq, End: end,
		Stamps: [4]int64{at - 30*us, at - 20*us, 0, at - 10*us},
	}}
}

// processed is one that was read, decoded and dequeued 30, 20 and 10 us before.
func processed(at int64, seq uint64) Event {
	at *= us
	return Event{Kind: Processed, Time: at, PID: 2, Message: probe.Message{
		Channel: 7, Sequence: seq, Stamps: [4]int64{at - 30*us, at - 20*us, at - 10*us},
	}}
}

func sent(at int64, base, seq uint32) Event {
	return Event{Kind: Sent, Time: at * us, Seq: base + seq, Base: base}
}

func kernelEvent(k Kind, at int64, seq uint32) Event {
	return Event{Kind: k, Time: at * us, Seq: seq, TID: 9}
}

// entered says when a system call began.
func entered(e Event, at int64) Event {
	e.Enter = at * us
	return e
}

// waited is a wait of a thread for a processor.
func waited(from, to int64, thread uint32) Event {
	return Event{Kind: Waited, Direction: NoDirection, Enter: from * us, Time: to * us, TID: thread}
}

// woken says which thread began a wait.
func woken(waker uint32, e Event) Event {
	e.Waker = waker
	return e
}

// by says which thread did it.
func by(thread uint32, e Event) Event {
	e.TID = thread
	return e
}

// run returns what the messages spent, as text, and the account.
func (s script) run(begin int64) (messages []string, counts MatchCounts) {
	m := NewMatcher(func(m *Message) {
		var b strings.Builder
		for stage := range Stages {
			if m.Seen(stage) {
				fmt.Fprintf(&b, "%v %d, ", stage, m.Spent[stage].Microseconds())
			}
		}
		fmt.Fprintf(&b, "total %d", m.Total().Microseconds())
		messages = append(messages, b.String())
	})
	m.Begin(begin * us)
	for _, e := range s {
		m.Add(e)
	}
	return messages, m.Close()
}

func TestMatcher(t *testing.T) {
	const wrap = 0xffffffff - 100 // of a stream that passes 2^32 within its first message
	whole := func(base uint32) script {
		return script{
			wrote(100, 5, 1000),
			kernelEvent(Ready, 108, base+1000), kernelEvent(Waking, 109, 0), sent(112, base, 1000),
			kernelEvent(Run, 120, 0), kernelEvent(Received, 130, base+1000),
			processed(160, 5),
		}
	}
	const stages = "fill 10, send queue 10, batch 10, kernel send 8, wake 1, run queue 11, read 10, decode 10, receive queue 10, process 10, total 90"
	tests := map[string]struct {
		script script
		begin  int64
		want   string
		counts MatchCounts
	}{
		"whole way":        {whole(5000), 0, stages, MatchCounts{Matched: 1, Kernel: 1}},
		"numbers wrap":     {whole(wrap), 0, stages, MatchCounts{Matched: 1, Kernel: 1}},
		"numbers are high": {whole(0x80000000 - 500), 0, stages, MatchCounts{Matched: 1, Kernel: 1}},
		"system calls": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), kernelEvent(Waking, 109, 0), entered(sent(112, 0, 1000), 103),
				kernelEvent(Run, 120, 0), entered(kernelEvent(Received, 130, 1000), 126), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, go entry 3, kernel send 5, wake 1, run queue 11, go scheduler 6, read 4, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"a call that began before the thread was woken is none of the scheduler's": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), sent(112, 0, 1000),
				kernelEvent(Run, 120, 0), entered(kernelEvent(Received, 130, 1000), 90), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, run queue 12, read 10, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"bytes wait after write has returned": {
			script{
				wrote(100, 5, 1000), sent(104, 0, 1000), kernelEvent(Ready, 118, 1000), kernelEvent(Received, 130, 1000), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 4, socket queue 14, unread 12, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"the receiver is running": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), sent(112, 0, 1000), kernelEvent(Received, 130, 1000),
				kernelEvent(Run, 140, 0), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, unread 22, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"preempted while it reads": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), kernelEvent(Waking, 109, 0), sent(112, 0, 1000),
				kernelEvent(Run, 120, 0), waited(123, 129, 9), kernelEvent(Received, 130, 1000), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, wake 1, run queue 17, read 4, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"preempted again and again, before and behind": {
			script{
				waited(72, 88, 1), waited(95, 99, 1), by(1, wrote(100, 5, 1000)), waited(101, 106, 1), kernelEvent(Ready, 108, 1000), sent(112, 0, 1000),
				waited(90, 113, 9), waited(114, 120, 9), kernelEvent(Received, 130, 1000), waited(133, 137, 9), waited(139, 150, 9),
				by(2, processed(160, 5)), waited(151, 155, 2), waited(158, 170, 2), waited(100, 160, 3),
			}, 0,
			"fill 10, send queue 10, batch 6, kernel send 3, run queue 31, unread 11, decode 5, receive queue 10, process 4, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"the thread that reads was woken by one that was preempted": {
			script{
				waited(80, 101, 8), wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), sent(112, 0, 1000), waited(104, 118, 8), waited(122, 140, 8),
				waited(105, 115, 9), woken(8, waited(120, 129, 9)), kernelEvent(Received, 130, 1000), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, run queue 19, unread 3, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"who waits in system calls": {
			script{
				by(1, wrote(100, 5, 1000)), waited(101, 102, 1), kernelEvent(Ready, 108, 1000), kernelEvent(Waking, 109, 0), entered(sent(112, 0, 1000), 103),
				entered(kernelEvent(Run, 120, 0), 109), waited(121, 123, 9), waited(127, 129, 9), entered(kernelEvent(Received, 130, 1000), 126), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, go entry 2, kernel send 5, wake 1, run queue 16, go scheduler 4, read 2, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"where the kernel's part is lost nobody knows who reads": {
			script{wrote(100, 5, 1000), waited(105, 125, 9), processed(160, 5)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1},
		},
		"it was woken for earlier bytes and has not run yet": {
			script{
				kernelEvent(Waking, 99, 0), wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), sent(112, 0, 1000),
				kernelEvent(Run, 120, 0), kernelEvent(Received, 130, 1000), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, run queue 12, read 10, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"it was woken, went away, and was woken for later bytes": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 108, 1000), kernelEvent(Waking, 109, 0), sent(112, 0, 1000), kernelEvent(Run, 110, 0),
				kernelEvent(Ready, 115, 1100), kernelEvent(Waking, 116, 0), kernelEvent(Run, 120, 0),
				kernelEvent(Received, 130, 1100), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, run queue 4, read 10, unread 8, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"no event of the kernel": {
			script{wrote(100, 5, 1000), processed(160, 5)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1},
		},
		"the kernel's first half is lost": {
			script{wrote(100, 5, 1000), sent(112, 0, 1000), kernelEvent(Received, 130, 1000), processed(160, 5)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1},
		},
		"a stream without offsets": {
			script{wrote(100, 5, 0), sent(112, 0, 1000), kernelEvent(Ready, 108, 1000), kernelEvent(Received, 130, 1000), processed(160, 5)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1},
		},
		"a part arrives earlier": {
			script{
				wrote(100, 5, 1000), kernelEvent(Ready, 101, 999), kernelEvent(Received, 105, 999), sent(106, 0, 999),
				kernelEvent(Ready, 108, 1000), sent(112, 0, 1000), kernelEvent(Received, 130, 1000), processed(160, 5),
			}, 0,
			"fill 10, send queue 10, batch 10, kernel send 8, unread 22, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Kernel: 1},
		},
		"events of other processors come late": {
			script{
				wrote(100, 5, 1000), sent(112, 0, 1000), kernelEvent(Received, 130, 1000), processed(160, 5),
				kernelEvent(Run, 120, 0), kernelEvent(Ready, 108, 1000), kernelEvent(Waking, 109, 0),
			}, 0, stages, MatchCounts{Matched: 1, Kernel: 1},
		},
		"one end": {
			script{wrote(100, 5, 1000), wrote(101, 6, 1100), processed(161, 6)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Unmatched: 1},
		},
		"the other end": {
			script{wrote(100, 5, 1000), processed(160, 5), processed(170, 6)}, 0,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Unmatched: 1},
		},
		"one end, before both were looked at": {
			script{processed(90, 4), wrote(100, 5, 1000), wrote(101, 6, 1100), processed(161, 6)}, 101,
			"fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90",
			MatchCounts{Matched: 1, Early: 2},
		},
		"on the way": {script{wrote(100, 5, 1000)}, 0, "", MatchCounts{InFlight: 1}},
		"foreign":    {script{{Kind: WriteBegin, Direction: NoDirection}}, 0, "", MatchCounts{Foreign: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			messages, counts := tt.script.run(tt.begin)
			if got := strings.Join(messages, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if counts != tt.counts {
				t.Errorf("counts %+v, want %+v", counts, tt.counts)
			}
		})
	}
}

// Edges that are out of order are left out, and what is left sums up all the same.
func TestDisorder(t *testing.T) {
	e := processed(160, 5)
	e.Message.Stamps[probe.Dequeued] = e.Message.Stamps[probe.Decoded] - 2*us
	messages, counts := script{wrote(100, 5, 1000), e}.run(0)
	if want := "fill 10, send queue 10, batch 10, network 30, decode 10, process 20, total 90"; len(messages) != 1 || messages[0] != want {
		t.Fatalf("got %q, want %q", messages, want)
	}
	if counts.Disordered != 1 {
		t.Fatalf("counts %+v", counts)
	}
}

// The programs' clocks and the kernel's are compared to within a microsecond: what is less apart is at
// the same time, and no disorder. The stages add up all the same.
func TestClocksDifferALittle(t *testing.T) {
	late := func(e Event, ns int64) Event {
		e.Time += ns
		return e
	}
	for name, c := range map[string]struct {
		receivedNs, doneNs int64 // after they were decoded, and dequeued
	}{"read": {900, 20000}, "processed": {-2000, -900}} {
		t.Run(name, func(t *testing.T) {
			done := processed(160, 5) // decoded at 140, dequeued at 150
			done.Time = 150*us + c.doneNs
			var all []*Message
			m := NewMatcher(func(m *Message) { all = append(all, m) })
			for _, e := range (script{wrote(100, 5, 1000), kernelEvent(Ready, 110, 1000), sent(112, 0, 1000), late(kernelEvent(Received, 140, 1000), c.receivedNs), done}) {
				m.Add(e)
			}
			counts := m.Close()
			if counts != (MatchCounts{Matched: 1, Kernel: 1}) || !all[0].Seen(Decode) || !all[0].Seen(Process) {
				t.Errorf("%+v, %v", counts, all)
			}
			if got := time.Duration(all[0].Ended - all[0].Opened); all[0].Total() != got {
				t.Errorf("stages add up to %v of %v", all[0].Total(), got)
			}
		})
	}
}

// The kernel's events of a message may be lost. Those of the next one, whose bytes are further on,
// do not stand in for them.
func TestLostKernelEvents(t *testing.T) {
	whole := script{
		wrote(100, 5, 1000), kernelEvent(Ready, 110, 1000), sent(112, 0, 1000), kernelEvent(Received, 128, 1000),
		wrote(141, 6, 2000), kernelEvent(Ready, 142, 2000), sent(143, 0, 2000), kernelEvent(Received, 144, 2000),
		processed(160, 5),
	}
	for name, lost := range map[string]int{"ready": 1, "received": 3} {
		t.Run(name, func(t *testing.T) {
			messages, counts := slices.Delete(slices.Clone(whole), lost, lost+1).run(0)
			if want := "fill 10, send queue 10, batch 10, network 30, decode 10, receive queue 10, process 10, total 90"; len(messages) != 1 || messages[0] != want {
				t.Errorf("got %q, want %q", messages, want)
			}
			if counts != (MatchCounts{Matched: 1, InFlight: 1}) {
				t.Errorf("%+v", counts)
			}
		})
	}
}

// A long stream, with wraps and messages that share writes and reads, keeps all
// messages whole, and little memory.
func TestLongStream(t *testing.T) {
	const messages = 20000
	matched := 0
	m := NewMatcher(func(m *Message) {
		if matched++; m.Total() != 90*time.Microsecond || !m.Seen(KernelSend) {
			t.Fatalf("message %d: %v in %v", m.Sequence, m.Spent, m.Total())
		}
	})
	base, kept := uint32(1<<31), 0
	for i := range int64(messages) {
		at, end := 1000+100*i, uint64(i+1)*1e6
		seq := base + uint32(end)
		for _, e := range []Event{
			wrote(at, uint64(i), end), kernelEvent(Ready, at+8, seq), {Kind: Sent, Time: (at + 9) * us, Seq: seq, Base: base},
			kernelEvent(Received, at+30, seq), processed(at+60, uint64(i)),
		} {
			m.Add(e)
		}
		for _, events := range m.dirs[0].kernel {
			kept = max(kept, len(events))
		}
	}
	if counts := m.Close(); counts.Matched != messages || counts.Kernel != messages || matched != messages {
		t.Fatalf("%+v", counts)
	}
	if kept > 200 {
		t.Fatalf("%d events of a kind were kept", kept)
	}
}

// The means of stages add up to the mean of the total, however few messages had some.
func TestMeansAddUp(t *testing.T) {
	var e edgeStats
	for i := range 1000 {
		m := Message{Channel: uint64(i % 3)}
		for s := range Stages {
			if s != Network && (s != Unread || i%10 == 0) {
				m.Spent[s], m.seen = time.Duration(i)*time.Duration(s+1), m.seen|1<<s
			}
		}
		e.add(&m)
	}
	edge := e.report()
	sum, share := time.Duration(0), 0.0
	for _, row := range edge.Stages {
		sum += row.Mean
		share += row.Share
	}
	if d := edge.Total.Mean - sum; d < 0 || d > time.Duration(len(edge.Stages)) { // each is rounded down
		t.Errorf("means add up to %v of %v", sum, edge.Total.Mean)
	}
	if share < 0.999999 || share > 1.000001 {
		t.Errorf("shares add up to %v", share)
	}
	if edge.Dominant != Process || edge.Channels != 3 || edge.row(Unread).Count != 100 {
		t.Errorf("%+v", edge)
	}
	if len(edge.Missing) != 0 {
		t.Errorf("missing %v", edge.Missing)
	}
}

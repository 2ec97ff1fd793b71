package protocol_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
	"pgregory.net/rapid"
)

// A protocolJob is a job without faults and without data: a coordinator, the barrier
// machines of its members, and messages that travel at any pace, in order on each
// way. Time stands still, so nothing can end by a timeout.
type protocolJob struct {
	t       *rapid.T
	w       *coordinatorWatch
	members []*protocolMember
	inbox   []Event // of the coordinator
	publish []ID
	token   Token
	ended   bool
}

type protocolMember struct {
	index    Member
	barriers *Barriers
	control  []Command // from the coordinator
	queues   [][]protocolItem
	blocked  []bool
	open     int // channels that have not ended
	outputs  []protocolOutput
	finished bool
	paused   bool // a source after the barrier of a stop with a savepoint
}

// protocolItem is a barrier, or the end of a channel.
type protocolItem struct {
	barrier Barrier
	end     bool
}

type protocolOutput struct {
	to      *protocolMember
	channel int
}

// newProtocolJob builds sources, then layers that are fully connected.
func newProtocolJob(t *rapid.T) *protocolJob {
	j := &protocolJob{t: t}
	var before, all []*protocolMember
	var sources []Member
	for layer := range rapid.IntRange(1, 3).Draw(t, "layers") {
		var members []*protocolMember
		for range rapid.IntRange(1, 3).Draw(t, "width") {
			m := &protocolMember{
				index: Member(len(all)), barriers: NewBarriers(len(before), 0), open: len(before),
				queues: make([][]protocolItem, len(before)), blocked: make([]bool, len(before)),
			}
			for channel, up := range before {
				up.outputs = append(up.outputs, protocolOutput{m, channel})
			}
			if layer == 0 {
				sources = append(sources, m.index)
			}
			members, all = append(members, m), append(all, m)
		}
		before = members
	}
	j.members = all
	o := Options{MaxConcurrent: rapid.IntRange(1, 4).Draw(t, "concurrent"), Mode: Mode(rapid.IntRange(0, 2).Draw(t, "mode"))}
	j.w = newCoordinatorWatch(t.Fatalf, o, Attempt{Members: len(all), Sources: sources})
	return j
}

// moves lists what can happen now. Users' wishes and the end of a source are apart.
func (j *protocolJob) moves() []func() {
	var moves []func()
	if len(j.inbox) > 0 {
		moves = append(moves, func() {
			e := j.inbox[0]
			j.inbox = j.inbox[1:]
			j.step(e)
		})
	}
	if len(j.publish) > 0 {
		moves = append(moves, func() {
			j.inbox = append(j.inbox, Event{Type: Published, ID: j.publish[0]})
			j.publish = j.publish[1:]
		})
	}
	for _, m := range j.members {
		if len(m.control) > 0 {
			moves = append(moves, func() { j.control(m) })
		}
		for channel, q := range m.queues {
			if len(q) > 0 && !m.blocked[channel] {
				moves = append(moves, func() { j.arrive(m, channel) })
			}
		}
	}
	return moves
}

func (j *protocolJob) step(e Event) {
	for _, x := range j.w.step(e) {
		switch x.Type {
		case Trigger:
			for _, m := range x.Members {
				j.members[m].control = append(j.members[m].control, x)
			}
		case NotifyComplete, NotifyAborted:
			if x.Type == NotifyAborted && x.Reason.Cause != CauseSubsumed {
				j.t.Fatalf("%d is aborted although nothing failed: %v", x.ID, x.Reason)
			}
			for _, m := range j.members {
				m.control = append(m.control, x)
			}
		case Publish:
			j.publish = append(j.publish, x.ID)
		case EndJob:
			j.ended = true
		}
	}
}

func (j *protocolJob) control(m *protocolMember) {
	x := m.control[0]
	m.control = m.control[1:]
	switch x.Type {
	case Trigger:
		m.paused = m.paused || x.Barrier.Stop
		j.act(m, m.barriers.Trigger(nil, x.Barrier))
	case NotifyAborted:
		if x.Kind == StopSavepoint {
			m.paused = false
		}
		j.act(m, m.barriers.Abort(nil, x.ID))
	}
}

func (j *protocolJob) arrive(m *protocolMember, channel int) {
	item := m.queues[channel][0]
	m.queues[channel] = m.queues[channel][1:]
	if !item.end {
		j.act(m, m.barriers.Arrive(nil, channel, item.barrier, item.barrier.Mode == Unaligned))
		return
	}
	m.open--
	j.act(m, m.barriers.End(nil, channel))
	if m.open == 0 {
		j.finish(m)
	}
}

func (j *protocolJob) finish(m *protocolMember) {
	m.finished = true
	for _, o := range m.outputs {
		o.to.queues[o.channel] = append(o.to.queues[o.channel], protocolItem{end: true})
	}
	j.inbox = append(j.inbox, Event{Type: Finished, Member: m.index})
}

func (j *protocolJob) act(m *protocolMember, actions []Action) {
	for _, a := range actions {
		switch a.Kind {
		case Start:
			for _, o := range m.outputs {
				if !m.finished { // the end of the channel says it otherwise
					o.to.queues[o.channel] = append(o.to.queues[o.channel], protocolItem{barrier: a.Barrier})
				}
			}
		case Block:
			m.blocked[a.Channel] = true
		case Unblock:
			m.blocked[a.Channel] = false
		case Done: // acknowledgements are sent when all is durable: in any order
			i := rapid.IntRange(0, len(j.inbox)).Draw(j.t, "ack")
			j.inbox = slices.Insert(j.inbox, i, Event{Type: Ack, ID: a.ID, Member: m.index})
		}
	}
}

// sources lists those that may end.
func (j *protocolJob) sources() []*protocolMember {
	var list []*protocolMember
	for _, m := range j.w.a.Sources {
		if x := j.members[m]; !x.finished && !x.paused {
			list = append(list, x)
		}
	}
	return list
}

// settle lets everything happen that can, in any order.
func (j *protocolJob) settle() {
	for moves := j.moves(); len(moves) > 0; moves = j.moves() {
		moves[rapid.IntRange(0, len(moves)-1).Draw(j.t, "move")]()
	}
}

// In a job without faults every checkpoint completes or is subsumed, without the help
// of a timeout, whenever sources and members finish; and the job ends.
func TestProtocolWithoutFaultsCompletes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := newProtocolJob(t)
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			moves := j.moves()
			if j.w.c.Over() {
				break
			}
			switch k := rapid.IntRange(0, 19).Draw(t, "what"); {
			case k < 3:
				j.token++
				kind := []Kind{Periodic, Periodic, Periodic, Savepoint, StopSavepoint}[rapid.IntRange(0, 4).Draw(t, "kind")]
				j.inbox = append(j.inbox, Event{Type: Request, Kind: kind, Token: j.token})
			case k == 3 && len(j.sources()) > 0:
				j.finish(j.sources()[0])
			case len(moves) > 0:
				moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]()
			}
		}
		j.settle()
		if n := len(j.w.flying()); n > 0 {
			t.Fatalf("%d are in flight and nothing is on its way: %v", n, j.w.c)
		}
		for !j.ended && len(j.sources()) > 0 {
			j.finish(j.sources()[0])
			j.settle()
		}
		if !j.ended {
			t.Fatalf("all sources have ended and the job has not: %v", fmt.Sprint(j.w.c))
		}
	})
}

package overtake

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack"
)

// Workers tell each other a few things, on the control channel of their
// connections: one byte of kind, and a text or JSON.
type message struct {
	kind byte
	text string
}

const (
	msgDone   = 'D' // all subtasks of the sender have ended well
	msgFailed = 'F' // the sender has failed: text says why
	msgStop   = 'S' // sources are to end

	// from the first worker
	msgStart   = 'R' // where the attempt begins: a start
	msgCommand = 'C' // a memberCommand

	// to the first worker
	msgNotice = 'N' // a memberNotice
	msgPart   = 'P' // the beginning of a message that is too long for one
)

// memberCommand is a command for one subtask, or for all of a worker if Member is -1.
type memberCommand struct {
	Member  protocol.Member
	Command task.Command
}

// memberNotice is what a subtask says.
type memberNotice struct {
	Member protocol.Member
	Notice task.Notice
	Err    string // of the notice
}

func (m message) encode() []byte { return append([]byte{m.kind}, m.text...) }

// tell sends a message to all other workers. One that cannot be reached is
// noticed by its broken connection.
func (w *worker) tell(m message) {
	if w.stack == nil {
		return
	}
	for peer := range w.plan.workers {
		if peer != w.index {
			_ = w.stack.Control(peer, m.encode())
		}
	}
}

// hear takes a message of another worker; the stack calls it.
func (w *worker) hear(peer int, payload []byte) {
	if len(payload) == 0 {
		return
	}
	switch payload[0] {
	case msgDone:
		w.markDone(peer)
	case msgFailed:
		w.fail(fmt.Errorf("%w: worker %d: %s", ErrPeer, peer, payload[1:]))
	case msgStop:
		w.stopSources()
	case msgPart:
		w.parts[peer] = append(w.parts[peer], payload[1:]...)
	case msgNotice:
		whole := append(w.parts[peer], payload[1:]...)
		delete(w.parts, peer)
		w.hearNotice(peer, whole)
	case msgStart, msgCommand:
		w.hearFirst(peer, payload)
	}
}

// hearNotice takes what a subtask of another worker says to the coordinator.
func (w *worker) hearNotice(peer int, payload []byte) {
	var n memberNotice
	if err := json.Unmarshal(payload, &n); err != nil || w.coordinator == nil {
		w.fail(fmt.Errorf("%w: worker %d sent a notice that is none: %w", ErrPeer, peer, err))
		return
	}
	if n.Err != "" {
		n.Notice.Err = errors.New(n.Err)
	}
	w.coordinator.heard(n.Member, n.Notice)
}

// hearFirst takes what the first worker says.
func (w *worker) hearFirst(peer int, payload []byte) {
	var err error
	switch payload[0] {
	case msgStart:
		var s start
		if err = json.Unmarshal(payload[1:], &s); err == nil {
			w.started <- s // has room for one
		}
	case msgCommand:
		var c memberCommand
		if err = json.Unmarshal(payload[1:], &c); err == nil {
			w.carryOut(c)
		}
	}
	if err != nil {
		w.fail(fmt.Errorf("%w: worker %d sent a message that is none: %w", ErrPeer, peer, err))
	}
}

// carryOut hands a command to the subtasks of this worker that it is for.
func (w *worker) carryOut(c memberCommand) {
	for _, s := range w.subtasks {
		if c.Member < 0 || w.plan.member(s.head, s.index) == c.Member {
			s.task.Tell(c.Command)
		}
	}
}

// command hands a command to all subtasks of the job.
func (w *worker) command(c task.Command) {
	w.carryOut(memberCommand{-1, c})
	w.tell(encode(msgCommand, memberCommand{-1, c}))
}

// commandTo hands a command to one subtask of the job.
func (w *worker) commandTo(m protocol.Member, c task.Command) {
	head, index := w.plan.memberAt(m)
	peer := w.plan.worker(head, index)
	if peer == w.index {
		w.carryOut(memberCommand{m, c})
		return
	}
	_ = w.stack.Control(peer, encode(msgCommand, memberCommand{m, c}).encode()) // a broken connection is noticed
}

func encode(kind byte, v any) message {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of plain fields
	}
	return message{kind: kind, text: string(text)}
}

// notify brings what a subtask says to the coordinator.
func (w *worker) notify(m protocol.Member, n task.Notice) {
	if w.index == 0 {
		w.coordinator.heard(m, n)
		return
	}
	msg := memberNotice{Member: m, Notice: n}
	if n.Err != nil {
		msg.Err, msg.Notice.Err = n.Err.Error(), nil
	}
	w.send(0, encode(msgNotice, msg))
}

// send sends a message of any length. The pieces of one must not mix with another's.
func (w *worker) send(peer int, m message) {
	w.sending.Lock()
	defer w.sending.Unlock()
	for len(m.text) >= netstack.MaxControl {
		piece := message{kind: msgPart, text: m.text[:netstack.MaxControl-1]}
		if err := w.stack.Control(peer, piece.encode()); err != nil {
			w.fail(fmt.Errorf("%w: worker %d: %w", ErrPeer, peer, err))
			return
		}
		m.text = m.text[netstack.MaxControl-1:]
	}
	if err := w.stack.Control(peer, m.encode()); err != nil && w.ctx.Err() == nil {
		w.fail(fmt.Errorf("%w: worker %d: %w", ErrPeer, peer, err))
	}
}

// markDone notes that a worker's subtasks have ended well.
func (w *worker) markDone(index int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.done[index] {
		w.mu.done[index] = true
		if len(w.mu.done) == w.plan.workers {
			close(w.finished)
		}
	}
}

// finish waits until every worker has finished, for a failure elsewhere still
// fails the job, and data sent from here may still be on its way.
func (w *worker) finish() {
	if w.ctx.Err() != nil {
		return
	}
	w.tell(message{kind: msgDone})
	w.markDone(w.index)
	select {
	case <-w.finished:
	case <-w.ctx.Done():
	}
}

// drain makes all sources of the job end.
func (w *worker) drain() {
	w.tell(message{kind: msgStop})
	w.stopSources()
}

func (w *worker) stopSources() {
	for _, s := range w.subtasks {
		s.task.Stop()
	}
}

func (w *worker) stackOptions(at place) netstack.StackOptions {
	c := w.plan.job.opts.Cluster
	graph, layout := w.plan.fingerprints()
	return netstack.StackOptions{
		Arena: w.arena, Index: at.index, Peers: at.addresses, Listener: at.listener, Network: at.network,
		Job: w.plan.job.name, Epoch: max(1, w.keep.currentEpoch()), Graph: graph, Layout: layout,
		TLS: c.TLS, InsecurePlaintext: c.InsecurePlaintext, ConnectTimeout: c.ConnectTimeout,
		Clock: w.clock, ClockInterval: w.clockInterval(), OnControl: w.hear, OnFailure: w.lost, Log: w.plan.job.opts.Log,
	}
}

// lost takes the failure of a connection. It names the edges that the connection
// carried.
func (w *worker) lost(err error) {
	var p *netstack.PeerError
	if errors.As(err, &p) {
		err = fmt.Errorf("%w; the connection carried %s", err, strings.Join(w.plan.between(w.index, p.Peer), ", "))
	}
	w.fail(fmt.Errorf("%w: %w", ErrPeer, err))
}

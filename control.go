package overtake

import (
	"errors"
	"fmt"
	"strings"

	"github.com/overtake-stream/overtake/netstack"
)

// Workers tell each other three things, on the control channel of their
// connections: one byte of kind, and a text.
type message struct {
	kind byte
	text string
}

const (
	msgDone   = 'D' // all subtasks of the sender have ended well
	msgFailed = 'F' // the sender has failed: text says why
	msgStop   = 'S' // sources are to end
)

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
		Job: w.plan.job.name, Epoch: 1, Graph: graph, Layout: layout,
		TLS: c.TLS, InsecurePlaintext: c.InsecurePlaintext, ConnectTimeout: c.ConnectTimeout,
		OnControl: w.hear, OnFailure: w.lost, Log: w.plan.job.opts.Log,
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

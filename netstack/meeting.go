package netstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// meeting is the state of a Stack on its way to having all peers connected.
type meeting struct {
	// constant
	ctx    context.Context // of dialing and handshakes; ends with cancel
	stop   context.CancelCauseFunc
	done   chan struct{} // closed when all peers are there
	failed chan struct{} // closed when that became impossible
	slots  chan struct{} // taken by connections that have not said who they are

	mu struct {
		sync.Mutex
		claimed []bool
		socks   []net.Conn // by worker; those that came through
		missing int
		last    []error               // by worker: why it is not there yet
		pending map[net.Conn]struct{} // in their handshake: closed by cancel
		cause   error                 // why failed is closed
		over    bool                  // nobody can come any more
	}
}

func (m *meeting) init(workers int) {
	m.ctx, m.stop = context.WithCancelCause(context.Background())
	m.done, m.failed = make(chan struct{}), make(chan struct{})
	m.slots = make(chan struct{}, maxHandshakes)
	m.mu.claimed, m.mu.socks = make([]bool, workers), make([]net.Conn, workers)
	m.mu.last, m.mu.pending = make([]error, workers), map[net.Conn]struct{}{}
	m.mu.missing = workers - 1
}

// enter registers a connection for its handshake.
func (m *meeting) enter(nc net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.over {
		return false
	}
	m.mu.pending[nc] = struct{}{}
	return true
}

// leave closes it again, unless it came through.
func (m *meeting) leave(nc net.Conn) {
	m.mu.Lock()
	_, pending := m.mu.pending[nc]
	delete(m.mu.pending, nc)
	m.mu.Unlock()
	if pending {
		_ = nc.Close()
	}
}

// claim reserves a worker's place for one handshake.
func (m *meeting) claim(peer int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	free := !m.mu.claimed[peer] && !m.mu.over
	m.mu.claimed[peer] = m.mu.claimed[peer] || free
	return free
}

// resolve ends a claim: with nc, which speaks over the pending connection raw, or
// with an error that leaves the place free for another attempt.
func (m *meeting) resolve(peer int, nc, raw net.Conn, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.last[peer] = err
	if err != nil || m.mu.over {
		m.mu.claimed[peer] = false
		return
	}
	delete(m.mu.pending, raw)
	m.mu.socks[peer] = nc
	if m.mu.missing--; m.mu.missing == 0 {
		close(m.done)
	}
}

// refused remembers why a worker was refused, in case that it does not come again.
func (m *meeting) refused(e *HandshakeError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Peer >= 0 && e.Peer < len(m.mu.last) && !m.mu.claimed[e.Peer] {
		m.mu.last[e.Peer] = e
	}
}

// fail ends the meeting because of err.
func (m *meeting) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.cause == nil {
		m.mu.cause = err
		close(m.failed)
	}
}

func (m *meeting) cause() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.cause
}

// absent says who is missing, and why.
func (m *meeting) absent(own int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	errs := []error{}
	for peer, nc := range m.mu.socks {
		if nc != nil || peer == own {
			continue
		}
		why := m.mu.last[peer]
		if why == nil {
			why = errors.New("it did not connect")
		}
		errs = append(errs, fmt.Errorf("netstack: worker %d is missing: %w", peer, why))
	}
	return errors.Join(errs...)
}

// handOver gives the connections away; they are no longer the meeting's to close.
func (m *meeting) handOver() ([]net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.over {
		return nil, m.mu.cause
	}
	socks := m.mu.socks
	m.mu.socks = make([]net.Conn, len(socks))
	return socks, nil
}

// cancel ends the meeting and closes whatever it holds.
func (m *meeting) cancel(err error) {
	m.stop(err)
	m.fail(err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.over = true
	for nc := range m.mu.pending {
		_ = nc.Close()
	}
	for i, nc := range m.mu.socks {
		if nc != nil {
			_ = nc.Close()
			m.mu.socks[i] = nil
		}
	}
}

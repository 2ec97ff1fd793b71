package netstack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

const (
	minRedial = 10 * time.Millisecond
	maxRedial = time.Second
)

// connect brings this worker together with all others: the higher index dials the
// lower. Peers may start in any order.
func (s *Stack) connect(ctx context.Context) ([]net.Conn, error) {
	if err := s.listen(); err != nil {
		return nil, err
	}
	for peer := range s.opts.Index {
		s.wg.Go(func() { s.dial(peer) })
	}
	timeout := time.NewTimer(s.opts.ConnectTimeout)
	defer timeout.Stop()
	select {
	case <-s.meet.done:
		return s.meet.handOver()
	case <-s.meet.failed:
		return nil, s.meet.cause()
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.meet.absent(s.opts.Index))
	case <-timeout.C:
		return nil, s.meet.absent(s.opts.Index)
	}
}

// listen starts the acceptor. It goes on until Close, so that whoever comes late
// or by mistake is told why it is refused.
func (s *Stack) listen() error {
	l := s.opts.Listener
	if l == nil {
		var err error
		if l, err = listenOn(s.meet.ctx, s.opts.Network, s.opts.Peers[s.opts.Index]); err != nil {
			return fmt.Errorf("netstack: worker %d: %w", s.opts.Index, err)
		}
	}
	unpacedListener(l)
	s.mu.Lock()
	s.mu.listener = l
	closed := s.mu.state == stackClosed
	s.mu.Unlock()
	if closed {
		_ = l.Close()
		return ErrClosed
	}
	s.wg.Go(func() { s.accept(l) })
	return nil
}

func listenOn(ctx context.Context, network, addr string) (net.Listener, error) {
	if network == "unix" {
		removeStale(addr)
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // its sockets lack the options and the speed of plain ones
	return lc.Listen(ctx, network, addr)
}

// removeStale removes the socket of a process that died without doing so.
func removeStale(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return
	}
	if nc, err := net.Dial("unix", path); err == nil {
		_ = nc.Close()
		return
	}
	_ = os.Remove(path)
}

// accept serves the listener. A connection that has not proved itself costs a
// slot, and there are few.
func (s *Stack) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the peer was gone already
			s.opts.Log.Warn("netstack: accept failed", "error", err)
			sleep(s.meet.ctx, minRedial)
			continue
		}
		select {
		case s.meet.slots <- struct{}{}:
			s.wg.Go(func() {
				s.welcome(nc)
				<-s.meet.slots
			})
		default:
			s.refuse(nc, &HandshakeError{Peer: -1, Reason: ErrBusy, epoch: s.opts.Epoch})
			_ = nc.Close()
		}
	}
}

// welcome finds out who connected.
func (s *Stack) welcome(raw net.Conn) {
	if !s.meet.enter(raw) {
		_ = raw.Close()
		return
	}
	defer s.meet.leave(raw)
	nc, err := s.secure(raw, func() *tls.Conn { return tls.Server(raw, s.serverTLS()) })
	var plain tls.RecordHeaderError
	switch {
	case err == nil:
		err = s.admit(nc, raw)
	case errors.As(err, &plain) && [4]byte(plain.RecordHeader[:4]) == magic:
		s.refuse(raw, &HandshakeError{Peer: -1, Reason: ErrForeign, epoch: s.opts.Epoch, Got: "plain text", Want: "TLS 1.3"})
	}
	if err != nil {
		s.opts.Log.Warn("netstack: refused a connection", "from", raw.RemoteAddr().String(), "error", err)
	}
}

// admit reads the peer's hello and answers it.
func (s *Stack) admit(nc, raw net.Conn) error {
	h, err := readHello(nc, -1)
	var e *HandshakeError
	switch {
	case errors.As(err, &e) && e.Reason == ErrVersion:
		e.epoch = s.opts.Epoch
	case err != nil:
		return err
	default:
		e = s.judge(&h)
	}
	if e == nil && !s.meet.claim(int(h.index)) {
		e = &HandshakeError{Peer: int(h.index), Reason: ErrDuplicate, epoch: s.opts.Epoch}
	}
	if e != nil {
		s.meet.refused(e)
		s.refuse(nc, e)
		return e
	}
	_, err = nc.Write(s.local.encode())
	err = errors.Join(err, nc.SetDeadline(time.Time{}))
	s.meet.resolve(int(h.index), nc, raw, err)
	return err
}

// judge compares a hello with this worker's own. Any worker of a higher index may
// dial, and no other.
func (s *Stack) judge(h *hello) *HandshakeError {
	want := s.local
	want.index = h.index
	if e := h.differs(&want); e != nil {
		return e
	}
	if int64(h.index) > int64(s.opts.Index) && int64(h.index) < int64(len(s.conns)) {
		return nil
	}
	return &HandshakeError{
		Peer: -1, Reason: ErrWorker, epoch: s.opts.Epoch, Got: fmt.Sprint("index ", h.index),
		Want: fmt.Sprintf("index %d to %d", s.opts.Index+1, len(s.conns)-1),
	}
}

// refuse tells the peer why, if it still listens; it never waits for it.
func (s *Stack) refuse(nc net.Conn, e *HandshakeError) {
	if s.opts.TLS != nil && e.Reason == ErrBusy {
		return // there is nothing it could read before its own handshake
	}
	_ = nc.SetWriteDeadline(time.Now().Add(minRedial))
	_, _ = nc.Write(encodeRefusal(e))
}

// dial connects to one peer, however often it takes.
func (s *Stack) dial(peer int) {
	for wait := minRedial; ; wait = min(2*wait, maxRedial) {
		err := s.dialOnce(peer)
		if err == nil || s.meet.ctx.Err() != nil {
			return
		}
		if s.hopeless(err) {
			s.meet.fail(err)
			return
		}
		sleep(s.meet.ctx, wait/2+rand.N(wait))
	}
}

// hopeless reports whether trying again cannot help.
func (s *Stack) hopeless(err error) bool {
	var e *HandshakeError
	if errors.As(err, &e) {
		older := e.Reason == ErrEpoch && e.epoch < s.opts.Epoch // its old attempt will give way
		return e.Reason != ErrBusy && e.Reason != ErrDuplicate && !older
	}
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	alert := errors.As(err, &op) && op.Op == "remote error" // the peer refuses our certificate
	return alert || errors.As(err, &record) || errors.As(err, &certificate)
}

func (s *Stack) dialOnce(peer int) error {
	d := net.Dialer{Timeout: s.opts.HandshakeTimeout, Control: unpaced}
	d.SetMultipathTCP(false)
	raw, err := d.DialContext(s.meet.ctx, s.opts.Network, s.opts.Peers[peer])
	if err != nil {
		return s.noted(peer, err)
	}
	if !s.meet.enter(raw) {
		_ = raw.Close()
		return ErrClosed
	}
	defer s.meet.leave(raw)
	nc, err := s.secure(raw, func() *tls.Conn { return tls.Client(raw, s.clientTLS(peer)) })
	if err == nil {
		err = s.greet(nc, peer)
	}
	if s.meet.claim(peer) {
		s.meet.resolve(peer, nc, raw, err)
	}
	return err
}

func (s *Stack) noted(peer int, err error) error {
	if s.meet.claim(peer) {
		s.meet.resolve(peer, nil, nil, err)
	}
	return err
}

// greet says hello and waits for the peer's.
func (s *Stack) greet(nc net.Conn, peer int) error {
	if _, err := nc.Write(s.local.encode()); err != nil {
		return err
	}
	h, err := readHello(nc, peer)
	if err != nil {
		return err
	}
	want := s.local
	want.index = uint32(peer)
	if e := h.differs(&want); e != nil {
		e.Peer = peer
		return e
	}
	return nc.SetDeadline(time.Time{})
}

// readHello reads the peer's hello, or the refusal that came instead.
func readHello(r io.Reader, peer int) (hello, error) {
	version, kind, body, err := readHandshake(r)
	switch {
	case err != nil:
		return hello{}, err
	case kind == kindRefusal:
		return hello{}, decodeRefusal(body, peer)
	case kind != kindHello:
		return hello{}, foreign("message kind %d", kind)
	case version != protocolVersion:
		return hello{}, &HandshakeError{
			Peer: peer, Reason: ErrVersion, Got: fmt.Sprint(version), Want: fmt.Sprint(protocolVersion),
		}
	}
	return decodeHello(version, body)
}

// secure sets the deadline for the whole handshake and puts TLS on the connection
// if there is to be any.
func (s *Stack) secure(raw net.Conn, wrap func() *tls.Conn) (net.Conn, error) {
	if err := raw.SetDeadline(time.Now().Add(s.opts.HandshakeTimeout)); err != nil {
		return nil, err
	}
	if s.opts.TLS == nil {
		return raw, nil
	}
	tc := wrap()
	return tc, tc.Handshake()
}

func (s *Stack) serverTLS() *tls.Config {
	c := s.opts.TLS.Clone()
	c.MinVersion, c.ClientAuth = tls.VersionTLS13, tls.RequireAndVerifyClientCert
	c.DynamicRecordSizingDisabled = true
	return c
}

func (s *Stack) clientTLS(peer int) *tls.Config {
	c := s.opts.TLS.Clone()
	c.MinVersion = tls.VersionTLS13
	c.DynamicRecordSizingDisabled = true
	if host, _, err := net.SplitHostPort(s.opts.Peers[peer]); err == nil && c.ServerName == "" {
		c.ServerName = host
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

package netstack

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/perf"
)

// Defaults of a Stack.
const (
	DefaultHandshakeTimeout = 5 * time.Second
	DefaultConnectTimeout   = time.Minute
	DefaultCloseTimeout     = 5 * time.Second

	MaxWorkers    = 1 << 12
	maxHandshakes = 64   // unauthenticated connections at a time
	maxEvents     = 1024 // events that wait in one channel of a gate
)

// StackOptions configures a Stack. Zero fields mean the defaults.
type StackOptions struct {
	Arena *bufferpool.Arena // the worker's; required
	Index int               // this worker's place in Peers
	Peers []string          // an address per worker, the same list everywhere: host:port, or a path for "unix"

	Network  string       // "tcp" (default) or "unix"
	Listener net.Listener // used instead of listening on Peers[Index]; the Stack closes it

	Job    string // name of the job, at most 1 KiB; peers of another one are refused
	Epoch  uint64 // number of the attempt; frames of another one are refused
	Graph  uint64 // fingerprint of the job graph
	Layout uint64 // fingerprint of the record layouts

	TLS               *tls.Config // TLS 1.3 both ways; needs Certificates, RootCAs and ClientCAs
	InsecurePlaintext bool        // allows plain text beyond loopback
	PayloadCRC        bool        // sends a CRC32C of every payload; one that is present is always checked

	HandshakeTimeout time.Duration // for a new connection to introduce itself
	ConnectTimeout   time.Duration // for all peers to be connected; they may start in any order
	CloseTimeout     time.Duration // for Close to flush and to hear the peers' goodbyes

	ForceGoroutines bool // a reader and a writer goroutine per connection instead of the epoll loop

	// ClockInterval is how often the peers' clocks are compared with the own one, so that
	// PeerClock knows them; 0: never. Peers answer in any case.
	ClockInterval time.Duration
	Clock         perf.Clock // the worker's, of all partitions and gates, that peers are told; default: one of the Stack's own

	// OnControl gets each message of a peer, in order. It takes the payload. It is
	// called by the I/O goroutine and must not block.
	OnControl func(peer int, payload []byte)
	// OnFailure gets a *PeerError when a connection breaks, once per connection. It
	// is called by the I/O goroutine; it must not block and must not call Close.
	OnFailure func(error)

	Log *slog.Logger // refused peers and the like; default: nothing is logged

	tuning tuning // for measurements
}

func (o StackOptions) withDefaults() StackOptions {
	if o.Network == "" {
		o.Network = "tcp"
	}
	setDefaultTime(&o.HandshakeTimeout, DefaultHandshakeTimeout)
	setDefaultTime(&o.ConnectTimeout, DefaultConnectTimeout)
	setDefaultTime(&o.CloseTimeout, DefaultCloseTimeout)
	if o.Clock == nil {
		o.Clock = perf.NewClock()
	}
	if o.OnControl == nil {
		o.OnControl = func(int, []byte) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.tuning == (tuning{}) {
		o.tuning = defaultTuning
	}
	return o
}

func setDefaultTime(field *time.Duration, value time.Duration) {
	if *field == 0 {
		*field = value
	}
}

// Validate reports all problems at once.
func (o StackOptions) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("netstack: stack: "+format, args...))
	}
	if o.Arena == nil {
		bad("Arena is required")
	}
	if n := len(o.Peers); n < 2 || n > MaxWorkers || o.Index < 0 || o.Index >= n {
		bad("index %d of %d peers: want 2 to %d peers and an index among them", o.Index, n, MaxWorkers)
		return errors.Join(errs...)
	}
	if o.Network != "tcp" && o.Network != "unix" {
		bad("network %q: want tcp or unix", o.Network)
	}
	if len(o.Job) > maxJobName {
		bad("the job's name has %d bytes, at most %d", len(o.Job), maxJobName)
	}
	if o.HandshakeTimeout < 0 || o.ConnectTimeout < 0 || o.CloseTimeout < 0 || o.ClockInterval < 0 {
		bad("timeouts and intervals must not be negative")
	}
	errs = append(errs, o.validateTLS(), o.validatePlaintext())
	return errors.Join(errs...)
}

// validateTLS: both ends prove who they are, so both need a certificate and both
// need to know whom to trust.
func (o StackOptions) validateTLS() error {
	c := o.TLS
	if c == nil {
		return nil
	}
	var errs []error
	if len(c.Certificates) == 0 && (c.GetCertificate == nil || c.GetClientCertificate == nil) {
		errs = append(errs, errors.New("netstack: stack: TLS needs Certificates, or GetCertificate and GetClientCertificate"))
	}
	if c.ClientCAs == nil {
		errs = append(errs, errors.New("netstack: stack: TLS needs ClientCAs to verify the peers that connect"))
	}
	if c.InsecureSkipVerify && c.VerifyConnection == nil {
		errs = append(errs, errors.New("netstack: stack: TLS must verify the peers that are dialed: InsecureSkipVerify needs VerifyConnection"))
	}
	if c.MaxVersion != 0 && c.MaxVersion < tls.VersionTLS13 {
		errs = append(errs, errors.New("netstack: stack: TLS must allow version 1.3"))
	}
	return errors.Join(errs...)
}

func (o StackOptions) validatePlaintext() error {
	if o.TLS != nil || o.InsecurePlaintext || o.Network == "unix" {
		return nil
	}
	var errs []error
	for i, addr := range o.Peers {
		if !isLoopback(addr) {
			errs = append(errs, fmt.Errorf("%w: worker %d is at %s", ErrPlaintext, i, addr))
		}
	}
	if o.Listener != nil && o.Listener.Addr().Network() != "unix" && !isLoopback(o.Listener.Addr().String()) {
		errs = append(errs, fmt.Errorf("%w: listening on %s", ErrPlaintext, o.Listener.Addr()))
	}
	return errors.Join(errs...)
}

// isLoopback goes by the text alone: what a name resolves to may change.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

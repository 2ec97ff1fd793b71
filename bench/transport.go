package bench

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Transports between two workers. Between subtasks of one there is a local one, too.
const (
	overTCP  = "tcp"
	overUnix = "unix"
	overTLS  = "tls"
	local    = "local"
)

// identity is a certificate that both processes of a measurement present and trust.
type identity struct{ Cert, Key []byte } // DER

// newIdentity makes one for loopback addresses, for some hours.
func newIdentity() (id identity, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return id, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "overtake bench"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if id.Cert, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key); err != nil {
		return id, err
	}
	id.Key, err = x509.MarshalECPrivateKey(key)
	return id, err
}

// config is that of either side.
func (id identity) config() (*tls.Config, error) {
	cert, err := x509.ParseCertificate(id.Cert)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(id.Key)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{id.Cert}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13, ServerName: "127.0.0.1",
	}, nil
}

// over is the transfer with another transport.
func (w wire) over(transport string) (wire, error) {
	w.Transport = transport
	if transport != overTLS {
		return w, nil
	}
	var err error
	w.Identity, err = newIdentity()
	return w, err
}

// addresses returns n that nobody listens on, and what deletes them.
func (w wire) addresses(n int) (addrs []string, cleanup func(), err error) {
	if w.Transport != overUnix {
		addrs, err = FreeAddresses(n)
		return addrs, func() {}, err
	}
	dir, err := os.MkdirTemp("", "overtake-bench-")
	for i := range n {
		addrs = append(addrs, filepath.Join(dir, fmt.Sprint(i)))
	}
	return addrs, func() { os.RemoveAll(dir) }, err
}

// listen is for a baseline's receiver.
func (w wire) listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{Control: unpaced}
	l, err := lc.Listen(context.Background(), w.network(), addr)
	if err != nil || w.Transport != overTLS {
		return l, err
	}
	cfg, err := w.Identity.config()
	return tls.NewListener(l, cfg), err
}

// dial waits for the other process to listen.
func (w wire) dial(addr string) (net.Conn, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		d := net.Dialer{Control: unpaced}
		conn, err := d.Dial(w.network(), addr)
		if err != nil && time.Now().Before(deadline) {
			continue
		}
		if err != nil || w.Transport != overTLS {
			return conn, err
		}
		cfg, err := w.Identity.config()
		return tls.Client(conn, cfg), err
	}
}

// network is Go's name of what is below.
func (w wire) network() string {
	if w.Transport == overUnix {
		return "unix"
	}
	return "tcp"
}

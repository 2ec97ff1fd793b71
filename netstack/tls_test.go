package netstack_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	return &authority{cert: cert, key: key}
}

// config is that of a worker whose certificate this authority signs, and which
// trusts the given one.
func (a *authority) config(t testing.TB, trusted *authority) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "worker"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(trusted.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool,
	}
}

func tlsVariant(t testing.TB) clusterOptions {
	a := newAuthority(t)
	return clusterOptions{each: func(_ int, o *netstack.StackOptions) { o.TLS = a.config(t, a) }}
}

func TestTLSRefusesAStranger(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	c := newCluster(t, clusterOptions{each: func(i int, o *netstack.StackOptions) {
		o.ConnectTimeout = time.Second
		o.TLS = ours.config(t, ours)
		if i == 1 {
			o.TLS = theirs.config(t, ours) // trusts worker 0, which does not trust it
		}
	}})
	errs := c.each(func(s *netstack.Stack) error { return s.Start(context.Background()) })
	if errs[0] == nil || errs[1] == nil {
		t.Errorf("Start: %v, want two errors", errs)
	}
	c.close()
}

func TestTLSAndPlainTextDoNotMix(t *testing.T) {
	a := newAuthority(t)
	c := newCluster(t, clusterOptions{each: func(i int, o *netstack.StackOptions) {
		o.ConnectTimeout = 5 * time.Second
		if i == 0 {
			o.ConnectTimeout = 200 * time.Millisecond
			o.TLS = a.config(t, a)
		}
	}})
	errs := c.each(func(s *netstack.Stack) error { return s.Start(context.Background()) })
	if !errors.Is(errs[1], netstack.ErrForeign) {
		t.Errorf("the plain worker: %v, want ErrForeign", errs[1])
	}
	c.close()
}

func TestPlainTextIsRefusedOffLoopback(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	o := c.opts[0]
	for _, addr := range []string{"10.0.0.1:7000", ":7000", "0.0.0.0:7000", "worker.example:7000", "127.0.0.1.example:7000"} {
		o.Peers = []string{addr, "localhost:7001"}
		if _, err := netstack.NewStack(o); !errors.Is(err, netstack.ErrPlaintext) {
			t.Errorf("%s: %v, want ErrPlaintext", addr, err)
		}
		o.InsecurePlaintext = true
		if _, err := netstack.NewStack(o); err != nil {
			t.Errorf("%s with InsecurePlaintext: %v", addr, err)
		}
		o.InsecurePlaintext = false
	}
	for _, addr := range []string{"127.0.0.1:7000", "127.1.2.3:7000", "[::1]:7000", "localhost:7000"} {
		o.Peers = []string{addr, addr}
		if _, err := netstack.NewStack(o); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	must(t, errors.Join(c.opts[0].Listener.Close(), c.opts[1].Listener.Close()))
	c.close()
}

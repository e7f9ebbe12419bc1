package testservers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// Authority is an ACME authority (RFC 8555), Pebble, which rejects one nonce in twenty as it does
// by default. It only validates names by TLS-ALPN-01: its connections go to the address of Reach,
// once that was called.
type Authority struct {
	Directory string // URL
	Trust     string // PEM file with the issuer of the directory's own certificate
	Roots     *x509.CertPool
	Issuer    string // PEM file of Roots

	program *program
	told    sync.Once
	known   chan struct{} // closed when target is set
	target  string
}

// AuthorityConfig says how it issues certificates.
type AuthorityConfig struct {
	Lifetime time.Duration // of a certificate; 0: 90 days
	Refused  []string      // names for which it issues nothing
	Resolver string        // address of the name server that it uses
}

// ACME starts an authority.
func ACME(tb testing.TB, c AuthorityConfig) *Authority {
	tb.Helper()
	a := &Authority{known: make(chan struct{}), Trust: filepath.Join(tb.TempDir(), "authority.pem")}
	key := filepath.Join(filepath.Dir(a.Trust), "authority.key")
	ownCertificate(tb, a.Trust, key)
	path := goTool(tb, "pebble")
	trusted := x509.NewCertPool()
	if b, err := os.ReadFile(a.Trust); err != nil || !trusted.AppendCertsFromPEM(b) {
		tb.Fatal("the authority's own certificate: ", err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	tb.Cleanup(client.CloseIdleConnections)
	port := a.forward(tb)
	for range 5 { // another process may take a port meanwhile
		at, manage := freeport.Addr(tb), freeport.Addr(tb)
		config := map[string]any{"pebble": map[string]any{
			"listenAddress": at, "managementListenAddress": manage, "certificate": a.Trust, "privateKey": key,
			"tlsPort": port, "httpPort": 1, "domainBlocklist": c.Refused, "keyAlgorithm": "ecdsa",
			"retryAfter": map[string]int{"authz": 1, "order": 1},
			"profiles":   map[string]any{"default": map[string]any{"description": "the only one", "validityPeriod": int(c.Lifetime / time.Second)}},
		}}
		b, err := json.Marshal(config)
		if err != nil {
			tb.Fatal(err)
		}
		file := filepath.Join(tb.TempDir(), "pebble.json")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			tb.Fatal(err)
		}
		p := start(tb, path, []string{"-config", file, "-dnsserver", c.Resolver}, []string{"PEBBLE_VA_NOSLEEP=1"})
		root := p.get(tb, client, "https://"+manage+"/roots/0")
		if root == nil || p.get(tb, client, "https://"+at+"/dir") == nil {
			continue
		}
		a.Issuer = filepath.Join(filepath.Dir(a.Trust), "issuer.pem")
		if err := os.WriteFile(a.Issuer, root, 0o600); err != nil {
			tb.Fatal(err)
		}
		if a.Roots = x509.NewCertPool(); !a.Roots.AppendCertsFromPEM(root) {
			tb.Fatalf("its root: %q", root)
		}
		a.Directory, a.program = "https://"+at+"/dir", p
		return a
	}
	tb.Fatal("pebble does not start")
	return nil
}

// Reach makes the authority find every name at an address. The first call counts.
func (a *Authority) Reach(addr string) {
	a.told.Do(func() { a.target = addr; close(a.known) })
}

// Stop ends the authority before its test does.
func (a *Authority) Stop() {
	_ = a.program.cmd.Process.Kill()
	<-a.program.ended
}

// Log returns its output.
func (a *Authority) Log() string { return a.program.log() }

// forward accepts connections on a port, which it returns, and forwards them to the address of
// Reach.
func (a *Authority) forward(tb testing.TB) (port int) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				<-a.known
				to, err := net.Dial("tcp", a.target)
				if err != nil {
					return
				}
				defer to.Close()
				back := make(chan struct{})
				go func() {
					defer close(back)
					_, _ = io.Copy(c, to) // the peers close the connections
					c.Close()
				}()
				_, _ = io.Copy(to, c)
				to.Close()
				<-back
			})
		}
	})
	tb.Cleanup(func() { a.Reach(""); ln.Close(); all.Wait() }) // the programs have ended by then
	return ln.Addr().(*net.TCPAddr).Port
}

// get asks until the program answers, and returns nil if it ends before.
func (p *program) get(tb testing.TB, client *http.Client, url string) []byte {
	tb.Helper()
	for late := time.After(patience); ; {
		if res, err := client.Get(url); err == nil {
			b, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK {
				tb.Fatal(url, res.Status, err)
			}
			return b
		}
		select {
		case <-p.ended:
			return nil
		case <-late:
			tb.Fatalf("it does not answer: %s", p.log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ownCertificate writes a self-signed certificate for this machine, and its key.
func ownCertificate(tb testing.TB, cert, key string) {
	tb.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority " + strconv.Itoa(os.Getpid())}, NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, k.Public(), k)
	if err != nil {
		tb.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		tb.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

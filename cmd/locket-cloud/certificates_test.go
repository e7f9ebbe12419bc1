package main

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/testing/testservers"
)

// names returns the address of a name server that resolves every name to this machine.
func names(t *testing.T) string {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0") // Pebble uses TCP
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{Listener: at, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)})
		}
		_ = w.WriteMsg(m) // the client may be gone
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.ActivateAndServe() }()
	t.Cleanup(func() { at.Close(); <-ended })
	return at.Addr().String()
}

const host = "relay.example.org"

// patience is how long an authority may take on a busy machine.
const patience = 10 * time.Minute

// certified starts a relay with a certificate from an authority.
func certified(t *testing.T, a *testservers.Authority, dir string) *process {
	t.Helper()
	p := startWith(t, []string{"SSL_CERT_FILE=" + a.Trust}, "--data", dir, "--open", "--acme", host, "--acme-directory", a.Directory)
	a.Reach(strings.TrimPrefix(p.url, "https://"))
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }) // a test may have ended it
	return p
}

// serial connects like a device, and returns the serial number of the certificate once there is a
// valid one.
func serial(t *testing.T, a *testservers.Authority, p *process) string {
	t.Helper()
	for late := time.After(patience); ; {
		c, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{ServerName: host, RootCAs: a.Roots})
		if err == nil {
			defer c.Close()
			return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
		}
		select {
		case <-late:
			t.Fatal(err, p.log, a.Log())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A relay gets its certificate by itself, keeps it, and serves with it after a
// restart without asking for another, though the authority is gone.
func TestCertificateIsGotAndKept(t *testing.T) {
	a := testservers.ACME(t, testservers.AuthorityConfig{Resolver: names(t)})
	dir := t.TempDir()
	p := certified(t, a, dir)
	first := serial(t, a, p)
	at := strings.TrimPrefix(p.url, "https://")
	if code, text := ready(t, "SSL_CERT_FILE="+a.Issuer, "LOCKET_CLOUD_LISTEN="+at, "LOCKET_CLOUD_ACME="+host); code != exitDone {
		t.Error("ready, with the relay's settings: ", code, text)
	}
	// Nobody gets one for another name.
	if c, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{ServerName: "else.example.org", InsecureSkipVerify: true}); err == nil {
		c.Close()
		t.Error("a certificate for a name that is not the relay's")
	}
	if strings.Contains(a.Log(), "else.example.org") {
		t.Error("the authority was asked for a name that is not the relay's")
	}
	err := filepath.WalkDir(filepath.Join(dir, "certificates"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	a.Stop()
	if again := serial(t, a, certified(t, a, dir)); again != first {
		t.Error("another certificate after a restart")
	}
}

// A certificate is replaced before it ends, while the relay serves.
func TestCertificateIsRenewed(t *testing.T) {
	// With 8 seconds, a certificate had expired before it arrived on a busy machine: the authority
	// refuses some nonces, and the relay waits between attempts.
	a := testservers.ACME(t, testservers.AuthorityConfig{Resolver: names(t), Lifetime: 40 * time.Second})
	p := certified(t, a, t.TempDir())
	first := serial(t, a, p)
	for late := time.After(patience); serial(t, a, p) == first; {
		select {
		case <-late:
			t.Fatal("not renewed: ", p.log, a.Log())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// The reason why there is no certificate is logged, in the authority's own words, and the relay
// continues.
func TestCertificateIsRefused(t *testing.T) {
	await := func(t *testing.T, p *process, words ...string) {
		t.Helper()
		late := time.After(patience)
		for _, w := range words {
			for !strings.Contains(p.log.String(), w) {
				select {
				case <-late:
					t.Fatalf("it does not say %q: %s", w, p.log)
				case <-time.After(20 * time.Millisecond):
				}
			}
		}
		if err := p.cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Error("it has ended: ", err)
		}
	}
	resolver := names(t)
	t.Run("name", func(t *testing.T) {
		a := testservers.ACME(t, testservers.AuthorityConfig{Resolver: resolver, Refused: []string{host}})
		await(t, certified(t, a, t.TempDir()), "no certificate", host, a.Directory, "rejectedIdentifier", "the certificate authority refuses")
	})
	t.Run("unreached", func(t *testing.T) { // the authority finds another server at the name
		a := testservers.ACME(t, testservers.AuthorityConfig{Resolver: resolver})
		a.Reach("127.0.0.1:1")
		await(t, certified(t, a, t.TempDir()), "no certificate", host, "port 443", "could not prove the name", "tls-alpn-01", "Failed to connect")
	})
	t.Run("stranger", func(t *testing.T) { // a directory whose own certificate is not trusted
		a := testservers.ACME(t, testservers.AuthorityConfig{Resolver: resolver})
		p := start(t, "--data", t.TempDir(), "--open", "--acme", host, "--acme-directory", a.Directory)
		t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
		await(t, p, "no certificate", host, a.Directory, "certificate signed by unknown authority")
	})
	t.Run("away", func(t *testing.T) {
		away := "https://" + freeport.Addr(t) + "/dir"
		p := start(t, "--data", t.TempDir(), "--open", "--acme", host, "--acme-directory", away)
		t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
		await(t, p, "no certificate", host, away, "connection refused")
	})
}

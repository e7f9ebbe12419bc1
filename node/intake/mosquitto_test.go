package intake_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// mosquitto is a real one, with passwords and the ACL of docs/mqtt.md.
type mosquitto struct {
	bin, conf string
	url       string
	password  string // of the user node
	nodeTLS   *tls.Config
	deviceTLS *tls.Config
	cmd       *exec.Cmd
	gone      chan struct{}
}

func tool(t testing.TB, name string) string {
	t.Helper()
	for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name, "/opt/homebrew/sbin/" + name} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	t.Fatalf("%s is needed by this test and not installed: apt-get install mosquitto, or brew install mosquitto", name)
	return ""
}

func newMosquitto(t testing.TB, reg *registry, ca *authority) *mosquitto {
	t.Helper()
	m := &mosquitto{bin: tool(t, "mosquitto"), password: "node-password"}
	dir := t.TempDir()
	port := freeport.Port(t)
	m.conf = filepath.Join(dir, "mosquitto.conf")
	m.url = "tcp://127.0.0.1:" + port
	passwords := filepath.Join(dir, "passwords")
	write(t, passwords, "")
	add := func(user, password string) {
		if out, err := exec.Command(tool(t, "mosquitto_passwd"), "-b", passwords, user, password).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_passwd: %v: %s", err, out)
		}
	}
	add("node", m.password)
	for name, p := range reg.password {
		add(name, p)
	}
	acl := "user node\ntopic read locket/v1/+/+\ntopic write locket/v1/+/ack\ntopic write locket/v1/+/cmd\n\n"
	for _, k := range wire.Kinds {
		acl += fmt.Sprintf("pattern write locket/v1/%%u/%s\n", k)
	}
	acl += "pattern read locket/v1/%u/ack\npattern read locket/v1/%u/cmd\n"
	write(t, filepath.Join(dir, "acl"), acl)
	conf := []string{
		"listener " + port + " 127.0.0.1", "allow_anonymous false", "password_file " + passwords,
		"acl_file " + filepath.Join(dir, "acl"), "use_username_as_clientid false",
		"persistence true", "persistence_location " + dir + "/", "log_dest stderr", "log_type information", "log_type error",
		"max_inflight_messages 64", "max_queued_messages 0",
	}
	if ca != nil {
		cert, key := ca.server(t)
		conf = append(conf, "cafile "+ca.file, "certfile "+cert, "keyfile "+key, "require_certificate true")
		m.url = "ssl://127.0.0.1:" + port
		m.nodeTLS, m.deviceTLS = ca.client(t, "node"), ca.client(t, "device")
	}
	if os.Geteuid() == 0 {
		conf = append(conf, "user root")
	}
	write(t, m.conf, strings.Join(conf, "\n")+"\n")
	t.Cleanup(func() { m.stop(t) })
	return m
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (m *mosquitto) start(t testing.TB) {
	t.Helper()
	m.cmd = exec.Command(m.bin, "-c", m.conf)
	out, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running := make(chan bool, 1)
	m.gone = make(chan struct{})
	go func() {
		defer close(m.gone)
		var said []string
		up := false
		for s := bufio.NewScanner(out); s.Scan(); {
			said = append(said, s.Text())
			if strings.HasSuffix(s.Text(), " running") {
				up = true
				running <- true
			}
		}
		m.cmd.Wait()
		if !up {
			fmt.Fprintln(os.Stderr, strings.Join(said, "\n"))
			running <- false
		}
	}()
	if !<-running {
		t.Fatal("mosquitto did not start")
	}
}

func (m *mosquitto) stop(t testing.TB) {
	if m.cmd == nil {
		return
	}
	if err := m.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	<-m.gone
	m.cmd = nil
}

// authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // file of the certificate, in PEM
}

func newAuthority(t testing.TB) *authority {
	a := &authority{}
	a.cert, a.key, a.file, _ = certificate(t, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func certificate(t testing.TB, by *authority, c *x509.Certificate) (cert *x509.Certificate, key *ecdsa.PrivateKey, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})))
	return cert, key, certFile, keyFile
}

func (a *authority) server(t testing.TB) (certFile, keyFile string) {
	_, _, certFile, keyFile = certificate(t, a, &x509.Certificate{
		Subject: pkix.Name{CommonName: "broker"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return certFile, keyFile
}

func (a *authority) client(t testing.TB, name string) *tls.Config {
	_, _, certFile, keyFile := certificate(t, a, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	c, err := intake.TLSConfig(a.file, certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

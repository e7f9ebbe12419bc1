package e2e

import (
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
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

func words(i int) wire.Message { return &wire.Words{Speaker: "Ana", Text: sentence(i)} }

// mosquitto is an existing broker: with passwords, an ACL for each device, and TLS.
type mosquitto struct {
	t    *testing.T
	dir  string
	port string
	cmd  *exec.Cmd
}

func newMosquitto(t *testing.T) *mosquitto {
	t.Helper()
	m := &mosquitto{t: t, dir: t.TempDir()}
	m.port = freeport.Port(t)
	m.certificate()
	pass := filepath.Join(m.dir, "passwords")
	for _, user := range []string{"node", "pin", "glasses"} {
		args := []string{"-b", pass, user, "secret-of-" + user}
		if !exists(pass) {
			args = append([]string{"-c"}, args...)
		}
		if out, err := exec.Command("mosquitto_passwd", args...).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_passwd: %v %s", err, out)
		}
	}
	m.write("acl", "user node\ntopic readwrite locket/v1/#\n\npattern write locket/v1/%u/+\npattern read locket/v1/%u/ack\npattern read locket/v1/%u/cmd\n")
	m.write("conf", fmt.Sprintf("user root\nper_listener_settings false\nlistener %s 127.0.0.1\nallow_anonymous false\npassword_file %s\nacl_file %s\ncafile %s\ncertfile %s\nkeyfile %s\npersistence true\npersistence_location %s/\nautosave_interval 1\nautosave_on_changes true\nmax_queued_messages 0\n",
		m.port, pass, m.path("acl"), m.path("ca.pem"), m.path("cert.pem"), m.path("key.pem"), m.dir))
	t.Cleanup(m.stop)
	return m
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (m *mosquitto) path(name string) string { return filepath.Join(m.dir, name) }

func (m *mosquitto) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(m.path(name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mosquitto) certificate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		m.t.Fatal(err)
	}
	k, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		m.t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	m.write("ca.pem", cert)
	m.write("cert.pem", cert)
	m.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: k})))
}

func (m *mosquitto) start() {
	m.t.Helper()
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		path = "/usr/sbin/mosquitto" // Debian's path, which is not in everyone's PATH
	}
	m.cmd = exec.Command(path, "-c", m.path("conf"))
	if err := m.cmd.Start(); err != nil {
		m.t.Fatalf("%v: apt-get install mosquitto mosquitto-clients", err)
	}
	until(m.t, "mosquitto listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+m.port)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (m *mosquitto) stop() {
	if m.cmd != nil {
		m.cmd.Process.Kill()
		m.cmd.Wait()
		m.cmd = nil
	}
}

func (m *mosquitto) url() string { return "ssl://127.0.0.1:" + m.port }

func (m *mosquitto) tls() *tls.Config {
	c, err := intake.TLSConfig(m.path("ca.pem"), "", "")
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

func (m *mosquitto) wearable(name string) *wear.Client {
	m.t.Helper()
	c, err := wear.Dial(wear.Config{URL: m.url(), TLS: m.tls(), Device: name, Password: "secret-of-" + name, Hello: wire.Hello{Model: "test", Firmware: "1"}, Timeout: 5 * time.Second, MaxWait: time.Second})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close() })
	return c
}

func (m *mosquitto) node() *home {
	m.t.Helper()
	m.write("node.password", "secret-of-node\n")
	return newHome(m.t, "--broker", m.url(), "--set", "broker.ca="+m.path("ca.pem"), "--set", "broker.username=node", "--set", "broker.password_file="+m.path("node.password"))
}

// The node works with Mosquitto with passwords, an ACL for each device and TLS. If the broker or
// the node goes away for a while, nothing is lost.
func TestMosquitto(t *testing.T) {
	m := newMosquitto(t)
	m.start()
	h := m.node()
	d := h.start()
	pin := m.wearable("pin")
	var rs []*wear.Receipt
	n := 0
	speak := func(count int) {
		for range count {
			rs = append(rs, say(t, pin, "Ana", sentence(n)))
			n++
		}
	}
	speak(20)
	acknowledged(t, rs...)

	m.stop() // the broker is away for all of this
	speak(20)
	m.start()
	acknowledged(t, rs...)

	d.kill() // the node is away for all of this
	speak(20)
	h.start()
	acknowledged(t, rs...)

	until(t, "everything that was said", func() bool {
		have := h.utterances()
		for i, r := range rs {
			if have[r.ID] != sentence(i) {
				return false
			}
		}
		return len(have) == len(rs)
	})
}

// A device can't publish as another, or read what is meant for another.
func TestMosquittoKeepsDevicesApart(t *testing.T) {
	m := newMosquitto(t)
	m.start()
	h := m.node()
	h.start()
	acknowledged(t, say(t, m.wearable("pin"), "Ana", sentence(0)))
	out, err := exec.Command("mosquitto_pub", "--cafile", m.path("ca.pem"), "-h", "127.0.0.1", "-p", m.port, "-u", "glasses", "-P", "secret-of-glasses",
		"-q", "1", "-t", "locket/v1/pin/text", "-m", `{"seq":99,"boot":1,"text":"forged by the glasses"}`).CombinedOutput()
	if err != nil {
		t.Fatalf("mosquitto_pub: %v %s", err, out)
	}
	acknowledged(t, say(t, m.wearable("glasses"), "Ana", sentence(1)))
	until(t, "both real sentences", func() bool { return len(h.utterances()) >= 2 })
	if out := h.must("export"); strings.Contains(out, "forged by the glasses") {
		t.Error("a device published as another")
	}
}

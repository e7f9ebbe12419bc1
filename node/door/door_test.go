package door

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/node/serve"
)

// opened serves an API at a door on loopback, and returns its address.
func opened(t *testing.T, c Config) string {
	t.Helper()
	conf, err := TLS(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- serve.Serve(ctx, tls.NewListener(l, conf), serve.New(serve.Options{AppsAlone: true, Token: "a token of the owner"}), slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// problem returns why a client is refused.
func problem(t *testing.T, l Link) string {
	t.Helper()
	c, err := Dial(l)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Self(t.Context())
	if err == nil {
		t.Fatal("let in")
	}
	return err.Error()
}

// A node is recognised by its key, whatever its name: it is the same after a
// restart, and another node's key is refused before an app's key is sent.
func TestThreatStandsInForTheDoor(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	var pins sync.Map
	var making sync.WaitGroup
	for range 8 { // the daemon and commands may make the key at the same time
		making.Go(func() {
			pin, err := Pin(Config{Home: home})
			if err != nil {
				t.Error(err)
			}
			pins.Store(pin, true)
		})
	}
	making.Wait()
	n := 0
	pins.Range(func(any, any) bool { n++; return true })
	pin, err := Pin(Config{Home: home})
	if err != nil || n != 1 {
		t.Fatalf("%d pins, %v", n, err)
	}
	if info, err := os.Stat(filepath.Join(home, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	address := opened(t, Config{Home: home})
	l := Link{Address: "https://" + address, App: "claude", Key: "lka_x", Pin: pin}
	if got := problem(t, l); !strings.Contains(got, "no keys of apps") {
		t.Error(got) // the API answered
	}
	strange, err := Pin(Config{Home: other})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{strange, applink.PinPrefix, applink.PinPrefix + "x"} {
		wrong := l
		wrong.Pin = p
		if got := problem(t, wrong); !strings.Contains(got, "does not match the pin") {
			t.Errorf("%s: %s", p, got)
		}
	}
	l.Pin = "" // the system does not know this certificate
	if got := problem(t, l); !strings.Contains(got, "x509") {
		t.Error(got)
	}
	// Nobody is the owner there, and nothing is sent in the clear.
	l.Pin, l.Key = pin, "a token of the owner"
	if got := problem(t, l); !strings.Contains(got, "send the key of an app") {
		t.Error(got)
	}
	res, err := http.Get("http://" + address + "/healthz")
	if err == nil {
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || strings.Contains(string(b), "urn:locket") {
			t.Errorf("%s: %s", res.Status, b)
		}
	}
	if err := os.WriteFile(filepath.Join(home, keyFile), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := TLS(Config{Home: home}); err == nil || !strings.Contains(err.Error(), keyFile) {
		t.Error(err)
	}
}

// pair writes a certificate into files, and returns its serial number.
func pair(t *testing.T, dir string) (cert, key, serial string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ownCertificate(k, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key, leaf.SerialNumber.String()
}

// Files that are renewed are read again; half of a renewal changes nothing.
func TestFiles(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	cert, key, first := pair(t, dir)
	c, err := TLS(Config{Cert: cert, Key: key, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if pin, err := Pin(Config{Cert: cert, Key: key}); pin != "" || err != nil {
		t.Errorf("%q, %v", pin, err)
	}
	shown := func() string {
		now = now.Add(lookEvery)
		got, err := c.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(got.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.String()
	}
	if got := shown(); got != first {
		t.Errorf("%s, want %s", got, first)
	}
	if err := os.Rename(cert, cert+".old"); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != first {
		t.Errorf("while it is renewed: %s, want %s", got, first)
	}
	_, _, second := pair(t, dir)
	later := time.Now().Add(time.Hour)
	if err := errors.Join(os.Chtimes(cert, later, later), os.Chtimes(key, later, later)); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != second {
		t.Errorf("%s, want %s", got, second)
	}
	if _, err := TLS(Config{Cert: filepath.Join(dir, "none"), Key: key}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	if a, err := Address("0.0.0.0:7332", "https://locket.example/"); a != "https://locket.example" || err != nil {
		t.Error(a, err)
	}
	if a, err := Address("192.0.2.1:7332", ""); a != "https://192.0.2.1:7332" || err != nil {
		t.Error(a, err)
	}
}

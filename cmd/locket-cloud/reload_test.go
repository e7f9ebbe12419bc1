package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/logbook"
)

// writePair writes a certificate with this serial number, and its key.
func writePair(t *testing.T, cert, key string, number int64, at time.Time) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(number), DNSNames: []string{"relay.example"}, NotBefore: at, NotAfter: at.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate that was renewed is served without a restart; one that is half
// written, or gone, is not, and the previous one stays in use.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	now, logs := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), new(logbook.Book)
	p := &pairFiles{cert: cert, key: key, now: func() time.Time { return now }, log: slog.New(slog.NewTextHandler(logs, nil))}
	if err := p.load(); err == nil {
		t.Fatal("load succeeded without files")
	}
	serves := func(number int64) {
		t.Helper()
		c, err := p.get(nil)
		if err != nil || c.Leaf.SerialNumber.Int64() != number {
			t.Fatalf("%v, %v, want number %d", c.Leaf.SerialNumber, err, number)
		}
	}
	writePair(t, cert, key, 1, now)
	if err := p.load(); err != nil {
		t.Fatal(err)
	}
	writePair(t, cert, key, 2, now.Add(time.Second))
	serves(1) // the files are checked only from time to time
	now = now.Add(lookEvery)
	serves(2)
	writePair(t, filepath.Join(dir, "other.pem"), key, 3, now) // the key of a certificate that is not written yet
	now = now.Add(lookEvery)
	serves(2)
	if err := os.Rename(filepath.Join(dir, "other.pem"), cert); err != nil {
		t.Fatal(err)
	}
	now = now.Add(lookEvery)
	serves(3)
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	now = now.Add(lookEvery)
	serves(3)
	if got := strings.Count(logs.String(), "the previous one stays in use"); got != 2 {
		t.Errorf("%d times said that it can't be read: %s", got, logs)
	}
}

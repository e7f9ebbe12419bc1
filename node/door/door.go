// Package door serves a node to other machines: only for apps, each with its key, and only
// over TLS.
//
//   - The node has a key for TLS of its own, and makes a certificate of it at each
//     start, for the names and addresses that it has at that time. A client recognises the
//     node by its *pin*, the SHA-256 of that key's public half in the notation of curl,
//     whatever name and address the node has.
//   - Alternatively the certificate comes from files, as ACME clients write them. They are
//     read again when they have changed, and a client trusts them as its system does.
//   - A [Link] has an address, an app's key and the pin: everything that an app needs.
package door

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/lan"
)

// Config says which certificate a door uses.
type Config struct {
	Home      string           // the node's folder, which contains its own key and certificate
	Cert, Key string           // PEM files to use instead; empty: the node's own
	Now       func() time.Time // nil: time.Now
}

// The node's own files, in its folder.
const (
	keyFile  = "door.key" // PKCS #8 in PEM, for its owner only
	certFile = "door.crt" // the certificate that was made last, for clients that want to check names
)

// lifetime is how long a certificate of the node is valid. A new one is made at each start,
// but the pin belongs to the key.
const lifetime = 10 * 365 * 24 * time.Hour

// TLS returns the server's TLS configuration. If the node has no key of its own, TLS makes
// one.
func TLS(c Config) (*tls.Config, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if c.Cert != "" {
		f := &files{cert: c.Cert, key: c.Key, now: c.Now}
		if _, err := f.get(nil); err != nil {
			return nil, err
		}
		out.GetCertificate = f.get
		return out, nil
	}
	key, err := ownKey(c.Home)
	if err != nil {
		return nil, err
	}
	cert, err := ownCertificate(key, c.Now())
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	if err := atomicfile.Write(filepath.Join(c.Home, certFile), text); err != nil {
		return nil, fmt.Errorf("writing the node's certificate: %w", err)
	}
	out.Certificates = []tls.Certificate{cert}
	return out, nil
}

// Pin returns the pin of the node's own key, which is made if there is none. It is empty if
// the certificate comes from files.
func Pin(c Config) (string, error) {
	if c.Cert != "" {
		return "", nil
	}
	key, err := ownKey(c.Home)
	if err != nil {
		return "", err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", fmt.Errorf("the node's pin: %w", err)
	}
	return applink.Pin(public), nil
}

// ownKey reads the node's key for TLS, or makes one. Two processes that make it at the same
// time get the same one.
func ownKey(home string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(home, keyFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("making the node's key for TLS: %w", err)
		}
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the node's key for TLS: %w", err)
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("the node's key for TLS: %s is not PEM: remove it; apps then need new links", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("the node's key for TLS: %s is not a key of this kind: remove it; apps then need new links", path)
	}
	return key, nil
}

func makeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	err = atomicfile.Create(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if errors.Is(err, fs.ErrExist) { // another process was first
		return nil
	}
	return err
}

// ownCertificate makes a certificate for the present names and addresses of this machine.
func ownCertificate(key *ecdsa.PrivateKey, now time.Time) (tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Locket"}, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
		DNSNames: []string{"localhost", "locket"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
	if name, err := os.Hostname(); err == nil && name != "" {
		t.DNSNames = append(t.DNSNames, name, name+".local")
	}
	for _, a := range lan.Reachable() {
		t.IPAddresses = append(t.IPAddresses, a.AsSlice())
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the node's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// files is a certificate that another program renews.
type files struct {
	cert, key string
	now       func() time.Time

	mu     sync.Mutex
	last   *tls.Certificate
	looked time.Time
	was    [2]time.Time // modification times of the files
}

// lookEvery is how often it is checked whether the files have changed.
const lookEvery = 10 * time.Second

// get is tls.Config.GetCertificate. If the files can't be read, or do not match because they
// are being renewed, the previous certificate stays in use.
func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.last != nil && now.Sub(f.looked) < lookEvery {
		return f.last, nil
	}
	f.looked = now
	var at [2]time.Time
	for i, path := range []string{f.cert, f.key} {
		if info, err := os.Stat(path); err == nil {
			at[i] = info.ModTime()
		}
	}
	if f.last != nil && at == f.was {
		return f.last, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		if f.last != nil {
			return f.last, nil
		}
		return nil, fmt.Errorf("certificate of the API: %w", err)
	}
	f.last, f.was = &pair, at
	return f.last, nil
}

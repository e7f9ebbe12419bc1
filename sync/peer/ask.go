package peer

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/httpsig"
)

// FORMAT of a device's certificate: X.509, self-signed, with an Ed25519 key and a
// certificate that are made for one connection. Its subject key identifier is the
// proof (40 bytes), where K is a key that only the space's members know, and public
// is the certificate's key (32 bytes):
//
//	member's id, XORed with HMAC(K, "locket/v2 peer mask", public)   8
//	HMAC(K, "locket/v2 peer proof", public, address, member)        32
//
// Each part of an HMAC is preceded by its length in decimal and a colon. The member
// is in hexadecimal there. All other fields are the same for everybody.

// These sizes are in bytes.
const (
	proofSize = sha256.Size
	maskSize  = 8
)

// Scheme is the scheme of a device's URL: lan://HOST:PORT.
const Scheme = "lan"

func mac(key []byte, parts ...string) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		fmt.Fprintf(m, "%d:%s", len(p), p)
	}
	return m.Sum(nil)
}

// prove returns a proof that tells members, and nobody else, which member is at an address.
func prove(key []byte, public ed25519.PublicKey, address string, member memory.MemberID) []byte {
	out := append([]byte(nil), member[:]...)
	for i, b := range mac(key, "locket/v2 peer mask", string(public))[:maskSize] {
		out[i] ^= b
	}
	return append(out, mac(key, "locket/v2 peer proof", string(public), httpsig.Host(address), member.String())...)
}

// who returns the member that made a proof, or [ErrStranger].
func who(proof []byte, public ed25519.PublicKey, address string, keys ...[]byte) (id memory.MemberID, err error) {
	for _, key := range keys {
		if len(proof) != maskSize+proofSize {
			break
		}
		for i, m := range mac(key, "locket/v2 peer mask", string(public))[:maskSize] {
			id[i] = proof[i] ^ m
		}
		if hmac.Equal(proof, prove(key, public, address, id)) {
			return id, nil
		}
	}
	return memory.MemberID{}, fmt.Errorf("%s: %w", address, ErrStranger)
}

// TLS returns the configuration of the server. Each connection has another certificate, so that
// somebody who connects in two networks can't recognise the device.
func (s *Server) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			key := s.Key()
			if key == nil {
				return nil, errNothing
			}
			return certificate(key, hello.Conn.LocalAddr().String(), s.Self)
		}}
}

func certificate(key []byte, address string, self memory.MemberID) (*tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280, section 4.1.2.5
		SubjectKeyId: prove(key, public, address, self)}
	der, err := x509.CreateCertificate(rand.Reader, t, t, public, private)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
}

var (
	// ErrStranger: the other side at an address does not know the space's key.
	ErrStranger = errors.New("no member is at this address")
	// ErrOlder: the device there speaks without encryption, as Locket 0.1.0 does.
	ErrOlder = errors.New("an older version of Locket is at this address; this one does not exchange anything with it over the local network")
)

// dial connects to a device at an address (host:port), and returns the member that is there. keys
// are the keys that the member may know. Without keys, it may be anybody.
func dial(ctx context.Context, address string, keys ...[]byte) (*tls.Conn, memory.MemberID, error) {
	var id memory.MemberID
	raw, err := (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, id, err
	}
	// The certificate of one connection is in no chain. What counts is its proof.
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		VerifyConnection: func(s tls.ConnectionState) (err error) {
			if len(keys) == 0 {
				return nil
			}
			public, _ := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			id, err = who(s.PeerCertificates[0].SubjectKeyId, public, address, keys...)
			return err
		}})
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if older, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(older.RecordHeader[:]) == "HTTP/" {
			err = fmt.Errorf("%s: %w", address, ErrOlder)
		}
		return nil, id, err
	}
	return conn, id, nil
}

// Ask finds out which member is at an address (host:port) without saying who
// asks. keys are the keys that the member may know.
func Ask(ctx context.Context, address string, keys ...[]byte) (memory.MemberID, error) {
	if len(keys) == 0 {
		return memory.MemberID{}, fmt.Errorf("%s: %w", address, ErrStranger)
	}
	conn, id, err := dial(ctx, address, keys...)
	if err != nil {
		return id, err
	}
	return id, conn.Close()
}

// Client returns a client that speaks only with devices of members, which know one of the present
// keys. If keys is nil, it speaks with any device. That is for a new device, which has no key yet:
// its person compares words.
func Client(keys func() [][]byte) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			if keys == nil {
				conn, _, err := dial(ctx, address)
				return conn, err
			}
			now := keys()
			if len(now) == 0 {
				return nil, fmt.Errorf("%s: %w", address, ErrStranger)
			}
			conn, _, err := dial(ctx, address, now...)
			return conn, err
		},
		IdleConnTimeout: 60 * time.Second, MaxIdleConnsPerHost: 4, MaxResponseHeaderBytes: 16 << 10, DisableCompression: true}}
}

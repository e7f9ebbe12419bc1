// Package applink is the link with which an app reaches a node: it has the node's address, the
// app's key, and the *pin* by which the app recognises the node.
package applink

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// KeyPrefix is the prefix of an app's key.
const KeyPrefix = "lka_"

// PinPrefix is the prefix of a pin, in the form of curl's --pinnedpubkey.
const PinPrefix = "sha256//"

// Pin returns the pin of a public key in DER.
func Pin(public []byte) string {
	sum := sha256.Sum256(public)
	return PinPrefix + base64.StdEncoding.EncodeToString(sum[:])
}

// Link is everything that an app on another machine needs:
//
//	https://HOST:PORT/#app=NAME&key=lka_…&pin=sha256//…
//
// The part after # is sent to no server.
type Link struct {
	Address string // https://HOST[:PORT]
	App     string
	Key     string
	Pin     string // empty: the certificate is checked as usual
}

// String formats the link, including the key.
func (l Link) String() string {
	q := url.Values{"app": {l.App}, "key": {l.Key}}
	if l.Pin != "" {
		q.Set("pin", l.Pin)
	}
	return l.Address + "/#" + q.Encode()
}

// ErrLink: a text is not a link.
var ErrLink = errors.New("not a link of locket app add")

// Parse parses a link.
func Parse(s string) (l Link, err error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return Link{}, fmt.Errorf("%w: want https://HOST:PORT/#…", ErrLink)
	}
	q, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		return Link{}, fmt.Errorf("%w: what is behind # can't be read", ErrLink)
	}
	l = Link{Address: "https://" + u.Host, App: q.Get("app"), Key: q.Get("key"), Pin: q.Get("pin")}
	switch {
	case !strings.HasPrefix(l.Key, KeyPrefix):
		return Link{}, fmt.Errorf("%w: key: want %s…", ErrLink, KeyPrefix)
	case l.Pin != "" && !strings.HasPrefix(l.Pin, PinPrefix):
		return Link{}, fmt.Errorf("%w: pin: want %s…", ErrLink, PinPrefix)
	}
	return l, nil
}

// Reach returns where the node listens, as host:port, and how to recognise it.
func (l Link) Reach() (address string, c *tls.Config, err error) {
	u, err := url.Parse(l.Address)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %v", ErrLink, err)
	}
	host, port := u.Hostname(), u.Port()
	port = cmp.Or(port, "443")
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if l.Pin != "" {
		c.InsecureSkipVerify = true // the key is checked instead, for which no name can substitute
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(Pin(s.PeerCertificates[0].RawSubjectPublicKeyInfo)), []byte(l.Pin)) != 1 {
				return errors.New("another node than that of the link answers: its key does not match the pin")
			}
			return nil
		}
	}
	return net.JoinHostPort(host, port), c, nil
}

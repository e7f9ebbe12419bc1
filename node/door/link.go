package door

import (
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/locket-dev/locket/node/serve"
)

// Link is all that an app on another machine needs:
//
//	https://HOST:PORT/#app=NAME&key=lka_…&pin=sha256//…
//
// What is behind # goes to no server.
type Link struct {
	Address string // https://HOST[:PORT]
	App     string
	Key     serve.Secret
	Pin     string // empty: the certificate is checked as the system does
}

// String writes the link, the key with it.
func (l Link) String() string {
	q := url.Values{"app": {l.App}, "key": {string(l.Key)}}
	if l.Pin != "" {
		q.Set("pin", l.Pin)
	}
	return l.Address + "/#" + q.Encode()
}

// ErrLink: a text is no link.
var ErrLink = errors.New("no link of locket app add")

// ParseLink reads one.
func ParseLink(s string) (l Link, err error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return Link{}, fmt.Errorf("%w: want https://HOST:PORT/#…", ErrLink)
	}
	q, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		return Link{}, fmt.Errorf("%w: what is behind # can't be read", ErrLink)
	}
	l = Link{Address: "https://" + u.Host, App: q.Get("app"), Key: serve.Secret(q.Get("key")), Pin: q.Get("pin")}
	switch {
	case !strings.HasPrefix(string(l.Key), serve.KeyPrefix):
		return Link{}, fmt.Errorf("%w: key: want lka_…", ErrLink)
	case l.Pin != "" && !strings.HasPrefix(l.Pin, pinPrefix):
		return Link{}, fmt.Errorf("%w: pin: want %s…", ErrLink, pinPrefix)
	}
	return l, nil
}

// Dial gives a client that asks through a link. It does not connect yet.
func Dial(l Link) (*serve.Client, error) {
	u, err := url.Parse(l.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrLink, err)
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "443"
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if l.Pin != "" {
		c.InsecureSkipVerify = true // the key is checked in its place, which no name can stand in for
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(pinOf(s.PeerCertificates[0].RawSubjectPublicKeyInfo)), []byte(l.Pin)) != 1 {
				return errors.New("another than the node of the link answers: its key does not fit the pin")
			}
			return nil
		}
	}
	return serve.DialTLS(net.JoinHostPort(host, port), c, l.Key), nil
}

// Address is where others reach a door that listens on listen; public, where it is
// given, whatever it listens on.
func Address(listen, public string) (string, error) {
	if public != "" {
		return strings.TrimRight(public, "/"), nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("address of the API: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		all := addresses()
		if len(all) == 0 {
			return "", errors.New("this machine has no address that others could reach: set api.public_url")
		}
		host = all[0].String()
	}
	return "https://" + net.JoinHostPort(host, port), nil
}

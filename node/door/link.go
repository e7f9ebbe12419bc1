package door

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/node/lan"
	"github.com/locket-dev/locket/node/serve"
)

// Link is everything that an app on another machine needs.
type Link = applink.Link

// ParseLink parses a link.
func ParseLink(s string) (Link, error) { return applink.Parse(s) }

// Dial returns a client that makes requests through a link. It does not connect
// yet.
func Dial(l Link) (*serve.Client, error) {
	address, c, err := l.Reach()
	if err != nil {
		return nil, err
	}
	return serve.DialTLS(address, c, serve.Secret(l.Key)), nil
}

// Address returns the address at which others reach a door that listens on listen.
// If public is given, that is the result.
func Address(listen, public string) (string, error) {
	if public != "" {
		return strings.TrimRight(public, "/"), nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("address of the API: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		all := lan.Reachable()
		if len(all) == 0 {
			return "", errors.New("this machine has no address that others could reach: set api.public_url")
		}
		host = all[0].String()
	}
	return "https://" + net.JoinHostPort(host, port), nil
}

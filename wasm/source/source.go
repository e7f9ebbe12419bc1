// Package source fetches plugins from the place that a person names: a file, a folder, an https
// URL, an OCI registry, or a name in a signed index.
//
// An index is a publisher's list of plugins with their URLs and hashes, signed by one key. Every
// plugin is a stranger's until its signature was checked, wherever it comes from; this package
// limits what it accepts from the network.
package source

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/locket-dev/locket/wasm/bundle"
)

// Reasons for which a fetch failed.
var (
	ErrAddress = errors.New("address not allowed")
	ErrTooLong = errors.New("larger than allowed")
	ErrHash    = errors.New("not what was asked for")
	ErrAnswer  = errors.New("the server's answer")
)

// Options of fetching. The zero value is safe for strangers' servers.
type Options struct {
	// Insecure allows http and addresses of private networks, for a registry at home, or on this
	// machine.
	Insecure bool
	// Logins is a file in the form of netrc, of mode 0600: a name and password, or a token, for
	// each host that wants one. Empty: none.
	Logins string
	// TLS is for tests; nil: the system's roots.
	TLS *tls.Config
	// Timeout of one fetch as a whole; 0: two minutes.
	Timeout time.Duration
}

const (
	defaultTimeout = 2 * time.Minute
	maxRedirects   = 5
)

// Remote reports whether a reference is on the network.
func Remote(ref string) bool {
	return strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "oci://")
}

// Fetch fetches a bundle from an https:// URL, which may end in #sha256=HEX of the file, or from
// oci://REGISTRY/REPOSITORY:TAG (or @DIGEST).
func Fetch(ctx context.Context, ref string, o Options) (bundle.Bundle, error) {
	ctx, cancel := o.context(ctx)
	defer cancel()
	if rest, ok := strings.CutPrefix(ref, "oci://"); ok {
		return fetchOCI(ctx, rest, o)
	}
	file, sum, _ := strings.Cut(ref, "#sha256=")
	b, err := o.get(ctx, file, bundle.MaxSize)
	if err != nil {
		return bundle.Bundle{}, err
	}
	if sum != "" {
		if err := sameHash(b, sum); err != nil {
			return bundle.Bundle{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	p, err := bundle.Read(strings.NewReader(string(b)))
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

func (o *Options) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return context.WithTimeout(ctx, o.Timeout)
}

func sameHash(b []byte, want string) error {
	if sum := hashOf(b); !strings.EqualFold(hex.EncodeToString(sum), want) {
		return fmt.Errorf("%w: it has sha256 %x, not %s", ErrHash, sum, want)
	}
	return nil
}

// get fetches a URL, up to most bytes.
func (o *Options) get(ctx context.Context, link string, most int64) ([]byte, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	if err := o.allowed(u); err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	logins, err := readLogins(o.Logins)
	if err != nil {
		return nil, err
	}
	l := logins[strings.ToLower(u.Host)]
	l.authenticate(req)
	c := o.client()
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	defer resp.Body.Close()
	if wantsLogin(resp.StatusCode) {
		return nil, fmt.Errorf("fetching %s: %w: %s", u.Redacted(), ErrLogin, resp.Status)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetching %s: %w: %s", u.Redacted(), ErrAnswer, resp.Status)
	}
	if resp.ContentLength > most {
		return nil, fmt.Errorf("fetching %s: %w: %d bytes, at most %d", u.Redacted(), ErrTooLong, resp.ContentLength, most)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("fetching %s: %w: over %d bytes", u.Redacted(), ErrTooLong, most)
	}
	return b, nil
}

// allowed checks the scheme. The address is checked when it is dialled, since the name may lead
// elsewhere by then.
func (o *Options) allowed(u *url.URL) error {
	switch {
	case u.Host == "":
		return fmt.Errorf("%w: it names no host", ErrAddress)
	case u.Scheme == "https", u.Scheme == "http" && o.Insecure:
		return nil
	}
	return fmt.Errorf("%w: %q is not https", ErrAddress, u.Scheme)
}

// client follows a few redirects, under the same rules, and only dials addresses of the public
// internet.
func (o *Options) client() *http.Client {
	d := &net.Dialer{Timeout: 20 * time.Second}
	t := &http.Transport{TLSClientConfig: o.TLS, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 20 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true}
	if o.Insecure {
		t.Proxy = http.ProxyFromEnvironment
	} else {
		d.Control = publicOnly
	}
	t.DialContext = d.DialContext
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("%w: more than %d redirects", ErrAddress, maxRedirects)
		}
		for _, r := range append(via[:len(via):len(via)], req) {
			if len(via) > 0 && !sameHost(via[0], r) { // net/http would send it to a subdomain, and to another port
				req.Header.Del("Authorization")
			}
		}
		return o.allowed(req.URL)
	}}
}

// notPublic are networks for which netip has no method: shared address space (RFC 6598), NAT64 (RFC
// 6052, 8215), this network, benchmarks (RFC 2544), IPv4 within 6to4 (RFC 3056) and Teredo (RFC
// 4380), and site-local (RFC 3879).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"),
}

// publicOnly refuses to connect to this machine or its network, to which a stranger's name may
// lead.
func publicOnly(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	a := ap.Addr().Unmap()
	ok := a.IsGlobalUnicast() && !a.IsPrivate()
	for _, n := range notPublic {
		ok = ok && !n.Contains(a)
	}
	if !ok {
		return fmt.Errorf("%w: %s is not an address of the public internet", ErrAddress, a)
	}
	return nil
}

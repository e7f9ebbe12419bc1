package serve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls a handler. If the node refuses a request or fails, its methods
// return a *Problem; errors.Is finds memory.ErrNotFound and similar errors in
// it. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	token Secret
}

// maxAnswer is how many bytes are read at most of an answer that is not a
// stream.
const maxAnswer = 64 << 20

// Dial returns a client of a daemon at the address that config.Config.Endpoint
// names. It does not connect yet.
func Dial(network, address string, token Secret) *Client {
	var d net.Dialer
	return &Client{token: token, http: &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, address)
		}},
		CheckRedirect: noRedirect,
	}}
}

// DialTLS returns a client of a node on another machine. c verifies that
// machine. It does not connect yet.
func DialTLS(address string, c *tls.Config, token Secret) *Client {
	d := &tls.Dialer{Config: c}
	return &Client{token: token, http: &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", address)
		}},
		CheckRedirect: noRedirect,
	}}
}

// InProcess returns a client of a handler in this process.
func InProcess(h http.Handler) *Client {
	return &Client{http: &http.Client{Transport: direct{h}, CheckRedirect: noRedirect}}
}

// The API never redirects. A server that redirects is not the API, and must not
// get the token.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// WithKey returns a client of the same node that uses another key. It shares
// the connections of c.
func (c *Client) WithKey(key Secret) *Client { return &Client{http: c.http, token: key} }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// send makes a request and returns the answer if it is not a problem. The
// caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, media string, body io.Reader) (*http.Response, error) {
	full := "http://localhost" + path // path is escaped; the dialer knows the real address
	if len(q) > 0 {
		full += "?" + q.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, full, body)
	if err != nil {
		return nil, fmt.Errorf("asking the node: %w", err)
	}
	r.Header.Set("User-Agent", "locket")
	if body != nil {
		r.Header.Set("Content-Type", media)
	} else if media != "" {
		r.Header.Set("Accept", media)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+string(c.token))
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("asking the node: %w", err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	var p Problem
	b, err := io.ReadAll(io.LimitReader(res.Body, MaxBody))
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || !strings.HasPrefix(p.Type, typePrefix) {
		return nil, fmt.Errorf("asking the node: it answers %s, which is not Locket's API", res.Status)
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.wait = time.Duration(seconds) * time.Second
	}
	return nil, &p
}

// IsUnreachable reports whether an error means that nobody answers at the
// client's address.
func IsUnreachable(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Client speaks to a handler. Its methods return a *Problem where the node
// refused or failed; errors.Is finds memory.ErrNotFound and the like in it.
// It is safe for concurrent use.
type Client struct {
	http  *http.Client
	token Secret
}

// maxAnswer is the most that is read of an answer that is no stream.
const maxAnswer = 64 << 20

// Dial gives a client of a daemon at what config.Config.Endpoint names. It
// does not connect yet.
func Dial(network, address string, token Secret) *Client {
	var d net.Dialer
	return &Client{token: token, http: &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, address)
		}},
		CheckRedirect: noRedirect,
	}}
}

// InProcess gives a client of a handler in this process.
func InProcess(h http.Handler) *Client {
	return &Client{http: &http.Client{Transport: direct{h}, CheckRedirect: noRedirect}}
}

// The API redirects nowhere; whatever does is not it, and gets no token.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// send makes a request and gives the answer if it is not a problem. The
// caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, media string, body io.Reader) (*http.Response, error) {
	full := "http://localhost" + path // path is escaped; the dialer knows where to
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
	return nil, &p
}

// call sends a value, if any, and reads one.
func (c *Client) call(ctx context.Context, method, path string, q url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("asking the node: %w", err)
		}
		body = bytes.NewReader(b)
	}
	media := ""
	if in != nil {
		media = "application/json"
	}
	res, err := c.send(ctx, method, path, q, media, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("reading the node's answer: %w", err)
	}
	return nil
}

// stream reads lines of JSON to the end of the answer. A last line with a
// problem is its error.
func stream[T any](ctx context.Context, c *Client, path string, q url.Values, yield func(T, error) bool) {
	var zero T
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := c.send(ctx, http.MethodGet, path, q, MediaTypeLines, nil)
	if err != nil {
		yield(zero, err)
		return
	}
	defer res.Body.Close()
	for line, err := range lines(res.Body) {
		if err != nil {
			if parent := context.Cause(ctx); parent != nil {
				err = parent
			}
			yield(zero, fmt.Errorf("reading the node's answer: %w", err))
			return
		}
		if bytes.HasPrefix(line, []byte(`{"problem":`)) {
			var last streamError
			if err := json.Unmarshal(line, &last); err == nil && last.Problem != nil {
				yield(zero, last.Problem)
				return
			}
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			yield(zero, fmt.Errorf("reading the node's answer: %w", err))
			return
		}
		if !yield(v, nil) {
			return
		}
	}
}

// IsUnreachable reports whether nobody answers at the client's address.
func IsUnreachable(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

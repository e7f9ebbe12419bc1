package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/node/serve"
)

// ErrEnded: a node on another machine no longer accepts its console, because the key has
// ended or was revoked, or because the node was locked or restarted.
var ErrEnded = errors.New("the node has ended this console")

// errNoConsole: the key does not have the right console.
var errNoConsole = errors.New("this key does not open the console: locket app add NAME --can console makes one that does")

// askTime is how long the first request to a node may take.
const askTime = 20 * time.Second

// RemoteAPI returns the API of a node on another machine, for [Console.Serve] on this
// one. It makes requests over TLS, with the key of a link that has the right console.
// ended is called with [ErrEnded] and the reason when the node refuses the key, or was
// locked or restarted.
func RemoteAPI(ctx context.Context, to applink.Link, ended func(why error)) (http.Handler, error) {
	address, known, err := to.Reach()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client := serve.DialTLS(address, known, serve.Secret(to.Key))
	defer client.Close()
	self, err := client.Self(ctx)
	if err != nil {
		return nil, err
	}
	if self.Run == "" {
		return nil, errNoConsole
	}
	dialer := &net.Dialer{}
	transport := &http.Transport{TLSClientConfig: known, TLSHandshakeTimeout: askTime, IdleConnTimeout: time.Minute,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}}
	return &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", strings.TrimPrefix(to.Address, "https://")
			r.Out.Host = r.Out.URL.Host
			h := http.Header{"Authorization": {"Bearer " + to.Key}, serve.RunHeader: {self.Run}, "User-Agent": {"locket"}}
			for _, name := range []string{"Accept", "Accept-Language", "Content-Type", "Range"} {
				if v := r.In.Header.Get(name); v != "" {
					h.Set(name, v)
				}
			}
			r.Out.Header = h
		},
		ModifyResponse: func(res *http.Response) error {
			res.Header.Del("Set-Cookie")
			if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusLocked {
				return endOf(res)
			}
			if res.StatusCode/100 == 3 && res.StatusCode != http.StatusNotModified {
				return fmt.Errorf("the node redirects: %s", res.Status) // it never does
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, ErrEnded) {
				ended(err)
				refuse(w, http.StatusUnauthorized, "session", err.Error())
				return
			}
			refuse(w, http.StatusServiceUnavailable, "", "the node does not answer")
		}}, nil
}

// maxProblem is how much of a problem is read at most.
const maxProblem = 8 << 10

// endOf returns why a node has ended the console, or nil if only its vault is locked. A node that refuses
// a key may close the connection before the reason is read.
func endOf(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	if err != nil && res.StatusCode != http.StatusUnauthorized {
		return err
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), res.Body), res.Body}
	var p serve.Problem
	if err := json.Unmarshal(b, &p); err != nil {
		p = serve.Problem{}
	}
	switch {
	case strings.HasSuffix(p.Type, ":vault-locked"):
		return nil
	case res.StatusCode == http.StatusLocked:
		return fmt.Errorf("%w: it is locked", ErrEnded)
	case strings.Contains(p.Detail, "started anew"):
		return fmt.Errorf("%w: it was locked or restarted", ErrEnded)
	}
	return fmt.Errorf("%w: the key has ended or was revoked", ErrEnded)
}

// End ends all sessions and links. [Console.Wait] returns the first reason.
func (c *Console) End(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	c.sessions.clear()
}

// Wait returns when there is neither a session nor a link that could begin one, or when
// ctx ends. It returns why the console was ended, or nil if nobody uses it any more.
func (c *Console) Wait(ctx context.Context) error {
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		if none, _ := c.sessions.none(c.now()); none {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.why
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

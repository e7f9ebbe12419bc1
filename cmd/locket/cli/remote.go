package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

// remote is the address for apps on other machines; nil: there is none.
type remote struct {
	listener net.Listener
	proxies  clientaddr.Proxies
	done     chan error // nil: it does not serve
}

func doorOf(c *config.Config) door.Config {
	return door.Config{Home: c.Home, Cert: c.API.TLSCert, Key: c.API.TLSKey}
}

// listenRemote listens where the configuration says.
func listenRemote(ctx context.Context, c *config.Config) (*remote, error) {
	if c.API.Remote == "" {
		return nil, nil
	}
	t, err := door.TLS(doorOf(c))
	if err != nil {
		return nil, err
	}
	proxies, err := clientaddr.ParseProxies(c.API.Proxies)
	if err != nil {
		return nil, err
	}
	l, err := serve.Listen(ctx, "tcp", c.API.Remote)
	if err != nil {
		return nil, err
	}
	return &remote{listener: tls.NewListener(l, t), proxies: proxies}, nil
}

// begin serves until ctx ends. What fails earlier calls end.
func (r *remote) begin(ctx context.Context, end func(), h http.Handler, log *slog.Logger) {
	if r == nil {
		return
	}
	r.done = make(chan error, 1)
	go func() {
		defer end()
		r.done <- serve.Serve(ctx, r.listener, serve.Forwarded(r.proxies, h), log)
	}()
}

// Close waits until it does not serve any more; the context that it was begun with
// has to be over.
func (r *remote) Close() error {
	switch {
	case r == nil:
		return nil
	case r.done == nil:
		return r.listener.Close()
	}
	return <-r.done
}

// linkFor is what an app on another machine is given; empty: the node has no address
// for it.
func linkFor(c *config.Config, n *serve.NewApp) (string, error) {
	if c.API.Remote == "" && c.API.Public == "" {
		return "", nil
	}
	address, err := door.Address(c.API.Remote, c.API.Public)
	if err != nil {
		return "", err
	}
	pin, err := door.Pin(doorOf(c))
	if err != nil {
		return "", err
	}
	return door.Link{Address: address, App: n.App.Name, Key: string(n.Key), Pin: pin}.String(), nil
}

// newApp is what locket app add gives.
type newApp struct {
	serve.NewApp
	Link string `json:"link,omitempty"`
}

// showLink shows what an app on another machine is given, at a terminal as a picture.
func (a *App) showLink(link string) {
	if link == "" {
		return
	}
	fmt.Fprintf(a.Stderr, "On another machine (see locket mcp --help, and %sapps.md):\n%s\n", DocsAt, link)
	if a.Talks() {
		picture, _ := a.Qr(a.Stderr, link)
		fmt.Fprint(a.Stderr, picture)
	}
}

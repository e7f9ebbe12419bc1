package runcmd

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

// remote is the address for apps on other machines. It is nil if there is none.
type remote struct {
	listener net.Listener
	proxies  clientaddr.Proxies
	done     chan error // nil if it does not serve
}

// listenRemote listens where the configuration says.
func listenRemote(ctx context.Context, c *config.Config) (*remote, error) {
	if c.API.Remote == "" {
		return nil, nil
	}
	t, err := door.TLS(cli.DoorConfig(c))
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

// begin serves until ctx ends. If serving fails earlier, it calls end.
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

// Close waits until it has stopped serving. The context given to begin must have ended.
func (r *remote) Close() error {
	switch {
	case r == nil:
		return nil
	case r.done == nil:
		return r.listener.Close()
	}
	return <-r.done
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// stopTime is how long the node may take to stop; with the API's 3 seconds it
// is within the 5 that a service manager is promised.
const stopTime = 4500 * time.Millisecond

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon", Args: nothing(),
		Long: `Takes events from the wearables and answers commands until it is interrupted.
Without a means to unlock it starts locked: events are taken, sealed, and worked
through after locket unlock.`,
		Example: `  locket run
  locket run --broker ssl://broker.example:8883
  locket run --listen 0.0.0.0:8883 --set broker.tls_cert=c.pem --set broker.tls_key=k.pem`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDaemon(cmd.Context()) },
	}
	f := c.Flags()
	f.Var(a.setting("broker.url", "--broker"), "broker", "`URL` of a broker; without, the node runs its own")
	f.Var(a.setting("broker.listen", "--listen"), "listen", "`host:port` of the node's own broker")
	f.Var(a.setting("log.level", "--log-level"), "log-level", "debug, info, warn or error")
	f.Var(a.setting("profile", "--profile"), "profile", "default or wearable")
	return c
}

// ready is what run prints when it takes events and answers commands.
type ready struct {
	Ready  bool   `json:"ready"`
	Home   string `json:"home"`
	API    string `json:"api"`
	Broker string `json:"broker"`
	Locked bool   `json:"locked"`
}

func (a *app) runDaemon(ctx context.Context) (err error) {
	l, err := a.load()
	if err != nil {
		return err
	}
	log := a.logger(&l.Config)
	n, c, err := a.open(ctx)
	if c != nil {
		c.Close()
		return fmt.Errorf("%w: a daemon runs on %s already", memory.ErrInUse, l.Home)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	opened, err := n.UnlockAsConfigured(ctx)
	if err != nil {
		return err
	}
	network, address, err := l.Endpoint()
	if err != nil {
		return err
	}
	o := serve.Options{Service: n, Log: log}
	if network == "tcp" {
		o.Loopback = true
		if o.Token, err = serve.EnsureToken(l.API.TokenFile); err != nil {
			return err
		}
	}
	if l.Metrics == "on" {
		o.Registry = prometheus.NewRegistry()
		o.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &nodeCollector{n})
	}
	listener, err := serve.Listen(ctx, network, address)
	if err != nil {
		return err
	}
	node.Frugal()
	if err := n.Start(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	s, err := n.Status(ctx)
	if err == nil {
		err = a.tellReady(ready{true, l.Home, network + ":" + address, s.Broker.URL, !opened}, listener)
	}
	if err == nil {
		err = serve.Serve(ctx, listener, serve.New(o), log)
	} else {
		err = errors.Join(err, listener.Close())
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(err, n.Stop(stop))
}

func (a *app) tellReady(r ready, l net.Listener) error {
	if _, isTCP := l.Addr().(*net.TCPAddr); isTCP {
		r.API = "tcp:" + l.Addr().String()
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "Locket runs on %s\n  wearables  %s\n  commands   %s\n", r.Home, r.Broker, r.API)
		if r.Locked {
			fmt.Fprintln(w, "It is locked: events are taken and kept sealed until locket unlock.")
		}
	})
}

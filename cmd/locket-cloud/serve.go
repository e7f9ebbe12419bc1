package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/acme"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/natswake"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// sweepEvery is how often expired data is removed.
const sweepEvery = time.Hour

type serveFlags struct {
	where
	certificates
	market                       marketFlags
	listen, metrics, pprof, otlp string
	wakes                        string
	traced                       float64       // the fraction of requests that is traced
	every                        time.Duration // how often metrics are sent
	authorities, proxies         []string
	open                         bool
	conns                        int
	invites                      string
	quota                        relay.Quota
	noAccessLog                  bool
	drain                        time.Duration
}

func (a *app) serveCommand() *cobra.Command {
	f := serveFlags{quota: relay.DefaultQuota}
	cmd := &cobra.Command{
		Use: "serve (--data DIR | --db URL --blobs URL) (--open | --invite-file FILE)", Short: "Run a relay", Args: nothing,
		Long: `Run a relay. It keeps sealed deltas and blobs in SQLite and files under --data, or in
PostgreSQL and a bucket, which any number of relays can serve together (see
'locket-cloud migrate --help'). To make a wearer's node use it: 'locket relay add URL'.

Each flag can also be set in a TOML file (--config) under its name, or in the
environment: LOCKET_CLOUD_QUOTA_BYTES for --quota-bytes.

The relay stops on SIGTERM or SIGINT, after it has finished running requests. Without a
certificate it speaks plain HTTP, for this machine or a proxy that has a certificate.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	f.add(cmd)
	return cmd
}

// add adds the flags to a command, and makes it read them from the file and the environment, too.
func (f *serveFlags) add(cmd *cobra.Command) {
	f.where.flags(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:7440", "`address` to serve on; port 0 chooses any. Default with --acme: :443")
	fl.StringVar(&f.metrics, "metrics", "", "`address` for Prometheus metrics, at /metrics; off if empty")
	fl.StringVar(&f.wakes, "wakes", "", "`URL` of a NATS server, nats://[USER:PASSWORD@]HOST[:PORT][/SUBJECT] or tls://, with which relays on one database wake each other; default: the database's NOTIFY")
	fl.StringVar(&f.pprof, "pprof", "", "`address` for Go's profiles, at /debug/pprof/; off if empty")
	fl.StringVar(&f.otlp, "otlp", "", "`URL` of an OpenTelemetry collector for traces and metrics by OTLP over HTTP, such as http://127.0.0.1:4318; if it ends in /v1/traces, only traces are sent; off if empty")
	fl.DurationVar(&f.every, "otlp-every", time.Minute, "how often to send metrics to --otlp")
	fl.Float64Var(&f.traced, "otlp-ratio", 1, "fraction of requests to trace, 0 to 1")
	fl.DurationVar(&f.drain, "drain", 10*time.Second, "how long running requests may take to end when the relay stops")
	fl.StringArrayVar(&f.hosts, "acme", nil, "`HOST` to get a certificate for by ACME; may be repeated. The authority must reach this relay at port 443 of the name")
	fl.StringVar(&f.certificates.authority, "acme-directory", acme.LetsEncryptURL, "`URL` of the ACME authority")
	fl.StringVar(&f.mail, "acme-mail", "", "email `address` for the authority")
	fl.StringVar(&f.cache, "acme-cache", "", "`folder` for certificates and their keys; default: certificates/ in --data")
	fl.StringVar(&f.cert, "tls-cert", "", "`file` of the certificate chain, PEM")
	fl.StringVar(&f.key, "tls-key", "", "`file` of its key, PEM")
	fl.StringArrayVar(&f.authorities, "authority", nil, "`HOST[:PORT]` that devices connect to; may be repeated. Requests signed for another name are refused. Default: the names of --acme; without those, only this machine is served")
	fl.IntVar(&f.conns, "connections-per-address", 512, "connections, or requests through --proxy, that one address may have open at a time")
	fl.StringArrayVar(&f.proxies, "proxy", nil, "`NETWORK` or address of a proxy in front, whose X-Forwarded-For is trusted; may be repeated. Without this, all clients of a proxy share one limit")
	fl.BoolVar(&f.open, "open", false, "accept new accounts from anyone")
	fl.StringVar(&f.invites, "invite-file", "", "`file` of invitation codes, one per line, each good for one new account. Added codes are valid within a minute")
	fl.Int64Var(&f.quota.Bytes, "quota-bytes", f.quota.Bytes, "bytes that an account may store; 0: no limit")
	fl.Int64Var(&f.quota.Blobs, "quota-blobs", f.quota.Blobs, "blobs that an account may store; 0: no limit")
	fl.Int64Var(&f.quota.DeltasPerDay, "quota-deltas", f.quota.DeltasPerDay, "deltas that an account may send a day; 0: no limit")
	fl.Int64Var(&f.quota.Spaces, "quota-spaces", f.quota.Spaces, "spaces that an account may have; 0: no limit")
	fl.Int64Var(&f.quota.PerMinute, "quota-requests", f.quota.PerMinute, "requests that an account may make a minute; 0: no limit")
	fl.BoolVar(&f.noAccessLog, "no-access-log", false, "do not log requests")
	f.market.flags(cmd)
	settings(cmd, os.Environ)
	read := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		err := read(cmd, args)
		if len(f.hosts) > 0 && !fl.Changed("listen") {
			f.listen = ":443"
		}
		return err
	}
}

func (f serveFlags) check() error {
	if err := errors.Join(f.where.check(), f.market.check(&f.where)); err != nil {
		return err
	}
	switch {
	case f.db != "" && f.blobs == "":
		return fmt.Errorf("%w: --db needs --blobs: where blobs go", errUsage)
	case f.wakes != "" && f.db == "":
		return fmt.Errorf("%w: --wakes is for relays on one database, and needs --db", errUsage)
	case f.open && f.invites != "":
		return fmt.Errorf("%w: --open or --invite-file, not both", errUsage)
	case !f.open && f.invites == "":
		return fmt.Errorf("%w: --open or --invite-file is missing: who may have an account", errUsage)
	case f.traced < 0 || f.traced > 1:
		return fmt.Errorf("%w: --otlp-ratio must be from 0 to 1", errUsage)
	case f.every < time.Second:
		return fmt.Errorf("%w: --otlp-every must be at least a second", errUsage)
	case len(f.authorities) == 0 && len(f.hosts) == 0 && !onLoopback(f.listen):
		return fmt.Errorf("%w: --listen %s needs --authority HOST[:PORT]: the name that devices connect to, so that no other relay can pass their requests on to this one", errUsage, f.listen)
	case f.conns < 1:
		return fmt.Errorf("%w: --connections-per-address must be at least 1", errUsage)
	case f.drain <= 0:
		return fmt.Errorf("%w: --drain must be more than 0", errUsage)
	case min(f.quota.Bytes, f.quota.Blobs, f.quota.DeltasPerDay, f.quota.Spaces, f.quota.PerMinute) < 0:
		return fmt.Errorf("%w: --quota-… must be 0 (no limit) or more", errUsage)
	}
	for _, name := range f.authorities {
		if !isAuthority(name) {
			return fmt.Errorf("%w: --authority %q: want only a name, with its port if that is not 443, such as relay.example or relay.example:8443", errUsage, name)
		}
	}
	return f.certificates.check(f.data)
}

// names returns the names that requests must be signed for: those that the operator gave, or those
// of the certificates. It is empty if only this machine is served.
func (f serveFlags) names(at net.Addr) []string {
	if len(f.authorities) > 0 {
		return f.authorities
	}
	var out []string
	for _, host := range f.hosts {
		out = append(out, host)
		if _, port, err := net.SplitHostPort(at.String()); err == nil {
			out = append(out, net.JoinHostPort(host, port))
		}
	}
	return out
}

// isAuthority reports whether name has the form HOST[:PORT] that requests use.
func isAuthority(name string) bool {
	u, err := url.Parse("https://" + name)
	return err == nil && u.Host == name && u.Hostname() != ""
}

// onLoopback reports whether only this machine can reach an address to listen on.
func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return true // listening gives a better error
	}
	return clientaddr.Loopback(host)
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	config := api.Config{Drain: f.drain, ConnsPerAddress: f.conns, Log: a.logger(f.noAccessLog)}
	if config.Proxies, err = clientaddr.ParseProxies(f.proxies); err != nil {
		return fmt.Errorf("%w: --proxy %w", errUsage, err)
	}
	certificates, err := f.certificates.source(f.data, config.Log)
	if err != nil {
		return err
	}
	config.TLS = certificates.config
	var collector string
	if f.otlp != "" {
		var shutdown func()
		if shutdown, collector, err = f.trace(ctx, &config); err != nil {
			return err
		}
		defer shutdown()
	}
	store, err := f.where.store(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var invites *inviteFile
	if f.invites != "" {
		invites = &inviteFile{path: f.invites, store: store, log: config.Log}
		if err := invites.look(ctx); err != nil {
			return err
		}
	}
	if config.Relay, err = f.relay(store, config.Log); err != nil {
		return err
	}
	trading, closeMarket, err := f.market.open(ctx, &f.where, &config, config.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeMarket()) }()
	ln, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	config.Authorities = f.names(ln.Addr())
	counters, err := listenBeside("metrics", f.metrics)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	profiles, err := listenBeside("profiles", f.pprof)
	if err != nil {
		return errors.Join(err, ln.Close(), closeAny(counters))
	}
	server := api.New(config)
	ctx, cancel := context.WithCancel(ctx)
	side, counts := make(chan error, 8), counted(server, store)
	go func() { side <- certificates.run(ctx) }()
	go func() { side <- config.Relay.Run(ctx) }()
	go func() { side <- trading(ctx) }()
	go func() { side <- invites.run(ctx) }()
	go func() { side <- sweep(ctx, config.Relay, config.Log) }()
	go func() { side <- serveBeside(ctx, "metrics", counters, metricsHandler(counts)) }()
	go func() { side <- sendMetrics(ctx, collector, f.every, counts, config.Log) }()
	go func() { side <- serveBeside(ctx, "profiles", profiles, profileHandler()) }()
	if err := a.announce(ln.Addr(), f); err != nil {
		config.Log.Warn("cannot print the address of the relay", "error", err)
	}
	err = server.Serve(ctx, ln)
	cancel()
	return errors.Join(err, <-side, <-side, <-side, <-side, <-side, <-side, <-side, <-side)
}

func (a *app) logger(noAccessLog bool) *slog.Logger {
	level := slog.LevelInfo
	if noAccessLog {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewJSONHandler(a.stderr, &slog.HandlerOptions{Level: level}))
}

// trace traces the requests until shutdown is called, which sends what is left within a time limit.
// metrics is the base of the collector's path for metrics; it is empty if none are sent.
func (f serveFlags) trace(ctx context.Context, config *api.Config) (shutdown func(), metrics string, err error) {
	to, metrics, err := readCollector(f.otlp)
	if err != nil {
		return nil, "", err
	}
	spans, err := traces(ctx, to, f.traced)
	if err != nil {
		return nil, "", err
	}
	config.Traces = spans
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.drain)
		defer cancel()
		if late := spans.Shutdown(ctx); late != nil {
			config.Log.Warn("some traces are not sent", "error", late)
		}
	}, metrics, nil
}

// relay returns the relay over a store.
func (f serveFlags) relay(store relay.Store, log *slog.Logger) (_ *relay.Relay, err error) {
	serving := relay.Config{Quota: f.quota, Invite: !f.open}
	if shared, ok := store.(*postgres.Store); ok {
		serving.Wakes = shared.Wakes(log)
	}
	if f.wakes != "" {
		if serving.Wakes, err = natswake.New(f.wakes, log); err != nil {
			return nil, fmt.Errorf("%w: --wakes: %w", errUsage, err)
		}
	}
	return relay.New(store, serving), nil
}

// announce prints the address of the relay once it can be reached.
func (a *app) announce(addr net.Addr, f serveFlags) error {
	scheme := "http"
	if f.certificates.on() {
		scheme = "https"
	}
	url := scheme + "://" + addr.String()
	return a.print(map[string]string{"listening": url, "data": f.where.String()}, "serving %s on %s", f.where.String(), url)
}

// sweep removes expired data regularly until ctx is done.
func sweep(ctx context.Context, r *relay.Relay, log *slog.Logger) error {
	every := time.NewTicker(sweepEvery)
	defer every.Stop()
	for {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.Error("sweep failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

func closeAny(ln net.Listener) error {
	if ln == nil {
		return nil
	}
	return ln.Close()
}

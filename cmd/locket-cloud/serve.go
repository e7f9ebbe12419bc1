package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/postgres"
)

// sweepEvery is how often what has had its time is removed.
const sweepEvery = time.Hour

type serveFlags struct {
	where
	listen, metrics string
	cert, key       string
	authorities     []string
	open            bool
	invites         string
	quota           relay.Quota
	noAccessLog     bool
}

func (a *app) serveCommand() *cobra.Command {
	f := serveFlags{quota: relay.DefaultQuota}
	cmd := &cobra.Command{
		Use: "serve (--data DIR | --db URL --blobs URL) (--open | --invite-file FILE)", Short: "Serve a relay", Args: cobra.NoArgs,
		Long: `Serve a relay: sealed deltas and blobs, kept in SQLite and files under --data,
or in PostgreSQL and a bucket, where any number of relays may serve together
(see 'locket-cloud migrate --help').

It stops on SIGTERM or SIGINT, after what is under way. Without a certificate it
speaks plain HTTP, for this machine or a proxy that has one.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	f.where.flags(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:7440", "`address` to serve on; port 0 takes any")
	fl.StringVar(&f.metrics, "metrics", "", "`address` to serve Prometheus counters on, at /metrics; off if empty")
	fl.StringVar(&f.cert, "tls-cert", "", "`file` of the certificate chain, PEM")
	fl.StringVar(&f.key, "tls-key", "", "`file` of its key, PEM")
	fl.StringArrayVar(&f.authorities, "authority", nil, "`HOST[:PORT]` that requests are signed for; give it for each name. Any if absent")
	fl.BoolVar(&f.open, "open", false, "take new accounts from anyone")
	fl.StringVar(&f.invites, "invite-file", "", "`file` of invitation codes, one a line, each good for one new account")
	fl.Int64Var(&f.quota.Bytes, "quota-bytes", f.quota.Bytes, "bytes that an account may store; 0: no limit")
	fl.Int64Var(&f.quota.Blobs, "quota-blobs", f.quota.Blobs, "blobs that an account may store; 0: no limit")
	fl.Int64Var(&f.quota.DeltasPerDay, "quota-deltas", f.quota.DeltasPerDay, "deltas that an account may send a day; 0: no limit")
	fl.Int64Var(&f.quota.Spaces, "quota-spaces", f.quota.Spaces, "spaces that an account may have; 0: no limit")
	fl.Int64Var(&f.quota.PerMinute, "quota-requests", f.quota.PerMinute, "requests that an account may make a minute; 0: no limit")
	fl.BoolVar(&f.noAccessLog, "no-access-log", false, "do not log requests")
	return cmd
}

func (f serveFlags) check() error {
	if err := f.where.check(); err != nil {
		return err
	}
	switch {
	case f.db != "" && f.blobs == "":
		return fmt.Errorf("%w: --blobs is needed with --db: where blobs go", errUsage)
	case f.open == (f.invites != ""):
		return fmt.Errorf("%w: --open or --invite-file is needed: who may come", errUsage)
	case (f.cert == "") != (f.key == ""):
		return fmt.Errorf("%w: --tls-cert and --tls-key go together", errUsage)
	}
	return nil
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	config := api.Config{Authorities: f.authorities}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return fmt.Errorf("load certificate: %w", err)
		}
		config.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	}
	level := slog.LevelInfo
	if f.noAccessLog {
		level = slog.LevelWarn
	}
	config.Log = slog.New(slog.NewJSONHandler(a.stderr, &slog.HandlerOptions{Level: level}))

	store, err := f.where.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if f.invites != "" {
		if err := readInvites(ctx, store, f.invites); err != nil {
			return err
		}
	}
	serving := relay.Config{Quota: f.quota, Invite: !f.open}
	if shared, ok := store.(*postgres.Store); ok {
		serving.Wakes = shared.Wakes(config.Log)
	}
	config.Relay = relay.New(store, serving)
	ln, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	counters, err := listenMetrics(f.metrics)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	server := api.New(config)
	ctx, cancel := context.WithCancel(ctx)
	side := make(chan error, 3)
	go func() { side <- config.Relay.Run(ctx) }()
	go func() { side <- sweep(ctx, config.Relay, config.Log) }()
	go func() { side <- serveMetrics(ctx, counters, server) }()
	if err := a.announce(ln.Addr(), f); err != nil {
		config.Log.Warn("cannot say where it serves", "error", err)
	}
	err = server.Serve(ctx, ln)
	cancel()
	return errors.Join(err, <-side, <-side, <-side)
}

// announce says where the relay is reached, once it is.
func (a *app) announce(addr net.Addr, f serveFlags) error {
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	url := scheme + "://" + addr.String()
	if a.json {
		return json.NewEncoder(a.stdout).Encode(map[string]string{"listening": url, "data": f.where.String()})
	}
	_, err := fmt.Fprintf(a.stdout, "serving %s on %s\n", f.where.String(), url)
	return err
}

// readInvites adds the codes of a file; blank lines and those after # are passed over.
func readInvites(ctx context.Context, store relay.Store, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		code := strings.TrimSpace(lines.Text())
		if code == "" || code[0] == '#' {
			continue
		}
		if err := store.AddInvite(ctx, relay.InviteHash(code)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	return nil
}

// sweep removes what has had its time, now and then, until ctx is done.
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

// listenMetrics gives nil for no address.
func listenMetrics(addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w", err)
	}
	return ln, nil
}

// serveMetrics answers GET /metrics on a listener of its own, until ctx is done.
func serveMetrics(ctx context.Context, ln net.Listener, server *api.Server) error {
	if ln == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_ = server.WriteMetrics(w) // who asked has left
	})
	s := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

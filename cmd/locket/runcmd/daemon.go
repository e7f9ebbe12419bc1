package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/console"
	"github.com/locket-dev/locket/node/oauth"
	"github.com/locket-dev/locket/node/recorder"
	"github.com/locket-dev/locket/node/serve"
)

// stopTime is how long the node may take to stop. Together with the API's 3 seconds it stays within
// the 5 that a service manager is promised.
const stopTime = 4500 * time.Millisecond

// ready is what run prints once it accepts events and answers commands.
type ready struct {
	Ready  bool   `json:"ready"`
	Home   string `json:"home"`
	API    string `json:"api"`
	Remote string `json:"remote,omitempty"`
	Broker string `json:"broker"`
	Locked bool   `json:"locked"`
}

// daemonOptions are the options of a daemon.
type daemonOptions struct {
	dumps  bool
	locked bool // start locked, whatever the configuration says
	again  bool // restarted after a lock: readiness was already printed

	// After a setup in the browser: the page that continues, and what opens the keys.
	page       *console.Console
	passphrase serve.Secret
}

// runDaemon runs a daemon until ctx ends. After a lock, a new process replaces this one: the keys
// were in the memory of this process, also in that of libraries, which nobody can search and clear.
// A new process has none of it.
func runDaemon(a *cli.App, ctx context.Context, o daemonOptions) error {
	for {
		args, err := serveDaemon(a, ctx, o)
		o.page, o.passphrase = nil, ""
		if args == nil {
			return err
		}
		if err != nil { // events are still accepted, and keys are overwritten
			a.Logger(&a.Settings.Config).Warn("locked, but with an error", "error", err)
		}
		if ctx.Err() != nil {
			return err // the process was told to end meanwhile, which a new process would not know
		}
		// If the process cannot be replaced, go on in this one. The garbage collector may leave
		// traces of the keys in its memory.
		o.again = true
		if err := a.Restart(args, environAgain(a)); err != nil {
			a.Logger(&a.Settings.Config).Warn("locked, but the memory is not overwritten: the process could not be restarted", "error", err)
		}
		debug.FreeOSMemory()
	}
}

// environAgain returns the environment without the passphrase.
func environAgain(a *cli.App) []string {
	name := a.Settings.Unlock.PassphraseEnv
	return slices.DeleteFunc(slices.Clone(a.Environ), func(v string) bool { return name != "" && strings.HasPrefix(v, name+"=") })
}

// openAlone opens the home for a daemon. A home has at most one daemon.
func openAlone(a *cli.App, ctx context.Context, spans span.Sink) (cli.OpenNode, error) {
	n, c, err := a.OpenTraced(ctx, spans)
	if c != nil {
		c.Close()
		return nil, cli.AdvisedError{Err: fmt.Errorf("%w: a daemon is already running on %s", memory.ErrInUse, a.Settings.Home), Advice: "To see its state: " + a.WithHome("locket status")}
	}
	return n, err
}

// unlockFirst opens the keys of a daemon that starts, and reports whether they are open.
func unlockFirst(a *cli.App, ctx context.Context, n cli.OpenNode, opt daemonOptions) (opened bool, err error) {
	if opt.locked || opt.again {
		return false, nil
	}
	if opened, err = a.UnlockNode(ctx, n); err != nil || opened || opt.passphrase == "" {
		return opened, err
	}
	err = n.Services().Keys.Unlock(ctx, opt.passphrase)
	return err == nil, err
}

// ensureTokens sets the tokens for the API and its metrics.
func ensureTokens(o *serve.Options, c *config.API, network string) (err error) {
	o.Loopback = network == "tcp"
	if o.Token, err = serve.EnsureToken(c.TokenFile); err == nil && o.Registry != nil {
		o.MetricsToken, err = serve.EnsureToken(c.MetricsTokenFile)
	}
	return err
}

// serveDaemon runs a daemon until ctx ends or until it was locked. After a lock, args are the
// arguments to restart it with the same settings.
func serveDaemon(a *cli.App, ctx context.Context, opt daemonOptions) (args []string, err error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	inner, end := context.WithCancel(ctx)
	defer end()
	d := &serving{app: a, cfg: &l.Config, log: a.Logger(&l.Config), page: opt.page}
	if l.Metrics == "on" {
		d.metrics = prometheus.NewRegistry()
	}
	var tell func(context.Context)
	if d.spans, tell, err = tellCollector(d.cfg, d.metrics, d.log); err != nil {
		return nil, err
	}
	node.LimitMemory(l.Profile) // before opening: what is opened asks how much memory there is
	n, err := openAlone(a, ctx, d.spans)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	opened, err := unlockFirst(a, ctx, n, opt)
	if err != nil {
		return nil, err
	}
	d.surround(n, end)
	d.beside = append(d.beside, tell)
	defer func() { err = errors.Join(err, d.page.Close()) }()
	network, address, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	if err := d.open(network); err != nil {
		return nil, err
	}
	listener, err := serve.Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	remote, err := listenRemote(ctx, d.cfg)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if err := n.Start(ctx); err != nil {
		return nil, errors.Join(err, listener.Close(), remote.Close())
	}
	s, err := d.services.Diagnostics.Status(ctx)
	if err == nil && !opt.again {
		err = tellReady(a, ready{true, l.Home, network + ":" + address, l.API.Remote, s.Broker.URL, !opened}, listener)
	}
	if err == nil {
		quiet := watched(ctx, d.services.Diagnostics, d.log)
		var helpers sync.WaitGroup
		for _, run := range d.beside {
			helpers.Go(func() { run(inner) })
		}
		remote.begin(inner, end, recorder.New(n.Web(), serve.New(d.apps)), d.log)
		err = serve.Serve(inner, listener, serve.New(d.owner), d.log)
		quiet()
		end()
		helpers.Wait() // before the node stops, so that it accepts the last events of its bridge
	} else {
		err = errors.Join(err, listener.Close())
	}
	end()
	err = errors.Join(err, remote.Close())
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if d.keys.locked.Load() && ctx.Err() == nil {
		args = againArgs(a.Args, d.cfg, s.Broker.URL, listener.Addr())
	}
	return args, errors.Join(err, n.Stop(stop))
}

// serving is what a daemon runs around its node.
type serving struct {
	app      *cli.App
	cfg      *config.Config
	log      *slog.Logger
	spans    span.Sink
	metrics  *prometheus.Registry // nil if they are off
	services serve.Services       // of the node, wrapped by bridge, keys and page
	keys     *once
	page     *console.Console
	owner    serve.Options           // of the API on this machine
	apps     serve.Options           // of the API that others can reach
	beside   []func(context.Context) // what runs beside the API
}

// surround wraps the node's services with those of a daemon. Locking the keys calls end.
func (d *serving) surround(n cli.OpenNode, end context.CancelFunc) {
	d.services = n.Services()
	bridge := newBridge(d.cfg, d.app.Environ, d.services.Diagnostics, d.log)
	d.services.Diagnostics = bridge
	d.keys = &once{Keys: d.services.Keys, health: d.services.Diagnostics, end: end}
	d.services.Keys = d.keys
	if d.page == nil {
		d.page = console.New(console.Options{Listen: d.cfg.API.Console, Log: d.log})
	}
	d.services.Consoler = d.page
	if book, ok := d.services.Apps.(oauth.Book); ok {
		o := oauth.New(oauth.Config{Book: book, Public: d.cfg.API.Public})
		d.apps.OAuth, d.services.Consenter = o, o
	}
	d.page.Serve(serve.New(serve.Options{Services: d.services, Log: d.log}))
	d.beside = []func(context.Context){bridge.run, backsUp(d.app, d.cfg, d.services, d.log)}
}

// open sets what the API serves to whom, and what runs beside it. network is where the owner's API
// listens.
func (d *serving) open(network string) error {
	zone, err := d.cfg.Location()
	if err != nil {
		return err
	}
	forApps, err := doorsForApps(d.cfg, zone, d.log)
	if err != nil {
		return err
	}
	show, err := showHome(d.cfg, d.services, d.log)
	if err != nil {
		return err
	}
	d.beside = append(d.beside, show, func(ctx context.Context) { tellApps(ctx, d.services, zone, d.log) })
	d.apps = serve.Options{Services: d.services, Log: d.log, ForApps: forApps, AppsAlone: true, OAuth: d.apps.OAuth, Spans: d.spans}
	d.owner = serve.Options{Services: d.services, Log: d.log, ForApps: forApps, Spans: d.spans, Registry: d.metrics}
	if network == "tcp" {
		d.owner.OAuth = d.apps.OAuth
	}
	if network == "tcp" || d.cfg.API.AskToken {
		if err := ensureTokens(&d.owner, &d.cfg.API, network); err != nil {
			return err
		}
	}
	if d.metrics != nil {
		d.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
			&nodeCollector{d.services.Diagnostics, d.services.Plugger})
	}
	return nil
}

// once is the Keys service of a daemon. Its node can be locked once: then the daemon ends.
type once struct {
	serve.Keys
	health serve.Diagnostics
	locked atomic.Bool
	end    context.CancelFunc
}

// Lock implements serve.Keys. Once begun, it continues even if the caller stops waiting. The daemon
// ends even if a part of the lock failed.
func (o *once) Lock(ctx context.Context) error {
	s, err := o.health.Status(ctx)
	if err != nil || s.Locked {
		return err
	}
	err = o.Keys.Lock(context.WithoutCancel(ctx))
	o.locked.Store(true)
	o.end() // running requests, including this one, are answered first
	return err
}

// Unlock implements serve.Keys. It refuses to open a node that is about to end.
func (o *once) Unlock(ctx context.Context, passphrase serve.Secret) error {
	if o.locked.Load() {
		return fmt.Errorf("%w: it is being locked at this moment", serve.ErrConflict)
	}
	return o.Keys.Unlock(ctx, passphrase)
}

// againArgs adds the addresses on which this daemon listens, so that the next one uses the same
// ports even if the system chose them.
func againArgs(args []string, cfg *config.Config, broker string, api net.Addr) []string {
	out := slices.Clone(args)
	if !slices.Contains(out, "--again") {
		out = append(out, "--again")
	}
	if u, err := url.Parse(broker); err == nil && cfg.Broker.Embedded && strings.HasSuffix(cfg.Broker.Listen, ":0") {
		if host, _, err := net.SplitHostPort(cfg.Broker.Listen); err == nil {
			out = append(out, "--set", "broker.listen="+net.JoinHostPort(host, u.Port()))
		}
	}
	if a, ok := api.(*net.TCPAddr); ok && strings.HasSuffix(cfg.API.Listen, ":0") {
		out = append(out, "--set", "api.listen="+a.String())
	}
	return out
}

func tellReady(a *cli.App, r ready, l net.Listener) error {
	if _, isTCP := l.Addr().(*net.TCPAddr); isTCP {
		r.API = "tcp:" + l.Addr().String()
	}
	return a.Print(r, func(w io.Writer) {
		fmt.Fprintf(w, "Locket is running on %s\n  wearables  %s\n  commands   %s\n", r.Home, cli.EveryAddress(r.Broker), r.API)
		if r.Remote != "" {
			fmt.Fprintf(w, "  apps       https://%s\n", r.Remote)
		}
		if r.Locked {
			fmt.Fprintln(w, a.WithHome("It is locked: events are accepted and kept sealed until locket unlock."))
		}
	})
}

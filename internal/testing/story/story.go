// Package story runs all of Locket once: the demo's day on the wearer's glasses, and then a relay
// that can't read it, a phone that is let in, a worker that hears and reads, and a stranger with
// whom one thing is shared for a while.
//
// Relay, nodes and worker are those that the commands start, in this process, over TCP on loopback.
package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
)

// Options of a run.
type Options struct {
	JSON    bool
	Seed    uint64 // 0: the day of testdata/day
	Version string
}

// patience is the timeout of any single step.
const patience = 10 * time.Minute

// Run tells the story. It returns the same errors as demo.Run.
func Run(ctx context.Context, out io.Writer, opt Options) (err error) {
	dir, err := os.MkdirTemp("", "locket-story-")
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &story{dir: dir, cache: filepath.Join(dir, "plugins"), log: slog.New(slog.DiscardHandler)}
	stop, err := s.serveRelay(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	defer func() {
		if s.phone != nil {
			err = errors.Join(err, s.phone.Close())
		}
	}()
	return demo.Run(ctx, out, demo.Options{JSON: opt.JSON, Seed: opt.Seed, Version: opt.Version, Home: filepath.Join(dir, "glasses"), Cache: s.cache, Relay: s.url, More: s.more})
}

type story struct {
	dir   string
	cache string // folder of compiled plugins
	url   string // URL of the relay
	log   *slog.Logger
	phone *node.Node
}

// serveRelay starts a relay with its own folder.
func (s *story) serveRelay(ctx context.Context) (stop func() error, err error) {
	st, err := embedded.Open(ctx, s.relayDir())
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: %w", err), st.Close())
	}
	s.url = "http://" + ln.Addr().String()
	heard, err := os.Create(filepath.Join(s.relayDir(), heardFile))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: %w", err), ln.Close(), st.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- api.New(api.Config{Relay: relay.New(st, relay.Config{}), Log: s.log}).Serve(ctx, &tap{Listener: ln, to: heard})
	}()
	return func() error {
		cancel()
		return errors.Join(<-done, heard.Close(), st.Close())
	}, nil
}

// heardFile stores everything that came over the relay's connections: what it saw, and not only
// what it stored.
const heardFile = "heard"

// tap records what a listener's connections read.
type tap struct {
	net.Listener
	mu sync.Mutex
	to io.Writer
}

func (t *tap) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tapped{c, t}, nil
}

type tapped struct {
	net.Conn
	tap *tap
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	if _, werr := c.tap.to.Write(p[:n]); werr != nil {
		return n, werr
	}
	return n, err
}

func (s *story) relayDir() string { return filepath.Join(s.dir, "relay") }

// more continues where the demo's day ends.
func (s *story) more(ctx context.Context, st *demo.Stage) error {
	for _, step := range []func(context.Context, *demo.Stage) error{s.synced, s.paired, s.helped, s.shared, s.relaySaw} {
		within, done := context.WithTimeout(ctx, patience)
		err := step(within, st)
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

// synced sends everything to the relay.
func (s *story) synced(ctx context.Context, st *demo.Stage) error {
	for {
		status, err := st.Node.SyncNow(ctx)
		if err != nil {
			return err
		}
		if status.Pending == 0 && status.Error == "" {
			return nil
		}
		if !wait.For(ctx, poll) {
			return fmt.Errorf("sync: %d changes are not at the relay: %s", status.Pending, status.Error)
		}
	}
}

// poll is how often the story checks what it waits for.
const poll = 50 * time.Millisecond

// settings returns the phone's settings.
func (s *story) settings(st *demo.Stage) (config.Config, error) {
	l, err := config.Load(config.Sources{Flags: []config.Flag{
		{Key: "home", Value: filepath.Join(s.dir, "phone")}, {Key: "wearer", Value: st.Day.Wearer}, {Key: "zone", Value: st.Day.Zone},
		{Key: "disk.reserve", Value: "64MB"}, {Key: "sync.relay", Value: s.url}}})
	if err != nil {
		return config.Config{}, err
	}
	return l.Config, nil
}

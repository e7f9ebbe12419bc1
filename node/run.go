package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/locket-dev/locket/internal/memtrim"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/pump"
	"github.com/locket-dev/locket/node/questions"
	"github.com/locket-dev/locket/node/recorder"
	"github.com/locket-dev/locket/node/serve"
)

// flushAfter is how many documents of the index may be in no segment. After a start they
// are indexed again, about 20,000 documents a second.
const flushAfter = 2000

// How often memory is given back in quiet moments. A wearable's companion needs that
// memory for other things sooner than a laptop does.
const (
	freeEvery         = time.Minute
	freeEveryWearable = 10 * time.Second
)

// By how many per cent the heap may grow before the collector runs. Go's default is
// 100. With half of that, at most a third of a busy heap is garbage, and most of a
// node's time goes into plugins anyway. A wearable's companion has less memory, so
// the value is lower; a collection takes some milliseconds there, because most of
// the heap is the index, which has no pointers.
const (
	heapGrowth         = 50
	heapGrowthWearable = 20
)

// How much of a control group's memory Go may hold before it collects more often: a unit's
// MemoryMax=, or a container's limit. The rest is for the machine code and the memory of
// plugins, the program's own pages, and the pages of the store's files. A wearable's
// companion needs more for its index, and less for plugins at its peaks.
const (
	groupShare         = 0.5
	groupShareWearable = 0.65
)

// LimitMemory makes this process hold less memory, unless GOGC or GOMEMLIMIT says otherwise. It
// is for a process that runs a node of this profile and little else.
func LimitMemory(profile string) {
	share, growth := groupShare, heapGrowth
	if profile == config.Wearable {
		share, growth = groupShareWearable, heapGrowthWearable
	}
	// An error means that the system has no control groups.
	_, _ = memlimit.Set(memlimit.WithRatio(share))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}

// smallLimit is the limit of memory, in bytes, under which a node of any profile is
// small: groupShare of a control group of 256 MB.
const smallLimit = 128 << 20

// small reports whether this node has to do with little memory: because of its profile, or
// because its process is limited.
func (n *Node) small() bool {
	return n.cfg.Profile == config.Wearable || debug.SetMemoryLimit(-1) < smallLimit
}

// footprint gives memory back to the system, at the pace of the node's profile.
func (n *Node) footprint() memtrim.Keeper {
	// Files that were written are mapped, and stay resident until they are given
	// back. With 100,000 lines they take more than everything else.
	k := memtrim.Keeper{Every: freeEvery, Files: n.path(storeDir), Calm: true}
	if n.small() {
		k.Every, k.Calm = freeEveryWearable, false
	}
	return k
}

// Start takes events. It opens the node's own broker or connects to the configured one,
// and processes the journal if the node is open, until Stop is called.
func (n *Node) Start(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return errClosed
	case n.running:
		return nil
	}
	paused, err := n.paused.load(n.path(pauseFile), n.public.Public().Device)
	if err != nil {
		return err
	}
	if n.stateUncertain() {
		n.log.Warn("nothing is taken in until the node is unlocked: its list of wearables, zones or pauses was not written by this home while it was unlocked")
		paused = true
	}
	n.intake = intake.New(intake.Config{Journal: n.writer(), Quarantine: n.writer(), Log: n.log, Zone: memory.ZoneName(n.zone), Paused: paused, Private: n.private.gate,
		OnMoved: n.private.notify, WasPaused: n.paused.wasPaused, LastChange: n.paused.changedAt, SealTo: n.public.JournalRecipient().String(), PauseBy: n.pauseGesture(), OnPressed: n.onPress})
	n.private.start(n.intake)
	n.fleetIntake.Store(n.intake)
	defer func() {
		if err != nil {
			n.running = false
			n.paused.stop()
			n.private.stop()
			err = errors.Join(err, n.stopIntake())
		}
	}()
	if n.cfg.Broker.URL == "" {
		err = n.listen()
	} else {
		err = n.dial()
	}
	if err != nil {
		return err
	}
	n.running = true
	n.paused.start(n.endPause)
	if n.open != nil {
		return n.startPump(n.open)
	}
	return nil
}

// fleet returns the wearables that may be told something. It takes no lock, because Stop
// may wait for its caller.
func (n *Node) fleet() questions.Fleet {
	if in := n.fleetIntake.Load(); in != nil {
		return in
	}
	return nil
}

// writer writes incoming events into the journal.
func (n *Node) writer() pump.Writer { return pump.Writer{Journal: n.journal, OnEvent: n.NoteEvent} }

func (n *Node) listen() error {
	cfg := intake.BrokerConfig{Addr: n.cfg.Broker.Listen, Devices: n.devices}
	if n.cfg.Broker.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(n.cfg.Broker.TLSCert, n.cfg.Broker.TLSKey)
		if err != nil {
			return fmt.Errorf("broker's certificate: %w", err)
		}
		cfg.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	var err error
	n.broker, err = intake.Listen(n.intake, cfg)
	if err == nil {
		n.web.Store(intake.NewWeb(n.intake, intake.WebConfig{Devices: n.devices, Admit: func(r *http.Request, device string) bool {
			return serve.Known(r.Context(), "wearable "+device) // the name of an app has no space
		}}))
	}
	return err
}

// Web handles what wearables send over HTTP, while the node runs with a broker of its own.
func (n *Node) Web() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if web := n.web.Load(); web != nil {
			web.ServeHTTP(w, r)
			return
		}
		http.Error(w, "this node accepts no messages over HTTP now", http.StatusServiceUnavailable)
	})
}

// pageLink returns a link that pairs a phone or laptop; empty: the node has no address for
// it.
func (n *Node) pageLink(name, password string) string {
	if n.cfg.API.Remote == "" {
		return ""
	}
	address, err := door.Address(n.cfg.API.Remote, n.cfg.API.Public)
	if err != nil {
		return "" // the machine has no network now
	}
	return recorder.Link(address, name, password)
}

func (n *Node) dial() error {
	b := &n.cfg.Broker
	cfg := intake.ClientConfig{URL: b.URL, ClientID: b.ClientID, Username: b.Username}
	if b.PasswordFile != "" {
		p, err := os.ReadFile(b.PasswordFile)
		if err != nil {
			return fmt.Errorf("broker's password: %w", err)
		}
		cfg.Password = strings.TrimRight(string(p), "\r\n")
	}
	if b.CA != "" || b.Cert != "" {
		var err error
		if cfg.TLS, err = intake.TLSConfig(b.CA, b.Cert, b.Key); err != nil {
			return err
		}
	}
	var err error
	n.client, err = intake.Dial(n.intake, cfg)
	return err
}

// Stop stops taking events. It waits until all taken events are on disk and the current
// one is committed, and leaves the rest in the journal.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.running {
		return nil
	}
	n.running = false
	n.paused.stop()
	n.private.stop()
	err := n.stopIntake()
	if o := n.open; o != nil {
		o.sync.Stop()
		o.engines.Stop()
		o.language.Stop()
		o.meaning.Stop()
	}
	if o := n.open; o != nil && o.stop != nil {
		o.stop()
		err = errors.Join(err, <-o.done, o.flush(ctx))
		o.stop = nil
	}
	return err
}

func (n *Node) stopIntake() error {
	var errs []error
	if web := n.web.Swap(nil); web != nil {
		web.Close()
	}
	if n.broker != nil {
		errs = append(errs, n.broker.Close())
	}
	if n.client != nil {
		errs = append(errs, n.client.Close())
	}
	errs = append(errs, n.intake.Close())
	n.broker, n.client = nil, nil
	return errors.Join(errs...)
}

// startPump starts to process the journal from where the last pump ended.
func (n *Node) startPump(o *session) error {
	ctx, stop := context.WithCancel(span.With(context.Background(), n.spans))
	p, err := pump.New(ctx, pump.Config{Journal: n.journal, Identity: o.ring.JournalIdentity(), Engine: o.engine, Blobs: o.store, Extract: o.extract, Log: n.log, PanicFile: filepath.Join(n.cfg.Home, "panicked"),
		OnEvent: func(out extract.Outcome) { o.engines.Offer(out.Changes) }, OnIdle: func(ctx context.Context) { n.tidy(ctx, o) }})
	if err != nil {
		stop()
		return err
	}
	o.pump, o.stop, o.done = p, stop, make(chan error, 1)
	if o.forgets.Unfinished() {
		asked := o.forgets.ConfirmedPlans()
		p.PurgeSoon(nil, func(err error) { o.forgets.FinishPurge(err, asked) })
	}
	go func() { o.done <- p.Run(ctx) }()
	if n.running {
		o.engines.Start(ctx)
		o.language.Start(o.life)
		o.meaning.Start(o.life)
		o.life.Start(o.given.Maintain)
		o.market.Maintain()
		o.sync.Start()
		o.sharing.Maintain()
	}
	return nil
}

// Drain processes the journal and returns when nothing is left. The node must be open and
// must not run.
func (n *Node) Drain(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == nil || n.running {
		return nil
	}
	o := n.open
	if err := n.startPump(o); err != nil {
		return err
	}
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-o.pump.Idle():
	}
	o.stop()
	err = errors.Join(err, <-o.done)
	o.stop = nil
	return err
}

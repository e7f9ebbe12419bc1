package intake_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// limit ends a test that hangs; nothing depends on how long anything takes.
const limit = 10 * time.Minute

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// disk is the real journal, with free space that the test controls.
type disk struct {
	j    *journal.Journal
	free atomic.Uint64

	mu      sync.Mutex
	grew    *sync.Cond
	events  []memory.Event
	failed  int           // failed appends
	gate    chan struct{} // nil, or appends wait for it
	waiting int           // waiting appends
}

func newDisk(t testing.TB) *disk {
	d := &disk{}
	d.grew = sync.NewCond(&d.mu)
	d.free.Store(math.MaxUint64 >> 1)
	var err error
	d.j, err = journal.Open(t.TempDir(), seal.NewIdentity().Recipient(), journal.Options{
		Free: func(string) (uint64, error) { return d.free.Load(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.j.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *disk) Append(ctx context.Context, events []memory.Event) error {
	d.mu.Lock()
	gate := d.gate
	d.waiting++
	d.grew.Broadcast()
	d.mu.Unlock()
	if gate != nil {
		<-gate
	}
	entries := make([][]byte, len(events))
	for i := range events {
		b, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		entries[i] = b
	}
	_, err := d.j.Append(ctx, entries...)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if err != nil {
		d.failed++
	} else {
		d.events = append(d.events, events...)
	}
	d.grew.Broadcast()
	return err
}

func (d *disk) full(full bool) {
	if full {
		d.free.Store(1)
		return
	}
	d.free.Store(math.MaxUint64 >> 1)
}

// until waits for a condition about the disk.
func (d *disk) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.AfterFunc(limit, d.grew.Broadcast)
	defer late.Stop()
	began := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !ok() {
		if time.Since(began) >= limit {
			t.Fatalf("%s: not within %s; %d events", what, limit, len(d.events))
		}
		d.grew.Wait()
	}
}

// of returns the events of a kind, in order.
func (d *disk) of(kind memory.Kind) []memory.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []memory.Event
	for _, e := range d.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// shelf is a quarantine in memory.
type shelf struct {
	mu   sync.Mutex
	kept []intake.Rejected
}

func (s *shelf) Keep(_ context.Context, r intake.Rejected) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, r)
	return nil
}

func (s *shelf) all() []intake.Rejected {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]intake.Rejected(nil), s.kept...)
}

// registry has the credentials of devices.
type registry struct {
	mu       sync.Mutex
	hash     map[string]string
	password map[string]string
	disabled map[string]bool
	topics   map[string]intake.Topics
}

func newRegistry(t testing.TB, names ...string) *registry {
	r := &registry{hash: map[string]string{}, password: map[string]string{}, disabled: map[string]bool{}}
	for _, n := range names {
		c, hash, err := intake.NewDevice(n)
		if err != nil {
			t.Fatal(err)
		}
		r.hash[n], r.password[n] = hash, c.Password
	}
	return r
}

func (r *registry) Lookup(name string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.hash[name]
	return h, ok && !r.disabled[name]
}

// node is an intake with one transport, and the devices "pin" and "glasses"
// that may use it.
type node struct {
	disk  *disk
	in    *intake.Intake
	shelf *shelf
	reg   *registry
	url   string
	logs  *logbook.Book

	mosquitto *mosquitto // nil if the broker is embedded
	client    *intake.Client
	broker    *intake.Broker
}

func newIntake(t testing.TB, cfg intake.Config) *node {
	n := &node{disk: newDisk(t), shelf: &shelf{}, reg: newRegistry(t, "pin", "glasses"), logs: &logbook.Book{}}
	cfg.Journal, cfg.Quarantine = n.disk, n.shelf
	cfg.Log = slog.New(slog.NewTextHandler(n.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg.RetryAfter = 20 * time.Millisecond
	n.in = intake.New(cfg)
	t.Cleanup(func() {
		if err := n.in.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func embedded(t testing.TB, cfg intake.Config) *node {
	n := newIntake(t, cfg)
	var err error
	n.broker, err = intake.Listen(n.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: n.reg})
	if err != nil {
		t.Fatal(err)
	}
	n.url = "tcp://" + n.broker.Addr().String()
	t.Cleanup(func() {
		if err := n.broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func external(t testing.TB, cfg intake.Config) *node {
	n := newIntake(t, cfg)
	n.mosquitto = newMosquitto(t, n.reg, nil)
	n.mosquitto.start(t)
	n.url = n.mosquitto.url
	n.connect(t)
	return n
}

// connect connects the node's own client.
func (n *node) connect(t testing.TB) {
	t.Helper()
	var err error
	n.client, err = intake.Dial(n.in, intake.ClientConfig{
		URL: n.mosquitto.url, ClientID: "locket-test", Username: "node", Password: n.mosquitto.password,
		TLS: n.mosquitto.nodeTLS, MaxWait: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	client := n.client
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := n.client.Ready(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

// eachTransport runs a test against both brokers.
func eachTransport(t *testing.T, f func(t *testing.T, start func(intake.Config) *node)) {
	t.Run("embedded", func(t *testing.T) { f(t, func(c intake.Config) *node { return embedded(t, c) }) })
	t.Run("mosquitto", func(t *testing.T) { f(t, func(c intake.Config) *node { return external(t, c) }) })
}

func (n *node) wear(t testing.TB, cfg wear.Config) *wear.Client {
	t.Helper()
	if cfg.Device == "" {
		cfg.Device = "pin"
	}
	if cfg.URL == "" {
		cfg.URL = n.url
	}
	cfg.Password = n.reg.password[cfg.Device]
	cfg.MaxWait = 200 * time.Millisecond
	if n.mosquitto != nil && cfg.TLS == nil {
		cfg.TLS = n.mosquitto.deviceTLS
	}
	c, err := wear.Dial(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func say(t testing.TB, c *wear.Client, text string) *wear.Receipt {
	t.Helper()
	r, err := c.Publish(deadline(t), &wire.Words{Header: wire.Header{At: time.Now()}, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func flush(t testing.TB, c *wear.Client) {
	t.Helper()
	if err := c.Flush(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

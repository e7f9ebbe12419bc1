package carry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// limit ends a test that hangs; nothing depends on how long anything takes.
const limit = 2 * time.Minute

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// disk is a real journal which says what it took, and can be made to wait.
type disk struct {
	j *journal.Journal

	mu     sync.Mutex
	grew   *sync.Cond
	events []memory.Event
	gate   chan struct{} // nil, or appends wait for it
	stuck  int
}

func (d *disk) Append(ctx context.Context, events []memory.Event) error {
	d.mu.Lock()
	gate := d.gate
	d.stuck++
	d.grew.Broadcast()
	d.mu.Unlock()
	if gate != nil {
		<-gate
	}
	var entries [][]byte
	for i := range events {
		b, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		entries = append(entries, b)
	}
	_, err := d.j.Append(ctx, entries...)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stuck--
	if err == nil {
		d.events = append(d.events, events...)
	}
	d.grew.Broadcast()
	return err
}

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

// of gives the events of a kind, in order; with the lock held by the caller of until.
func of(events []memory.Event, kind memory.Kind) (out []memory.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func (d *disk) of(kind memory.Kind) []memory.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return of(d.events, kind)
}

type registry struct{ hash string }

func (r registry) Lookup(name string) (string, bool) { return r.hash, name == "pin" }

// node is a real intake with an embedded broker, and one device, "pin".
type node struct {
	disk     *disk
	in       *intake.Intake
	url      string
	password string
}

func newNode(t testing.TB) *node {
	n := &node{disk: &disk{}}
	n.disk.grew = sync.NewCond(&n.disk.mu)
	var err error
	if n.disk.j, err = journal.Open(t.TempDir(), seal.NewIdentity().Recipient(), journal.Options{}); err != nil {
		t.Fatal(err)
	}
	cred, hash, err := intake.NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	n.password = cred.Password
	n.in = intake.New(intake.Config{Journal: n.disk, Log: slog.New(slog.DiscardHandler)})
	b, err := intake.Listen(n.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: registry{hash}})
	if err != nil {
		t.Fatal(err)
	}
	n.url = "tcp://" + b.Addr().String()
	t.Cleanup(func() {
		for _, c := range []func() error{b.Close, n.in.Close, n.disk.j.Close} {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	})
	return n
}

// bridge is the wearable's side, with what it was told.
type bridge struct {
	cfg   carry.Config
	mu    sync.Mutex
	notes []carry.Note
}

func (n *node) bridge(t testing.TB, state string, d link.Dialer) *bridge {
	t.Helper()
	s, err := carry.OpenState(state)
	if err != nil {
		t.Fatal(err)
	}
	boot, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	commands := make(chan *wire.Cmd, 16)
	c, err := wear.Dial(wear.Config{
		URL: n.url, Device: "pin", Password: n.password, Boot: boot, Window: carry.Window, MaxWait: 200 * time.Millisecond,
		OnCmd: func(cmd *wire.Cmd) { commands <- cmd },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Ready(deadline(t)); err != nil {
		t.Fatal(err)
	}
	b := &bridge{}
	b.cfg = carry.Config{
		Dialer: d, Client: c, Commands: commands, State: s, FirstWait: time.Millisecond,
		Tell: func(note carry.Note) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.notes = append(b.notes, note)
			t.Logf("%s: %s", note.What, note.Text)
		},
	}
	return b
}

func (b *bridge) told(what string) (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notes {
		if n.What == what {
			out = append(out, n.Text)
		}
	}
	return out
}

// when closes what it gives once a person is told what contains text.
func (b *bridge) when(text string) <-chan struct{} {
	told := make(chan struct{})
	tell := b.cfg.Tell
	var once sync.Once
	b.cfg.Tell = func(note carry.Note) {
		tell(note)
		if strings.Contains(note.Text, text) {
			once.Do(func() { close(told) })
		}
	}
	return told
}

func await(t testing.TB, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-deadline(t).Done():
		t.Fatalf("not within %s", limit)
	}
}

func statePath(t testing.TB) string { return filepath.Join(t.TempDir(), "state.json") }

// play carries a capture to a node of its own.
func play(t testing.TB, n *node, capture []byte) (*bridge, carry.Report) {
	t.Helper()
	b := n.bridge(t, statePath(t), link.NewCapture(bytes.NewReader(capture)))
	b.cfg.Lossless = true
	rep, err := carry.Run(deadline(t), b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Waiting != 0 || rep.Refused != 0 || rep.Dropped != 0 {
		t.Fatalf("%+v", rep)
	}
	return b, rep
}

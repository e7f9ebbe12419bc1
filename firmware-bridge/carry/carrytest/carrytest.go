// Package carrytest runs a real node's intake with its embedded broker, and a bridge beside it. It
// is for tests of the bridge's families.
package carrytest

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

// Limit ends a test that hangs. No result depends on how long anything takes.
const Limit = 10 * time.Minute

// Deadline returns a context that ends with the test, or at Limit.
func Deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	t.Cleanup(cancel)
	return ctx
}

// Disk is a real journal that records what it took, and can be made to wait.
type Disk struct {
	j *journal.Journal

	mu     sync.Mutex
	grew   *sync.Cond
	Events []memory.Event // guarded by the lock, which Until holds
	gate   chan struct{}  // not nil: appends wait for it
	full   bool           // appends are refused
	stuck  int
}

func (d *Disk) Append(ctx context.Context, events []memory.Event) error {
	d.mu.Lock()
	gate, full := d.gate, d.full
	d.stuck++
	d.grew.Broadcast()
	d.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if full {
		return memory.ErrNoSpace
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
		d.Events = append(d.Events, events...)
	}
	d.grew.Broadcast()
	return err
}

// Until waits until ok, which is called with the lock held, reports true.
func (d *Disk) Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.AfterFunc(Limit, d.grew.Broadcast)
	defer late.Stop()
	began := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !ok() {
		if time.Since(began) >= Limit {
			t.Fatalf("%s: not within %s; %d events", what, Limit, len(d.Events))
		}
		d.grew.Wait()
	}
}

// OfKind returns the events of a kind, in order. The caller holds the lock, as in Until.
func OfKind(events []memory.Event, kind memory.Kind) (out []memory.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// OfKind returns the events of a kind, in order.
func (d *Disk) OfKind(kind memory.Kind) []memory.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return OfKind(d.Events, kind)
}

type registry struct{ hash string }

func (r registry) Lookup(name string) (string, bool) { return r.hash, name == "pin" }

// Node is a real intake with an embedded broker, and one device, "pin".
type Node struct {
	Disk      *Disk
	WasPaused func(at time.Time) bool // reports whether there was a pause at a time, or nil; set before a bridge begins
	In        *intake.Intake
	URL       string // URL of its broker
	Password  string // password of "pin"
	id        *seal.Identity
	turned    time.Time // when the pause began or ended; guarded by Disk.mu
}

// NewNode starts a node, which runs until the test ends.
func NewNode(t testing.TB) *Node {
	n := &Node{Disk: &Disk{}, id: seal.NewIdentity()}
	n.Disk.grew = sync.NewCond(&n.Disk.mu)
	var err error
	if n.Disk.j, err = journal.Open(t.TempDir(), n.id.Recipient(), journal.Options{}); err != nil {
		t.Fatal(err)
	}
	cred, hash, err := intake.NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	n.Password = cred.Password
	n.In = intake.New(intake.Config{Journal: n.Disk, Log: slog.New(slog.DiscardHandler), SealTo: n.id.Recipient().String(), RetryAfter: 10 * time.Millisecond,
		LastChange: func() time.Time { n.Disk.mu.Lock(); defer n.Disk.mu.Unlock(); return n.turned },
		WasPaused:  func(at time.Time) bool { return n.WasPaused != nil && n.WasPaused(at) }})
	b, err := intake.Listen(n.In, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: registry{hash}})
	if err != nil {
		t.Fatal(err)
	}
	n.URL = "tcp://" + b.Addr().String()
	t.Cleanup(func() {
		for _, c := range []func() error{b.Close, n.In.Close, n.Disk.j.Close} {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	})
	return n
}

// Refuse makes the disk refuse appends, as a full one does, or accept them again.
func (d *Disk) Refuse(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = on
}

// Pause begins or ends a pause at the given time.
func (n *Node) Pause(on bool, since time.Time) {
	n.Disk.mu.Lock()
	n.turned = since
	n.Disk.mu.Unlock()
	n.In.SetPaused(on)
}

// Open returns the events of a kind, in order. Sealed ones are opened.
func (n *Node) Open(t testing.TB, kind memory.Kind) (out []memory.Event) {
	t.Helper()
	n.Disk.mu.Lock()
	defer n.Disk.mu.Unlock()
	for _, e := range n.Disk.Events {
		if e.Kind == memory.KindSealed {
			b, err := seal.OpenWith(n.id, e.Data)
			if err != nil {
				t.Fatal(err)
			}
			m, err := wire.Unwrap(b)
			if err != nil {
				t.Fatal(err)
			}
			e = wire.Event(e.ID.Device, m, e.Received, nil)
		}
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Bridge is the wearable's side, with the notes that it told a person.
type Bridge struct {
	Cfg   carry.Config
	mu    sync.Mutex
	notes []carry.Note
}

// Bridge connects as the wearable; the caller runs it.
func (n *Node) Bridge(t testing.TB, state string, f carry.Family, d link.Dialer) *Bridge {
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
		URL: n.URL, Device: "pin", Password: n.Password, Boot: boot, Window: carry.Window, MaxWait: 200 * time.Millisecond,
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
	if err := c.Ready(Deadline(t)); err != nil {
		t.Fatal(err)
	}
	b := &Bridge{}
	b.Cfg = carry.Config{
		Dialer: d, Client: c, Commands: commands, State: s, Family: f, FirstWait: time.Millisecond,
		OnNote: func(note carry.Note) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.notes = append(b.notes, note)
			t.Logf("%s: %s", note.What, note.Text)
		},
	}
	return b
}

// Notes returns the notes of a kind that a person was told.
func (b *Bridge) Notes(what string) (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notes {
		if n.What == what {
			out = append(out, n.Text)
		}
	}
	return out
}

// NoteWith returns a channel that is closed once a note contains text.
func (b *Bridge) NoteWith(text string) <-chan struct{} {
	told := make(chan struct{})
	tell := b.Cfg.OnNote
	var once sync.Once
	b.Cfg.OnNote = func(note carry.Note) {
		tell(note)
		if strings.Contains(note.Text, text) {
			once.Do(func() { close(told) })
		}
	}
	return told
}

// Await waits for c to be closed.
func Await(t testing.TB, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-Deadline(t).Done():
		t.Fatalf("not within %s", Limit)
	}
}

// StatePath returns the path of a new state file.
func StatePath(t testing.TB) string { return filepath.Join(t.TempDir(), "state.json") }

// Play carries a capture to a node of its own.
func Play(t testing.TB, n *Node, f carry.Family, capture []byte) (*Bridge, carry.Report) {
	t.Helper()
	b := n.Bridge(t, StatePath(t), f, link.NewCapture(bytes.NewReader(capture)))
	b.Cfg.Lossless = true
	rep, err := carry.Run(Deadline(t), b.Cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Waiting != 0 || rep.Refused != 0 || rep.Dropped != 0 {
		t.Fatalf("%+v", rep)
	}
	return b, rep
}

// Stop blocks the disk until goOn is called, which is safe twice.
func (d *Disk) Stop(t testing.TB) (goOn func()) {
	gate := make(chan struct{})
	d.mu.Lock()
	d.gate = gate
	d.mu.Unlock()
	goOn = sync.OnceFunc(func() {
		d.mu.Lock()
		d.gate = nil
		d.mu.Unlock()
		close(gate)
	})
	t.Cleanup(goOn) // otherwise a failing test would hang
	return goOn
}

// Start runs the bridge until stop is called, which returns the report.
func (b *Bridge) Start(t testing.TB) (stop func() carry.Report) {
	ctx, cancel := context.WithCancel(Deadline(t))
	done := make(chan struct{})
	var rep carry.Report
	var err error
	go func() {
		defer close(done)
		rep, err = carry.Run(ctx, b.Cfg)
	}()
	stop = func() carry.Report {
		cancel()
		<-done
		if err != nil {
			t.Error(err)
		}
		return rep
	}
	t.Cleanup(func() { cancel(); <-done })
	return stop
}

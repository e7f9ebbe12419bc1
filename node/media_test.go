package node

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// world is a relay, and homes beside it.
type world struct {
	dir  string // of the relay
	t    *testing.T
	url  string
	off  []string // plugins
	down func()   // ends the relay
	kept *embedded.Store
}

func newWorld(t *testing.T) *world { return newWorldOf(t, relay.Config{}) }

func newWorldOf(t *testing.T, of relay.Config) *world {
	t.Helper()
	dir := t.TempDir()
	r := relaytest.Serve(t, dir, of, api.Config{})
	w := &world{t: t, dir: dir, url: r.URL, kept: r.Store, down: r.Stop}
	var err error
	if w.off, err = builtIn(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) settings(name string) config.Config {
	cfg := config.Config{Home: filepath.Join(w.t.TempDir(), name), Wearer: "Maja", Zone: "UTC", Sync: config.Sync{Relay: w.url},
		Plugins: config.Plugins{Disabled: w.off}}
	cfg.Defaults()
	cfg.Disk.Reserve = 1 << 20
	return cfg
}

// open opens a home whose clock is wrong by skew.
func (w *world) open(cfg config.Config, skew time.Duration) *Node {
	w.t.Helper()
	n, err := Open(cfg, Options{Now: func() time.Time { return time.Now().Add(skew) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { n.Close() })
	if ok, err := n.UnlockAsConfigured(w.t.Context()); err != nil || !ok {
		w.t.Fatal(ok, err)
	}
	return n
}

func (w *world) sync(n *Node) {
	w.t.Helper()
	if s, err := n.SyncNow(w.t.Context()); err != nil || s.Error != "" || s.Pending != 0 {
		w.t.Fatalf("%+v, %v", s, err)
	}
}

// A picture taken by one device is available on another: once through the
// relay, and from then on without it.
func TestMediaFromAnotherDevice(t *testing.T) {
	w := newWorld(t)
	one, two := w.settings("one"), w.settings("two")
	phrase, err := Init(one, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	a := w.open(one, 0)
	picture := strings.Repeat("jpeg", 400_000)
	id := photograph(t, a, picture)
	bare, err := a.Add(t.Context(), serve.AddRequest{Text: "Ana likes herons", Infer: new(bool)})
	if err != nil {
		t.Fatal(err)
	}
	w.sync(a)
	if _, err := Recover(t.Context(), two, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: two.Sync.Relay}, phrase); err != nil {
		t.Fatal(err)
	}
	b := w.open(two, 0)
	w.sync(b)
	cl := serve.InProcess(serve.New(serve.Options{Services: b.Services()}))
	for round := range 2 {
		var got bytes.Buffer
		kind, size, err := cl.Media(t.Context(), id.String(), &got)
		if err != nil || kind != "image/jpeg" || size != int64(len(picture)) || got.String() != picture {
			t.Fatalf("round %d: %d bytes of %s, %v", round, size, kind, err)
		}
		w.down() // the second time it is already here
	}
	if _, _, err := cl.Media(t.Context(), bare.Changes[0].Memory.String(), &bytes.Buffer{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("of a memory without: %v", err)
	}
}

// photograph has a node remember a picture.
func photograph(t *testing.T, n *Node, picture string) memory.ID {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	b, err := o.store.WriteBlob(t.Context(), strings.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	photo, err := n.Add(t.Context(), serve.AddRequest{Text: "A photo of a heron, that begins with " + picture[:4], Infer: new(bool), Type: memory.Resource,
		Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Heron", MediaType: "image/jpeg", Blob: b.ID.String()}}})
	if err == nil {
		err = o.store.Update(t.Context(), func(tx *store.Tx) error { return tx.KeepBlob(b, photo.Changes[0].Memory) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return photo.Changes[0].Memory
}

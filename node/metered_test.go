package node

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// On a metered connection, words are sent while photos wait, and the number of waiting photos is
// shown. A folder can carry them meanwhile, and the relay gets them once the connection is
// unmetered.
func TestPhotosWaitOnAMeteredLine(t *testing.T) {
	w := newWorld(t)
	cfg := w.settings("first")
	phrase, err := Init(cfg, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered = config.MeteredYes
	a := w.open(cfg, 0)
	picture := strings.Repeat("jpeg", 30_000)
	id := photograph(t, a, picture)
	w.sync(a)
	waiting := func() int {
		t.Helper()
		list, err := a.Relays(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if list[0].Metered != (list[0].Blobs > 0) {
			t.Errorf("why they wait: %+v", list[0])
		}
		return list[0].Blobs
	}
	if k := waiting(); k != 1 {
		t.Errorf("%d photos are said to wait", k)
	}
	joined := func(name string) *Node {
		t.Helper()
		cfg := w.settings(name)
		if _, err := Recover(t.Context(), cfg, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: w.url}, phrase); err != nil {
			t.Fatal(err)
		}
		n := w.open(cfg, 0)
		w.sync(n)
		return n
	}
	b, c := joined("by the folder"), joined("by the relay")
	sees := func(n *Node) error {
		t.Helper()
		var got bytes.Buffer
		_, _, err := serve.InProcess(serve.New(serve.Options{Services: n.Services()})).Media(t.Context(), id.String(), &got)
		if err == nil && got.String() != picture {
			t.Errorf("%d bytes of another picture", got.Len())
		}
		return err
	}
	for _, n := range []*Node{b, c} {
		if _, err := n.Get(t.Context(), id); err != nil {
			t.Errorf("the words: %v", err)
		}
		if err := sees(n); !errors.Is(err, serve.ErrRelay) {
			t.Errorf("while the line is metered: %v", err)
		}
	}

	stick := t.TempDir()
	for _, n := range []*Node{a, b} {
		if met, err := n.SyncFolder(t.Context(), stick); err != nil || met.Blobs != 1 {
			t.Errorf("%+v, %v", met, err)
		}
	}
	if err := sees(b); err != nil {
		t.Errorf("by the folder: %v", err)
	}

	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered = config.MeteredNo
	a = w.open(cfg, 0)
	w.sync(a)
	if k := waiting(); k != 0 {
		t.Errorf("%d photos wait still", k)
	}
	if err := sees(c); err != nil {
		t.Errorf("by the relay: %v", err)
	}
}

// With auto, NetworkManager decides whether the connection is metered: photos wait while it says
// so, and are sent when that is over, without anybody doing anything.
func TestPhotosWaitWhereNetworkManagerSaysSo(t *testing.T) {
	address := linktest.Bus(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	manager := linktest.NetworkManager(t, address)
	manager.Says(t, 3) // a guess, as for a phone's hotspot
	w := newWorld(t)
	cfg := w.settings("first")
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered, cfg.Broker.Listen = config.MeteredAuto, "127.0.0.1:0"
	var ahead atomic.Int64 // added to the node's clock
	a, err := Open(cfg, Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if ok, err := a.UnlockAsConfigured(t.Context()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	photograph(t, a, strings.Repeat("jpeg", 30_000))
	for _, step := range []struct {
		says uint32
		want int
	}{{3, 1}, {2, 0}} {
		manager.Says(t, step.says)
		ahead.Add(int64(time.Minute)) // an answer is valid for half of that
		w.sync(a)
		list, err := a.Relays(t.Context())
		if err != nil || len(list) != 1 || list[0].Blobs != step.want || list[0].Metered != (step.want > 0) {
			t.Errorf("NetworkManager says %d: %+v, %v", step.says, list, err)
		}
	}

	// The same without anybody asking for a round.
	manager.Says(t, 1)
	ahead.Add(int64(time.Minute))
	photograph(t, a, strings.Repeat("another jpeg", 10_000))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	blobs := func() int {
		list, err := a.Relays(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0].Blobs
	}
	eventually(t, "the photo waits", func() bool { return blobs() == 1 })
	manager.Says(t, 2)
	ahead.Add(int64(time.Minute))
	eventually(t, "the photo goes", func() bool { return blobs() == 0 })
}

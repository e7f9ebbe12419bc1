package node

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// On a metered line words go and photos wait, and it is told how many. A folder
// carries them meanwhile, and the relay has them once the line is another.
func TestPhotosWaitOnAMeteredLine(t *testing.T) {
	w := newWorld(t)
	cfg := w.settings("first")
	phrase, err := Init(cfg, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered = true
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
	cfg.Sync.Metered = false
	a = w.open(cfg, 0)
	w.sync(a)
	if k := waiting(); k != 0 {
		t.Errorf("%d photos wait still", k)
	}
	if err := sees(c); err != nil {
		t.Errorf("by the relay: %v", err)
	}
}

package node

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// A photo that waits for an unmetered connection is not said to be at the relay, although its words
// are. One that is held back is said to be on this device alone.
func TestWhereAPhotoIs(t *testing.T) {
	w := newWorld(t)
	cfg := w.settings("first")
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered = config.MeteredYes
	n := w.open(cfg, 0)
	id := photograph(t, n, strings.Repeat("jpeg", 30_000))
	secret := photograph(t, n, strings.Repeat("png ", 30_000))
	if _, err := n.Update(t.Context(), secret, serve.UpdateRequest{Tag: []string{extract.SecretTag}}); err != nil {
		t.Fatal(err)
	}
	want := func(id memory.ID, media string, relay serve.Holds) {
		t.Helper()
		at, err := n.Where(t.Context(), id)
		if err != nil || len(at.Relays) != 1 || at.Waits != 0 || at.Media != media || at.Relays[0].Holds != relay {
			t.Errorf("%+v, %v, want %s and %s", at, err, media, relay)
		}
	}
	w.sync(n)
	want(id, serve.MediaHere, serve.HoldsPart)
	want(secret, serve.MediaHeld, serve.HoldsPart)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Sync.Metered = config.MeteredNo
	n = w.open(cfg, 0)
	w.sync(n)
	want(id, serve.MediaHere, serve.HoldsAll)
	want(secret, serve.MediaHeld, serve.HoldsPart)
}

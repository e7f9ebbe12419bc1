package node_test

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/testing/leakscan"
	"github.com/locket-dev/locket/node/serve"
)

// dig closes a device and looks for words in everything that its keys open.
func (d *device) dig(words ...string) []leakscan.Find {
	d.t.Helper()
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
	locked, err := keyring.Open(filepath.Join(d.cfg.Home, "keys"))
	if err != nil {
		d.t.Fatal(err)
	}
	ring, err := locked.Unlock(d.t.Context(), keyring.KeyFile(keyring.DefaultKeyFile))
	if err != nil {
		d.t.Fatal(err)
	}
	defer ring.Close()
	r, err := leakscan.Home(d.t.Context(), d.cfg.Home, ring, words...)
	if err != nil || len(r.Unopened) > 0 {
		d.t.Fatalf("%v, not opened: %v", err, r.Unopened)
	}
	return r.Finds
}

// However something was selected for forgetting on one device, nothing of it is
// left in any file of another device that had received it.
func TestForgettingSyncs(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]serve.ForgetSelection{
		"person": {Person: "Quintavius"}, "device": {Device: "api"}, "time": {When: "last 2 hours"},
	} {
		t.Run(name, func(t *testing.T) {
			relay := serveRelay(t)
			a, b := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2)
			a.init()
			a.said("Quintavius keeps grobnuts in Zanzibarra.")
			a.tell("Quintavius is in Zanzibarra", nil)
			a.well()
			a.pair(b)
			b.well()
			if finds := b.dig("grobnuts", "Zanzibarra"); len(finds) < 4 {
				t.Fatalf("the other has it nowhere: %v", finds)
			}
			b.open()
			p, err := a.PlanForget(t.Context(), s)
			if err != nil || len(p.Memories) != 1 || len(p.Utterances) != 1 {
				t.Fatalf("%+v, %v", p, err)
			}
			if _, err := a.Forget(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			a.well()
			b.well()
			for name, d := range map[string]*device{"here": a, "there": b} {
				for _, f := range d.dig("grobnuts", "Zanzibarra", "Quintavius") {
					t.Errorf("%s: %s", name, f)
				}
			}
		})
	}
}

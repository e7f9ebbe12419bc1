package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/testing/leakscan"
	"github.com/locket-dev/locket/memory"
)

// forgetKills is how often the daemon is killed while it forgets.
const forgetKills = 6

// What was confirmed as forgotten is gone from every file once the node has been started again,
// however often it was killed in the middle; everything else is still there.
func TestForgettingSurvivesSIGKILL(t *testing.T) {
	h := newHome(t, "--listen", freeport.Addr(t))
	d := h.start()
	c := h.addDevice("pin")
	pin := wearable(t, d.broker, c.Name, c.Password)
	kept := say(t, pin, "Ana", "I live in Ghent.")
	acknowledged(t, kept)
	r := rand.New(rand.NewPCG(3, 4))
	unfinished := 0
	span := 500 * time.Millisecond // the kill comes within this time
	for k := 0; k < forgetKills || unfinished == 0 && k < 4*forgetKills; k++ {
		for i := range 8 {
			acknowledged(t, say(t, pin, "Ana", fmt.Sprintf("Quintavius number %d counted %d grobnuts in Zanzibarra.", k, 100*k+i)))
		}
		done := make(chan bool, 1)
		go func() {
			_, _, code := h.try("forget", "--query", "quintavius", "--yes")
			done <- code == 0
		}()
		wait(time.Duration(r.Int64N(int64(span))))
		late := len(done) > 0
		d.kill()
		switch finished := <-done; {
		case !finished:
			unfinished++
		case late:
			span /= 2
		default: // it came before the command had reached the daemon, so the command did the work itself
			span *= 2
		}
		var err error
		if d, err = h.tryStart(); err != nil {
			t.Fatalf("start after kill %d: %v", k+1, err)
		}
	}
	t.Logf("%d of %d were cut off", unfinished, forgetKills)
	if unfinished == 0 {
		t.Error("no kill came in the middle")
	}
	// If the kill came before the order was written, nothing was promised.
	h.must("forget", "--query", "quintavius", "--yes")
	acknowledged(t, say(t, pin, "Ana", "The kettle stands beside the stove."))
	until(t, "what came last is worked through", func() bool { return len(h.utterances()) == 2 })
	if err := d.stop(t); err != nil {
		t.Fatal(err)
	}
	for _, f := range h.dig("quintavius", "grobnuts", "zanzibarra") {
		t.Error(f)
	}
	if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
		t.Errorf("doctor --verify: %s", out)
	}
	var m memory.Memory
	h.mustJSON(&m, "list", "--limit", "1")
	if !strings.Contains(m.Text, "Ghent") {
		t.Errorf("what was not meant: %+v", m)
	}
}

// dig searches everything that the home's keys open for words.
func (h *home) dig(words ...string) []leakscan.Find {
	h.t.Helper()
	locked, err := keyring.Open(filepath.Join(h.dir, "keys"))
	if err != nil {
		h.t.Fatal(err)
	}
	ring, err := locked.Unlock(h.t.Context(), keyring.KeyFile(keyring.DefaultKeyFile))
	if err != nil {
		h.t.Fatal(err)
	}
	defer ring.Close()
	r, err := leakscan.Home(h.t.Context(), h.dir, ring, words...)
	if err != nil || len(r.Unopened) > 0 || r.Remnants < 20 {
		h.t.Fatalf("%d values looked at, %v not opened, %v", r.Remnants, r.Unopened, err)
	}
	return r.Finds
}

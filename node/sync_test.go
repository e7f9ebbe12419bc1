package node_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

func TestPairAndSync(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2)
	a.init()
	first := a.home("Berlin")
	a.said("The tram was late again.")
	a.well()
	a.pair(b)
	b.well()
	if got := b.state(); got != a.state() || !strings.Contains(got, "Berlin") || !strings.Contains(got, "tram") {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), got)
	}
	members, err := b.Members(t.Context())
	if err != nil || len(members) != 2 {
		t.Errorf("members: %+v, %v", members, err)
	}
	if r, err := b.Search(t.Context(), serve.SearchRequest{Query: "Where do I live?"}); err != nil || len(r.Hits) == 0 {
		t.Errorf("recall on the second: %+v, %v", r, err)
	}
	if err := b.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	b.well()
	a.well()
	if m, err := a.Get(t.Context(), first); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("erased on the second, and here: %+v, %v", m, err)
	}
	if a.state() != b.state() {
		t.Errorf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

// The question whether the words are the same is answered once: after admitting a device,
// or turning one away, another answer changes nothing.
func TestPairingIsConfirmedOnce(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2)
	a.init()
	a.pair(b)
	if p, err := a.PairConfirm(t.Context(), serve.ConfirmRequest{}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("answered twice: %+v, %v", p, err)
	}
	if p, err := a.PairWait(t.Context()); err != nil || p.State != serve.PairDone {
		t.Errorf("%+v, %v", p, err)
	}
}

// Having compared the words of one pairing does not admit a device through another
// pairing that was begun since.
func TestThreatAnotherPairingConfirmed(t *testing.T) {
	relay := serveRelay(t)
	a, b, c := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2), newDevice(t, relay.url, 3)
	a.init()
	a.meet(b)
	first, err := a.PairWait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	joined := a.meet(c)
	if p, err := a.PairConfirm(t.Context(), serve.ConfirmRequest{Same: true, Code: first.Code}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("by the words of another: %+v, %v", p, err)
	}
	second, err := a.PairWait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := a.PairConfirm(t.Context(), serve.ConfirmRequest{Same: true, Code: second.Code}); err != nil || p.State != serve.PairDone {
		t.Errorf("by its own: %+v, %v", p, err)
	}
	if err := <-joined; err != nil {
		t.Error(err)
	}
}

// Two devices work independently, over a network that fails in every way; they are closed
// and opened at random, and the clock of one is a day off. In the end they are alike.
func TestDevicesConvergeAfterWorkingOffline(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		relay := serveRelay(t)
		a, b := newDevice(t, relay.url, 3), newDevice(t, relay.url, 4)
		b.skew = skew
		a.init()
		a.home("Berlin")
		shared := []memory.ID{a.tell("Ana likes plums.", nil), a.tell("The key is under the mat.", nil),
			a.tell("The bus leaves at nine.", nil), a.tell("Tom has a red bicycle.", nil)}
		a.well()
		a.pair(b)
		b.well()

		a.net.fails(true)
		b.net.fails(true)
		a.home("Ghent")
		b.home("Antwerp")
		for d, ids := range map[*device][]memory.ID{a: shared[:2], b: shared[2:]} {
			if _, err := d.Pin(t.Context(), ids[0], true); err != nil {
				t.Fatal(err)
			}
			if err := d.Delete(t.Context(), ids[1]); err != nil {
				t.Fatal(err)
			}
		}
		rng := rand.New(rand.NewPCG(7, uint64(skew)))
		for i := range 24 {
			d := []*device{a, b}[rng.IntN(2)]
			if rng.IntN(3) == 0 {
				d.tell("Note "+string(rune('a'+i))+" of a day apart.", nil)
			}
			d.sync()
			if rng.IntN(6) == 0 {
				d.reopen()
			}
		}
		a.net.fails(false)
		b.net.fails(false)
		for range 2 {
			a.well()
			b.well()
		}
		x, y := a.state(), b.state()
		if x != y {
			t.Fatalf("skew %v: first\n%s\nsecond\n%s", skew, x, y)
		}
		if strings.Count(x, `"pinned":true`) != 2 || strings.Contains(x, "mat.") || strings.Contains(x, "bicycle") {
			t.Errorf("skew %v: %s", skew, x)
		}
		current := 0
		page, err := a.List(t.Context(), serve.ListQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Memories {
			if m.Slot != nil && m.Slot.Attribute == "home" {
				current++
			}
		}
		if current != 1 {
			t.Errorf("skew %v: %d homes at a time", skew, current)
		}
	}
}

// The recovery phrase and the relay's address bring everything back.
func TestRecover(t *testing.T) {
	relay := serveRelay(t)
	a := newDevice(t, relay.url, 5)
	phrase := a.init()
	a.home("Berlin")
	a.said("The tram was late again.")
	a.well()
	want := a.state()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := newDevice(t, relay.url, 6)
	if _, err := node.Recover(t.Context(), b.cfg, node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: relay.url}, phrase); err != nil {
		t.Fatal(err)
	}
	b.open()
	b.well()
	if got := b.state(); got != want {
		t.Errorf("lost\n%s\nrecovered\n%s", want, got)
	}
	b.home("Ghent")
	b.well()
	c := newDevice(t, relay.url, 7)
	other := newDevice(t, relay.url, 8).init()
	if _, err := node.Recover(t.Context(), c.cfg, node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: relay.url}, other); err == nil {
		t.Error("a phrase that founded nothing at the relay recovers")
	}
}

// What a device imports from another life's export reaches its other devices, under its
// own name; and an export of one's own life, imported on another device, adds nothing
// twice.
func TestImportSyncs(t *testing.T) {
	relay := serveRelay(t)
	a, b, stranger := newDevice(t, relay.url, 31), newDevice(t, relay.url, 32), newDevice(t, "", 33)
	stranger.init()
	id := stranger.home("Lima")
	if _, err := stranger.Pin(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	text := "User lives in Lima, Peru."
	if _, err := stranger.Update(t.Context(), id, serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	stranger.said("The llama was late.")
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	for range 2 {
		if res, err := a.Import(t.Context(), stranger.Export(t.Context(), serve.ExportOptions{}), serve.ImportOptions{Unsigned: true}); !errors.Is(err, serve.ErrSigner) {
			t.Fatalf("a stranger's: %+v, %v", res, err)
		}
	}
	res, err := a.Import(t.Context(), stranger.Export(t.Context(), serve.ExportOptions{}), serve.ImportOptions{Signer: stranger.words()})
	if err != nil || res.Taken != 4 {
		t.Fatalf("%+v, %v", res, err)
	}
	a.well()
	b.well()
	m, err := b.Get(t.Context(), id)
	if err != nil || m.Text != text || !m.Pinned {
		t.Fatalf("on the other device: %+v, %v", m, err)
	}
	if a.state() != b.state() {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
	own, err := b.Import(t.Context(), a.Export(t.Context(), serve.ExportOptions{}), serve.ImportOptions{})
	if err != nil || own.Taken != 0 || own.Refused != 0 {
		t.Fatalf("of the other device: %+v, %v", own, err)
	}
	b.well()
	a.well()
	if a.state() != b.state() {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

// words returns those of the key that signs the device's exports.
func (d *device) words() string {
	d.t.Helper()
	sum, err := archive.Check(d.Export(d.t.Context(), serve.ExportOptions{}), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return archive.Words(sum.Key)
}

package node_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// envelopeFiles returns files below the folder of a device's envelope store.
func (d *device) envelopeFiles(pattern string) []string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.cfg.Home, "shelf", "*", filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		d.t.Fatal(pattern, found, err)
	}
	slices.Sort(found)
	return found
}

// member returns the name of a device in the wearer's space.
func member(d *device) string {
	d.t.Helper()
	l, err := keyring.Open(filepath.Join(d.cfg.Home, "keys"))
	if err != nil {
		d.t.Fatal(err)
	}
	return l.Member().String()
}

// turn flips a bit in the middle of a file.
func turn(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A broken envelope store is put aside and refilled, from two relays and from what can
// still be read of it. What existed only there, and had left the outbox, is stated again,
// so that every device has it.
func TestRepairOfEnvelopes(t *testing.T) {
	t.Parallel()
	first, second := serveRelay(t), serveRelay(t)
	a, b := newDevice(t, first.url, 71), newDevice(t, first.url, 72)
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	for _, d := range []*device{a, b} {
		if _, err := d.AddRelay(t.Context(), second.url); err != nil {
			t.Fatal(err)
		}
	}
	b.home("Ghent")
	b.well()
	a.well()
	own := func() (files []string) { // those of a, the oldest first
		for _, f := range a.envelopeFiles("deltas/*/*.delta") {
			if strings.Contains(f, member(a)) {
				files = append(files, f)
			}
		}
		return files
	}
	for name, harm := range map[string]func(){
		"the order":            func() { turn(t, a.envelopeFiles("order")[0]) },
		"an entry of the log":  func() { turn(t, a.envelopeFiles("log/*.entry")[0]) },
		"how a place stood":    func() { os.WriteFile(a.envelopeFiles("places/*.json")[0], []byte("{"), 0o600) },
		"a delta not sent yet": func() { f := own(); turn(t, f[len(f)-2]) },
		"all that was said here": func() {
			for _, f := range own() {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		},
		"everything": func() {
			for _, pattern := range []string{"order", "log/*", "places/*.json", "deltas/*/*.delta"} {
				for _, f := range a.envelopeFiles(pattern) {
					turn(t, f)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Three deltas that are in the envelope store, and nowhere else.
			online := a.offline()
			for _, what := range []string{"tea", "rain", "plums"} {
				a.tell("With "+name+" there was "+what+".", nil)
				if _, err := a.SyncNow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			online()
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			a.Node = nil
			harm()
			found := a.look()
			if !slices.ContainsFunc(found, func(f node.RepairedItem) bool { return strings.HasPrefix(f.Place, "shelf") }) {
				t.Errorf("it is not named: %+v", found)
			}
			r := a.repair()
			if !r.OK {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(filepath.Join(r.Aside, "shelf")); err != nil {
				t.Error(err)
			}
			if list, err := a.Relays(t.Context()); err != nil || len(list) != 2 || slices.ContainsFunc(list, func(s serve.Relay) bool { return s.Error != "" || s.Lacks > 0 }) {
				t.Errorf("%+v, %v", list, err)
			}
			a.well()
			b.well()
			if b.state() != a.state() || !strings.Contains(b.state(), name+" there was plums") || !strings.Contains(b.state(), name+" there was tea") {
				t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
			}
			b.tell("After "+name+" it was told.", nil)
			b.well()
			a.well()
			if b.state() != a.state() {
				t.Fatalf("afterwards: first\n%s\nsecond\n%s", a.state(), b.state())
			}
			if again := a.repair(); len(again.Findings) > 0 || !again.OK {
				t.Errorf("once more: %+v", again)
			}
		})
	}
}

// What another device said, and only this device's envelope store had, is named when it
// is lost.
func TestRepairNamesLostDeltasOfOthers(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 73), newDevice(t, relay.url, 74)
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	stick := t.TempDir()
	for _, d := range []*device{a, b} {
		if _, err := d.SyncFolder(t.Context(), stick); err != nil {
			t.Fatal(err)
		}
	}
	online := []func(){a.offline(), b.offline()}
	b.tell("Only on the stick.", nil)
	for _, d := range []*device{b, a} {
		if _, err := d.SyncFolder(t.Context(), stick); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(a.state(), "Only on the stick") {
		t.Fatal(a.state())
	}
	online[0]()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Node = nil
	for _, f := range a.envelopeFiles("deltas/*/*.delta") {
		if strings.Contains(f, member(b)) {
			turn(t, f)
		}
	}
	r := a.repair()
	if r.OK || !slices.ContainsFunc(r.Findings, func(f node.RepairedItem) bool {
		return f.Lost && strings.Contains(f.What, member(b)) && strings.Contains(f.What, "are nowhere that could be asked")
	}) {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(a.state(), "Only on the stick") {
		t.Error("the memory is gone with the delta")
	}
	online[1]()
	b.well()
	a.well()
	if a.state() != b.state() {
		t.Errorf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

// A pack that the relay lost is rebuilt from what was said of its memories, from the
// relay's deltas. The same with several relays, where the one that keeps packs lost them.
func TestRepairOfALostPack(t *testing.T) {
	for _, relays := range []int{1, 2} {
		dir := t.TempDir()
		relay := serveRelayIn(t, dir)
		d, _ := newWearable(t, relay.url, 12)
		if relays == 2 {
			if _, err := d.AddRelay(t.Context(), serveRelay(t).url); err != nil {
				t.Fatal(err)
			}
			d.well()
		}
		want := d.state()
		if a := d.cool(); a.Cold != 7 {
			t.Fatalf("%+v", a)
		}
		found, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		for _, f := range found {
			if err := os.RemoveAll(f); err != nil {
				t.Fatal(err)
			}
		}
		d.reopen()
		if r := d.find("kettle number 4"); r.Missing == 0 {
			t.Fatalf("%d relays: the pack is there: %+v", relays, r)
		}
		d.cfg.Hot.Records = 100
		if r := d.repair(); !r.OK || !slices.ContainsFunc(r.Findings, func(f node.RepairedItem) bool { return strings.HasPrefix(f.Place, "pack") }) {
			t.Errorf("%d relays: %+v", relays, r)
		}
		d.well()
		if got := d.state(); got != want {
			t.Errorf("%d relays: is\n%s\nwas\n%s", relays, got, want)
		}
		if s, err := d.Tiers(t.Context()); err != nil || s.Cold != 0 || s.Wanted != 0 {
			t.Errorf("%d relays: %+v, %v", relays, s, err)
		}
		if r := d.repair(); len(r.Findings) > 0 || !r.OK {
			t.Errorf("%d relays: once more: %+v", relays, r)
		}
	}
}

// A repair that was cut off before the new envelope store was in place, and whose relay
// is unreachable, continues where it stopped.
func TestRepairOfEnvelopesGoesOn(t *testing.T) {
	relay, other := serveRelay(t), serveRelay(t)
	a := newDevice(t, relay.url, 75)
	a.init()
	a.home("Berlin")
	a.well()
	if _, err := a.AddRelay(t.Context(), other.url); err != nil {
		t.Fatal(err)
	}
	online := a.offline()
	a.tell("Only here.", nil)
	a.sync()
	want := a.state()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Node = nil
	turn(t, a.envelopeFiles("order")[0])
	r := a.repair()
	if r.OK || r.Relay == "" || r.Aside == "" {
		t.Errorf("without a relay: %+v", r)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Node = nil
	if err := os.RemoveAll(filepath.Join(a.cfg.Home, "shelf")); err != nil {
		t.Fatal(err)
	}
	online()
	if r := a.repair(); !r.OK {
		t.Errorf("%+v", r)
	}
	a.well()
	if list, err := a.Relays(t.Context()); err != nil || len(list) != 2 || list[0].Lacks+list[1].Lacks > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if got := a.state(); got != want {
		t.Errorf("is\n%s\nwas\n%s", got, want)
	}
	if r := a.repair(); len(r.Findings) > 0 || !r.OK {
		t.Errorf("once more: %+v", r)
	}
}

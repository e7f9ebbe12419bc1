package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/pairing"
)

// A second relay is added, holds the same, and is enough when the first is down.
// The primary is moved there, the old relay is abandoned, and a device that knows
// only the new one has everything.
func TestMovePrimaryRelay(t *testing.T) {
	old, other := serveRelay(t), serveRelay(t)
	a, b := newDevice(t, old.url, 51), newDevice(t, old.url, 52)
	phrase := a.init()
	a.home("Berlin")
	kept := a.tell("The tram was late.", nil)
	a.well()
	a.pair(b)
	b.home("Ghent")
	b.well()

	if _, err := a.AddRelay(t.Context(), "ftp://nowhere"); !errors.Is(err, memory.ErrInvalid) {
		t.Fatal(err)
	}
	list, err := a.AddRelay(t.Context(), other.url)
	if err != nil || len(list) != 2 || list[0].URL != old.url || list[0].Kind != serve.RelayPrimary || list[1].Kind != serve.RelayMirror || list[1].Lacks != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := a.AddRelay(t.Context(), other.url); !errors.Is(err, serve.ErrConflict) {
		t.Fatal(err)
	}
	if _, err := b.AddRelay(t.Context(), other.url); err != nil {
		t.Fatal(err)
	}
	a.well()
	if a.state() != b.state() {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}

	old.stop() // they meet at the other one
	b.tell("The plums are ripe.", nil)
	if s := b.sync(); s.Error != "" || s.Pending != 0 {
		t.Fatalf("%+v", s)
	}
	a.sync()
	if !strings.Contains(a.state(), "plums") {
		t.Fatalf("one relay is down, and the other does not do: %s", a.state())
	}
	down := 0
	list, err = a.Relays(t.Context())
	for _, r := range list {
		if r.Error != "" {
			down++
		}
	}
	if err != nil || down != 1 || list[0].Error == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	report, err := a.Doctor(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f serve.Finding) bool { return f.Check != "sync" })
	if len(report.Findings) != 1 || report.Findings[0].Level != serve.LevelWarning || !strings.Contains(report.Findings[0].Detail, old.url) {
		t.Errorf("one of two relays is down: %+v", report.Findings)
	}

	key, _, err := (&share.Reader{Dir: t.TempDir(), Reserve: 1}).Key()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*device{a, b} {
		list, err := d.MoveRelay(t.Context(), other.url)
		if err != nil || list[0].URL != other.url {
			t.Fatalf("%+v, %v", list, err)
		}
		at := func(link string) {
			t.Helper()
			if relay, _, err := pairing.ParseLink(link); err != nil || relay != other.url {
				t.Errorf("%s, %v, want one of %s", link, err, other.url)
			}
		}
		if got := node.PrimaryRelay(&d.cfg); got != other.url {
			t.Errorf("the commands take %s", got)
		}
		if p, err := d.PairInvite(t.Context()); err != nil {
			t.Error(err)
		} else {
			at(p.Link)
		}
		if v, err := d.Services().Verifier.KnowsMarket(t.Context(), ""); err != nil || v.Market != other.url {
			t.Errorf("%+v, %v", v, err)
		}
		if s, err := d.CreateShare(t.Context(), serve.ShareRequest{Query: "plums", To: []string{"Ann=" + key}}); err != nil {
			t.Error(err)
		} else if l, err := share.ParseLink(s.Link); err != nil || l.Relay != other.url {
			t.Errorf("%+v, %v", l, err)
		}
		if list, err = d.RemoveRelay(t.Context(), old.url); err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if _, err := d.RemoveRelay(t.Context(), other.url); !errors.Is(err, serve.ErrConflict) {
			t.Fatal(err)
		}
		d.reopen()
	}
	if err := a.Delete(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	a.well()
	b.well()
	if a.state() != b.state() || strings.Contains(b.state(), "tram") {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
	c := newDevice(t, other.url, 53)
	if _, err := node.Recover(t.Context(), c.cfg, node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: other.url}, phrase); err != nil {
		t.Fatal(err)
	}
	c.open()
	c.well()
	if c.state() != a.state() {
		t.Fatalf("first\n%s\nrecovered at the new relay\n%s", a.state(), c.state())
	}
}

// An envelope store that can't be opened keeps nobody from the memories: sync is
// off and says why, and the envelope store is left untouched.
func TestDamagedEnvelopeStoreDisablesSync(t *testing.T) {
	relay := serveRelay(t)
	a := newDevice(t, relay.url, 56)
	a.cfg.Sync.Metered = config.MeteredYes // it has an envelope store
	a.init()
	a.home("Berlin")
	a.well()
	want := a.state()
	found, err := filepath.Glob(filepath.Join(a.cfg.Home, "shelf", "*", "order"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	whole, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte("half a li"), whole...)
	if err := os.WriteFile(found[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	a.reopen()
	if got := a.state(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s, err := a.SyncStatus(t.Context()); err != nil || !strings.Contains(s.Error, "sync is off") {
		t.Errorf("%+v, %v", s, err)
	}
	if r, err := a.Doctor(t.Context(), false); err != nil || r.OK || !slices.ContainsFunc(r.Findings, func(f serve.Finding) bool {
		return f.Check == "sync" && strings.Contains(f.Advice, "--repair")
	}) {
		t.Errorf("%+v, %v", r, err)
	}
	if b, err := os.ReadFile(found[0]); err != nil || string(b) != string(damaged) {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(found[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	a.tell("The tram was late.", nil)
	a.reopen()
	a.well()
}

// Two devices that no longer share a relay meet through a folder, one after the
// other, together with files that others put there: a file that is not one of
// their envelopes is named and left alone, and what was erased disappears from
// the folder.
func TestSyncByFolder(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 61), newDevice(t, relay.url, 62)
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	if _, err := a.SyncFolder(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SyncFolder(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	a.well() // the envelope stores hold what the relay has
	b.well()
	relay.stop()

	dir := t.TempDir()
	meet := func(d *device) serve.FolderSynced {
		t.Helper()
		s, err := d.SyncFolder(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	gone := a.tell("The key is under the mat.", nil)
	b.home("Ghent")
	meet(a)
	if s := meet(b); s.Took == 0 || s.Gave == 0 || len(s.Trouble) != 0 {
		t.Fatalf("%+v", s)
	}
	meet(a)
	if a.state() != b.state() || !strings.Contains(a.state(), "Ghent") || !strings.Contains(b.state(), "mat") {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
	before := sizes(t, dir)
	if err := a.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	meet(a)
	meet(b)
	if strings.Contains(b.state(), "mat") {
		t.Error("erased on the first, and here")
	}
	shrunk := 0
	for name, size := range sizes(t, dir) {
		if was, ok := before[name]; ok && size < was {
			shrunk++
		}
	}
	if shrunk == 0 {
		t.Error("the folder holds the bodies of what was erased")
	}

	// A folder with false contents.
	for _, f := range deltas(t, dir)[:1] {
		bytes, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		bytes[len(bytes)-1] ^= 1
		if err := os.WriteFile(f, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newDevice(t, "", 63)
	c.init()
	if _, err := c.PairInvite(t.Context()); !errors.Is(err, serve.ErrUnsupported) || !strings.Contains(err.Error(), "neither sync.relay nor sync.lan") {
		t.Error(err)
	}
	if _, err := c.SyncFolder(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, memory.ErrNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(c.cfg.Home, "shelf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there began an envelope store: %v", err)
	}
	if s, err := c.SyncFolder(t.Context(), dir); err != nil || s.Took != 0 { // of another wearer
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := a.SyncFolder(t.Context(), "here"); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}
	if _, err := a.SyncFolder(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, memory.ErrNotFound) {
		t.Error(err)
	}
	if a.state() != b.state() {
		t.Errorf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

func deltas(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "deltas", "*", "*.delta"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, f := range deltas(t, dir) {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = info.Size()
	}
	return out
}

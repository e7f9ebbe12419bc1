package node_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/zones"
)

// repair closes a device, repairs its home, and opens it again.
func (d *device) repair() node.Repaired {
	d.t.Helper()
	if d.Node != nil {
		if err := d.Close(); err != nil {
			d.t.Fatal(err)
		}
		d.Node = nil
	}
	r, err := node.Repair(d.t.Context(), d.cfg, node.Options{HTTP: &http.Client{Transport: d.net}}, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	d.open()
	return r
}

func (d *device) look() []node.RepairedItem {
	d.t.Helper()
	found, err := node.Inspect(d.t.Context(), d.cfg, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return found
}

// harm flips a bit in every so many bytes of files below the home, while the node is
// closed. The seed decides which bits.
func (d *device) harm(pattern string, every int) {
	d.t.Helper()
	rng := flipsOf(d.t)
	paths, err := filepath.Glob(filepath.Join(d.cfg.Home, pattern))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			d.t.Fatal(err)
		}
		for at := rng.IntN(every); at < len(b); at += every {
			b[at] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(p, b, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

var flipSeed = flag.Uint64("seed", 0, "which bits of files are turned; 0: others in each hour")

// flipsOf returns the source that chooses which bits are flipped, and writes its
// seed to the log.
func flipsOf(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *flipSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix() / 3600)
	}
	t.Logf("the bits that are turned are those of -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// What was synced is restored from the relay, whatever is left of the store.
func TestRepairFromTheRelay(t *testing.T) {
	t.Parallel()
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 11), newDevice(t, relay.url, 12)
	a.init()
	a.home("Berlin")
	a.said("The tram was late again.")
	gone := a.tell("The code word is heron.", nil)
	a.well()
	a.pair(b)
	b.well()
	b.home("Ghent")
	b.said("It rained in Ghent.")
	b.well()
	a.well()
	if err := a.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		a.tell("Plum tree number "+string(rune('a'+n))+" has fruit.", nil)
	}
	a.well()
	before := a.state()
	for name, harm := range map[string]func(){
		"bits of every page": func() { a.harm("store/records/*.sst", 97) },
		"tables are gone":    func() { removeAll(t, a.cfg.Home, "store/records/*.sst") },
		"the list is gone":   func() { removeAll(t, a.cfg.Home, "store/records/MANIFEST") },
		"the keys are gone":  func() { a.harm("store/records/KEYREGISTRY", 30) },
	} {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a.Node = nil
		harm()
		if found := a.look(); len(found) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		r := a.repair()
		if !allBack(&r) || len(r.Findings) == 0 || r.Aside == "" {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(filepath.Join(r.Aside, "store")); err != nil {
			t.Errorf("%s: what was damaged is not put aside: %v", name, err)
		}
		a.well()
		if got := a.state(); got != before {
			t.Errorf("%s: is\n%s\nwas\n%s", name, got, before)
		}
		// The device goes on working, and others accept what it says next.
		a.tell("After "+name+" there was tea.", nil)
		a.well()
		b.well()
		before = a.state()
		if b.state() != before {
			t.Fatalf("%s: first\n%s\nsecond\n%s", name, before, b.state())
		}
		if m, err := a.Get(t.Context(), gone); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: what was erased is back: %+v, %v", name, m, err)
		}
		if _, err := os.Stat(r.Aside); err != nil {
			t.Error(err)
		}
	}
	if found := a.repair(); len(found.Findings) > 0 || !found.OK {
		t.Errorf("a sound home: %+v", found)
	}
}

// allBack reports whether everything that others have is there again. What a member
// keeps only for itself, such as its progress, may be lost. Nobody keeps a photo
// here: a blob that is reported is another record whose key became a blob's by a
// flipped bit.
func allBack(r *node.Repaired) bool {
	return r.Relay == "" && !slices.ContainsFunc(r.Findings, func(f node.RepairedItem) bool {
		for _, kind := range []string{"assertion ", "utterance ", "memory "} {
			if f.Lost && strings.Contains(f.Place, "store: "+kind) {
				return true
			}
		}
		return false
	})
}

func removeAll(t *testing.T, home, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

// A store that was restored to an older day, with its anchor and without, gets
// everything back.
func TestRepairOfAFolderPutBack(t *testing.T) {
	relay := serveRelay(t)
	a := newDevice(t, relay.url, 13)
	a.init()
	a.home("Berlin")
	a.well()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(filepath.Join(a.cfg.Home, "store"))); err != nil {
		t.Fatal(err)
	}
	a.open()
	a.home("Ghent")
	a.tell("Plums are ripe.", nil)
	a.well()
	before := a.state()
	for _, with := range []string{"its anchor", "the anchor of today"} {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a.Node = nil
		store := filepath.Join(a.cfg.Home, "store")
		anchor, err := os.ReadFile(filepath.Join(store, "anchor"))
		if err = errors.Join(err, os.RemoveAll(store), os.CopyFS(store, os.DirFS(old))); err != nil {
			t.Fatal(err)
		}
		if with == "the anchor of today" {
			if err := os.WriteFile(filepath.Join(store, "anchor"), anchor, 0o600); err != nil {
				t.Fatal(err)
			}
			if found := a.look(); len(found) == 0 || !strings.Contains(found[0].What, "put back") {
				t.Errorf("%+v", found)
			}
			if r := a.repair(); len(r.Findings) == 0 || !allBack(&r) {
				t.Errorf("%+v", r)
			}
		} else {
			// Nothing on this disk shows it; the relay does.
			a.open()
			s := a.sync()
			if len(s.Problems) == 0 || !strings.Contains(s.Problems[0].Reason, "put back") {
				t.Errorf("that it was put back is not named: %+v", s)
			}
		}
		if got := a.state(); got != before {
			t.Errorf("with %s: is\n%s\nwas\n%s", with, got, before)
		}
		a.tell("With "+with+" it goes on.", nil)
		if s := a.sync(); s.Pending > 0 || s.Error != "" {
			t.Errorf("%+v", s)
		}
		before = a.state()
	}
}

// Without a relay, what can't be restored is listed, and nothing is made up.
func TestRepairAlone(t *testing.T) {
	a := newDevice(t, "", 14)
	a.init()
	for n := range 30 {
		a.tell("Plum tree number "+string(rune('a'+n))+" has fruit.", nil)
	}
	before := strings.Split(a.state(), "\n")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Node = nil
	a.harm("store/records/*.sst", 4001)
	r := a.repair()
	lost := 0
	for _, f := range r.Findings {
		if f.Lost {
			lost++
		}
	}
	after := strings.Split(a.state(), "\n")
	for _, m := range after {
		if m != "" && !slices.Contains(before, m) && !strings.Contains(m, `"state"`) {
			t.Errorf("made up: %s", m)
		}
	}
	if gone := len(before) - len(after); (gone > 0 || after[0] == "") && lost == 0 {
		t.Errorf("%d of %d are gone, %d listed", gone, len(before), lost)
	}
}

var flips = flag.Int("flips", 1, "of each file of a home in TestEveryFileOfAHome")

// Whichever bit of whichever file of a home is flipped: either the damage is found
// and named, and a repair fixes it or lists what is lost, or the home says what it
// said before.
func TestEveryFileOfAHome(t *testing.T) {
	a := newDevice(t, "", 15)
	a.init()
	a.home("Berlin")
	a.said("The tram was late again.")
	for n := range 8 {
		a.tell("Plum tree number "+string(rune('a'+n))+" has fruit.", nil)
	}
	if _, err := a.AddDevice(t.Context(), "pin"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AddZone(t.Context(), zones.Zone{Name: "night", Window: "23:00-06:00"}); err != nil {
		t.Fatal(err)
	}
	before := a.state()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Node = nil
	waitInJournal(t, a.cfg.Home)
	sound := os.DirFS(a.cfg.Home)
	if found := a.look(); len(found) > 0 {
		t.Fatalf("a sound home: %+v", found)
	}
	rng := flipsOf(t)
	named, harmless, tried := map[string]int{}, map[string]int{}, 0
	err := fs.WalkDir(sound, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(path, "cache/") || strings.HasSuffix(path, "lock") {
			return err
		}
		whole, err := fs.ReadFile(sound, path)
		if err != nil {
			return err
		}
		size := len(bytes.TrimRight(whole, "\x00"))
		for range *flips {
			if size == 0 {
				continue
			}
			tried++
			at, bit := rng.IntN(size), rng.IntN(8)
			d := newDevice(t, "", 16)
			if err := os.CopyFS(d.cfg.Home, sound); err != nil {
				return err
			}
			b := bytes.Clone(whole)
			b[at] ^= 1 << bit
			if err := os.WriteFile(filepath.Join(d.cfg.Home, path), b, 0o600); err != nil {
				return err
			}
			if found := d.look(); len(found) > 0 {
				named[filepath.Dir(path)]++
				if all := (node.Repaired{Findings: found}); !names(&all, path) {
					t.Errorf("%s, byte %d: is not named: %+v", path, at, found)
				}
				if r := d.repair(); d.state() != before && !slices.ContainsFunc(r.Findings, func(f node.RepairedItem) bool { return f.Lost }) {
					t.Errorf("%s, byte %d: not right after a repair, and nothing is listed: %+v", path, at, r)
				}
			} else {
				harmless[filepath.Dir(path)]++
				d.open()
			}
			if got := d.state(); got != before && len(got) > len(before) {
				t.Errorf("%s, byte %d: says\n%s\nsaid\n%s", path, at, got, before)
			}
			if err := d.Close(); err != nil {
				t.Errorf("%s, byte %d: %v", path, at, err)
			}
			d.Node = nil
			if left := d.look(); len(left) > 0 {
				t.Errorf("%s, byte %d: is left %+v", path, at, left)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(tried, "flips; named:", named, "harmless:", harmless)
	for _, dir := range []string{"keys", "keys/spare", "store/records", "journal", "."} {
		if named[dir] == 0 {
			t.Errorf("nothing was found in %s", dir)
		}
	}
}

// names reports whether a finding is about a file, or a record in it.
func names(r *node.Repaired, path string) bool {
	base, top := filepath.Base(path), strings.SplitN(path, "/", 2)[0]
	return slices.ContainsFunc(r.Findings, func(f node.RepairedItem) bool {
		return strings.Contains(f.Place+" "+f.What, base) || top == "journal" && f.Place == "journal" || base == "anchor" && strings.Contains(f.Place, "anchor") ||
			strings.HasPrefix(path, "store/blobs/") && strings.Contains(f.Place, "blob")
	})
}

// waitInJournal writes waiting events, as a locked node would.
func waitInJournal(t *testing.T, home string) {
	t.Helper()
	keys, err := keyring.Open(filepath.Join(home, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // segments
		j, err := journal.Open(filepath.Join(home, "journal"), keys.JournalRecipient(), journal.Options{Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := j.Append(t.Context(), bytes.Repeat([]byte("x"), 50)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

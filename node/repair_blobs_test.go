package node

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A photo that the relay lost, or holds damaged, is sent again by a device that has it. A
// device that does not have it names it, and gets it afterwards.
func TestRepairRestoresPhotos(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.settings("one"), w.settings("two")
	phrase, err := Init(one, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	a := w.open(one, 0)
	pictures := map[memory.ID]string{}
	for _, of := range []string{"plum", "pear", "wren"} {
		picture := strings.Repeat(of, 20_000)
		pictures[photograph(t, a, picture)] = picture
	}
	w.sync(a)
	if _, err := Recover(ctx, two, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: two.Sync.Relay}, phrase); err != nil {
		t.Fatal(err)
	}
	b := w.open(two, 0)
	w.sync(b)
	blobs := func() []string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(w.dir, "blobs", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	files := blobs()
	if len(files) != len(pictures) {
		t.Fatal(files)
	}
	altered, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for i := range altered {
		altered[i] ^= 1
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[1], altered, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[2], 1000); err != nil {
		t.Fatal(err)
	}
	o, release, err := a.use()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files { // sync checks it too, and goes on
		var id envelope.Hash
		if err := id.UnmarshalText([]byte(filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
		if err := o.sync.Journal().RecordDoubt(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	release()
	repair := func(n **Node, home string) Repaired {
		t.Helper()
		cfg := one
		if home == "two" {
			cfg = two
		}
		if err := (*n).Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Repair(ctx, cfg, Options{HTTP: http.DefaultClient}, nil)
		if err != nil {
			t.Fatal(err)
		}
		*n = w.open(cfg, 0)
		return r
	}
	// The second device has none of them: it can't compare them, so it names those that are
	// missing.
	if r := repair(&b, "two"); r.OK || !slices.ContainsFunc(r.Findings, func(f RepairedItem) bool { return f.Lost && strings.Contains(f.What, "another device") }) {
		t.Errorf("%+v", r)
	}
	r := repair(&a, "one")
	sent := 0
	for _, f := range r.Findings {
		if f.Done == "sent again" {
			sent++
		}
	}
	if !r.OK || sent != 3 {
		t.Errorf("%d sent again: %+v", sent, r)
	}
	if found := blobs(); len(found) != 3 {
		t.Error(found)
	}
	for id, want := range pictures {
		m, err := b.Media(ctx, id)
		if err != nil {
			t.Errorf("%.4s: %v", want, err)
			continue
		}
		var got bytes.Buffer
		_, err = got.ReadFrom(m.Body)
		if m.Body.Close(); err != nil || got.String() != want {
			t.Errorf("%.4s: %d other bytes, %v", want, got.Len(), err)
		}
	}
	for name, n := range map[string]**Node{"one": &a, "two": &b} {
		if r := repair(n, name); !r.OK || len(r.Findings) > 0 {
			t.Errorf("%s once more: %+v", name, r)
		}
	}
}

// A photo for which the relay has no room does not keep a repair from fetching another.
func TestRepairWhileAPhotoWaits(t *testing.T) {
	w := newWorldOf(t, relay.Config{Quota: relay.Quota{Bytes: 200_000}})
	cfg := w.settings("one")
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	a := w.open(cfg, 0)
	small := photograph(t, a, "plum")
	w.sync(a)
	files, err := filepath.Glob(filepath.Join(cfg.Home, "store", "blobs", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	photograph(t, a, strings.Repeat("pear", 100_000))
	if s, err := a.SyncNow(t.Context()); err != nil || s.Pending != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := errors.Join(a.Close(), os.Remove(files[0])); err != nil {
		t.Fatal(err)
	}
	r, err := Repair(t.Context(), cfg, Options{HTTP: http.DefaultClient}, nil)
	if err != nil || !r.OK || !slices.ContainsFunc(r.Findings, func(f RepairedItem) bool { return f.Done == "fetched from the relay" }) {
		t.Errorf("%+v, %v", r, err)
	}
	a = w.open(cfg, 0)
	m, err := a.Media(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	_, err = got.ReadFrom(m.Body)
	if m.Body.Close(); err != nil || got.String() != "plum" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

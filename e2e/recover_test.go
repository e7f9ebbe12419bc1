package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// changes returns the history of a memory, as text without its numbers.
func (h *home) changes(id string) (out []string) {
	h.t.Helper()
	for line := range strings.Lines(h.must("--json", "history", id)) {
		var c memory.Change
		mustParse(h.t, line, &c)
		out = append(out, string(c.Verdict)+" "+c.Old+" > "+c.New+" "+c.Reason)
	}
	return out
}

// pictures returns the bytes of all blobs that a home exports.
func (h *home) pictures() map[string][]byte {
	h.t.Helper()
	out := map[string][]byte{}
	for line := range strings.Lines(h.must("export")) {
		var r record
		mustParse(h.t, line, &r)
		if r.Kind != archive.KindBlob {
			continue
		}
		var p struct {
			Name string
			Data []byte
		}
		mustParse(h.t, string(r.Data), &p)
		out[p.Name] = append(out[p.Name], p.Data...)
	}
	return out
}

// secret shows the one secret in the vault.
func (h *home) secret() (id, value string) {
	h.t.Helper()
	line := strings.TrimSpace(h.must("--json", "list", "--type", "vault"))
	var m memory.Memory
	mustParse(h.t, line, &m)
	var r struct{ Secret string }
	out, errs, code := h.try("--json", "vault", "show", m.ID.String())
	if code != 0 {
		return m.ID.String(), errs
	}
	mustParse(h.t, out, &r)
	return m.ID.String(), r.Secret
}

// The only device is lost, with everything on it. From the 24 words and the relay's address a new
// one is made, and has everything that was synced: memories with their histories, what was said, a
// photo's bytes, pins, and the content of the vault. What was forgotten stays forgotten.
func TestRecoveryFromThePhrase(t *testing.T) {
	r := newRelay(t)
	lost, phrase := initPhrase(t, "lost", r.url)
	lost.run = append(lost.run, "--set", "sync.vault=true")
	d := lost.start()
	moved, dentist := lost.remember("I moved to Suzhou last week."), lost.remember("My dentist is Dr. Wu.")
	debt := lost.remember("I owe Bo 40 euros.")
	// An hour ago, because a photo that was taken while a secret was told would not be synced.
	earlier := filepath.Join(t.TempDir(), "earlier.jsonl")
	line, err := json.Marshal(map[string]string{"at": time.Now().Add(-time.Hour).Format(time.RFC3339), "kind": "text", "device": "pin", "speaker": "Ana", "lang": "en", "text": "My door code is 4711."})
	if err == nil {
		err = os.WriteFile(earlier, line, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	lost.must("replay", earlier)
	lost.must("add", "My sister Mei plays the cello.")
	lost.must("replay", filepath.Join("..", "testdata", "day", "note.png"))
	lost.must("pin", moved)
	lost.must("update", dentist, "--text", "My dentist is Dr. Wang.", "--reason", "misheard")
	lost.synced()
	lost.must("delete", debt, "--yes")
	lost.synced()
	_, code := lost.secret()
	if !strings.Contains(code, "4711") {
		t.Fatalf("the vault holds %q", code)
	}
	have, history, said := lost.holdings(), lost.changes(dentist), lost.utterances()
	if err := d.stop(t); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(lost.dir); err != nil {
		t.Fatal(err)
	}

	found := &home{t: t, dir: filepath.Join(t.TempDir(), "found"), run: []string{"--set", "sync.relay=" + r.url, "--set", "sync.vault=true"}}
	if err := os.MkdirAll(found.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	found.ask(phrase+"\n", "recover", "--relay", r.url, "--key-file")
	found.run = append(found.run, "--set", "broker.listen=127.0.0.1:0", "--set", "disk.reserve=32MB")
	found.start()
	found.synced()
	// A photo is downloaded when it is needed, here or by an export.
	note, err := os.ReadFile(filepath.Join("..", "testdata", "day", "note.png"))
	if err != nil {
		t.Fatal(err)
	}
	var tiers serve.Tiers
	if found.mustJSON(&tiers, "tiers"); tiers.Media != 0 {
		t.Errorf("%d blobs came unasked", tiers.Media)
	}
	if fetched := found.must("fetch", "--all"); strings.TrimSpace(fetched) == "" {
		t.Error("nothing was fetched")
	}
	if found.mustJSON(&tiers, "tiers"); tiers.Media == 0 {
		t.Error("what was fetched is not here")
	}
	back := false
	for _, b := range found.pictures() {
		back = back || bytes.Equal(b, note)
	}
	if !back {
		t.Error("the photo did not come back")
	}

	if got := found.holdings(); !maps.Equal(got, have) {
		t.Errorf("of what was said, only on the lost %s\nonly on the new %s", less(have, got), less(got, have))
	}
	if got := found.changes(dentist); !slices.Equal(got, history) {
		t.Errorf("the history of a memory was %q, is %q", history, got)
	}
	if got := found.utterances(); len(said) == 0 || len(got) != len(said) {
		t.Errorf("%d lines were heard, %d are back", len(said), len(got))
	}
	var m memory.Memory
	found.mustJSON(&m, "get", moved)
	if !m.Pinned {
		t.Errorf("what was pinned is %+v", m)
	}
	if out, _, code := found.try("get", debt); code == 0 {
		t.Errorf("what was forgotten is back: %s", out)
	}
	if list := found.must("list", "--state", "all"); strings.Contains(list, "40 euros") {
		t.Errorf("what was forgotten is back: %s", list)
	}

	// The vault opens with the words, and afterwards without.
	id, why := found.secret()
	if strings.Contains(why, "4711") {
		t.Error("a device that has never had the secret opens it without the words")
	}
	wrong := strings.Repeat("abandon ", 23) + "art"
	if out := found.refuse(wrong+"\n", "vault", "recover"); strings.Contains(out, "ecovered") {
		t.Errorf("other words open the vault: %s", out)
	}
	var v serve.VaultRecovered
	if err := json.Unmarshal([]byte(found.ask(phrase+"\n", "--json", "vault", "recover")), &v); err != nil || v.Recovered != 1 || v.Lost != 0 {
		t.Errorf("vault recover: %+v, %v", v, err)
	}
	if again, secret := found.secret(); again != id || secret != code {
		t.Errorf("the secret was %q, is %q", code, secret)
	}
	found.synced()
	space := r.reads(phrase)
	space.holds(found)
}

// refuse runs a command with input, which has to fail.
func (h *home) refuse(input string, args ...string) string {
	h.t.Helper()
	out, err := h.tryAsk(input, args...)
	if err == nil {
		h.t.Errorf("locket %s succeeds: %s", strings.Join(args, " "), out)
	}
	return out
}

package installed

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

var module = []byte("\x00asm\x01\x00\x00\x00")

// testKey is the home's.
var testKey = seal.NewKey()

func pack(t *testing.T, version, more string, key ed25519.PrivateKey) *Package {
	t.Helper()
	p := &Package{Module: module, Agreed: []string{"sees text"}}
	text := fmt.Sprintf("id = \"ana/likes\"\nversion = %q\nabi = 1\nkinds = [\"text\"]\n%s\n", version, more)
	if key == nil {
		p.Manifest, p.Unsigned = []byte(text), true
		return p
	}
	text += fmt.Sprintf("sha256 = %q\npublisher = %q\n", hash(p.Module), hex.EncodeToString(key.Public().(ed25519.PublicKey)))
	p.Manifest = []byte(text)
	var err error
	if p.Signature, err = wasm.SignManifest(p.Manifest, key); err != nil {
		t.Fatal(err)
	}
	return p
}

func put(t *testing.T, f *Folder, p *Package) Entry {
	t.Helper()
	m, _, err := Admit(p, f.Home(nil))
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := f.Put(*p, &m, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAdmit tests everything that somebody between the author and the home may do.
func TestAdmit(t *testing.T) {
	_, key, _ := ed25519.GenerateKey(nil)
	_, other, _ := ed25519.GenerateKey(nil)
	var nothing trust.Home
	pinned := trust.Home{
		Pins:   map[string]trust.Pin{"ana/likes": {Publisher: hex.EncodeToString(key.Public().(ed25519.PublicKey)), Version: "1.1.0", SHA256: hash(module)}},
		Agreed: map[string][]string{"ana/likes": {"sees text"}},
	}
	for _, c := range []struct {
		name string
		p    *Package
		home trust.Home
		want error
	}{
		{"good", pack(t, "1.0.0", "", key), nothing, nil},
		{"upgrade", pack(t, "1.2.0", "", key), pinned, nil},
		{"the same again", pack(t, "1.1.0", "", key), pinned, nil},
		{"agreed to before", func() *Package { p := pack(t, "1.2.0", "", key); p.Agreed = nil; return p }(), pinned, nil},
		{"not agreed", func() *Package { p := pack(t, "1.0.0", "", key); p.Agreed = nil; return p }(), nothing, ErrNotAgreed},
		{"a new capability", pack(t, "1.2.0", "capabilities = [\"context\"]", key), pinned, ErrNotAgreed},
		{"another key", pack(t, "1.2.0", "", other), pinned, ErrRefused},
		{"no key any more", pack(t, "1.2.0", "", nil), pinned, ErrRefused},
		{"older", pack(t, "1.0.9", "", key), pinned, ErrRefused},
		{"a preview of what is there", pack(t, "1.1.0-rc.1", "", key), pinned, ErrRefused},
		{"nobody signed", func() *Package { p := pack(t, "1.0.0", "", nil); p.Unsigned = false; return p }(), nothing, ErrRefused},
		{"another module", func() *Package { p := pack(t, "1.0.0", "", key); p.Module = append(p.Module, 0); return p }(), nothing, wasm.ErrHash},
		{"a changed manifest", func() *Package { p := pack(t, "1.0.0", "", key); p.Manifest = append(p.Manifest, '\n'); return p }(), nothing, ErrRefused},
		{"another's signature", func() *Package {
			p := pack(t, "1.0.0", "", key)
			p.Signature = pack(t, "1.0.0", "", other).Signature
			return p
		}(), nothing, ErrRefused},
		{"no signature", func() *Package { p := pack(t, "1.0.0", "", key); p.Signature = nil; return p }(), nothing, ErrRefused},
		{"no manifest", &Package{Manifest: []byte("id = 3"), Module: module}, nothing, wasm.ErrManifest},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := Admit(c.p, c.home); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestInstalledSurvivesARestart: what is installed is there again after a restart, until it is removed; and an
// upgrade leaves one version.
func TestInstalledSurvivesARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f, err := Open(dir, testKey)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := ed25519.GenerateKey(nil)
	first := put(t, f, pack(t, "1.0.0", "", key))
	// Other entries with an @ in the name, in a folder that the wearer chose, are not
	// Locket's.
	own := filepath.Join(dir, "wasm@latest")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	p := pack(t, "1.1.0", "", key)
	m, _, err := Admit(p, f.Home(nil))
	if err != nil {
		t.Fatal(err)
	}
	second, was, err := f.Put(*p, &m, time.Now())
	if err != nil || was == nil || was.Folder != first.Folder {
		t.Fatalf("%+v, %v", was, err)
	}
	if err := f.Set("ana/likes", true, true); err != nil {
		t.Fatal(err)
	}
	if err := f.Set("facts", true, false); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(dir, testKey); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, first.Folder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old version's files: %v", err)
	}
	if err := os.Remove(own); err != nil {
		t.Errorf("the wearer's folder: %v", err)
	}
	e, err := f.Get("ana/likes")
	if err != nil || e.Folder != second.Folder || !e.Off || !e.Faulted || !f.IsOff("facts") {
		t.Errorf("%+v, %v", e, err)
	}
	got, _, err := f.ManifestOf(e)
	if err != nil || got.Version != "1.1.0" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := f.Remove("ana/likes"); err != nil {
		t.Fatal(err)
	}
	if err := f.Drop(e); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get("ana/likes"); !errors.Is(err, memory.ErrNotFound) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 { // the record and the pins, and their copies
		t.Errorf("left: %v", left)
	}
}

// TestChangedOnDisk: a file that differs from what was installed is refused.
func TestChangedOnDisk(t *testing.T) {
	f, err := Open(t.TempDir(), testKey)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := ed25519.GenerateKey(nil)
	e := put(t, f, pack(t, "1.0.0", "", key))
	for name, read := range map[string]func() error{
		moduleFile:    func() error { _, err := f.Module(e); return err },
		manifestFile:  func() error { _, _, err := f.ManifestOf(e); return err },
		signatureFile: func() error { _, _, err := f.ManifestOf(e); return err },
	} {
		path := filepath.Join(f.dir, e.Folder, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b[len(b)-1] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if read() == nil {
			t.Errorf("%s was changed, and taken", name)
		}
		b[len(b)-1] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPinsSurviveRemoval: the key that may publish a plugin stays known when the plugin is
// removed, and after a restart, until the wearer unpins it.
func TestPinsSurviveRemoval(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir, testKey)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := ed25519.GenerateKey(nil)
	_, other, _ := ed25519.GenerateKey(nil)
	put(t, f, pack(t, "1.0.0", "", key))
	if err := f.Unpin("ana/likes"); !errors.Is(err, ErrRefused) {
		t.Errorf("unpinned while installed: %v", err)
	}
	if _, err := f.Remove("ana/likes"); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(dir, testKey); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Admit(pack(t, "2.0.0", "", other), f.Home(nil)); !errors.Is(err, trust.ErrPublisher) {
		t.Errorf("another key after a removal: %v", err)
	}
	if _, _, err := Admit(pack(t, "0.9.0", "", key), f.Home(nil)); !errors.Is(err, trust.ErrDowngrade) {
		t.Errorf("an older one after a removal: %v", err)
	}
	if err := f.Unpin("ana/likes"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Admit(pack(t, "0.9.0", "", other), f.Home(nil)); err != nil {
		t.Errorf("after unpinning: %v", err)
	}
	if err := f.Unpin("ana/likes"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("unpinned twice: %v", err)
	}
}

// TestSealed: a record that somebody without the key wrote is refused and reported,
// although its checksum is right; so is one of the two files without the other.
func TestSealed(t *testing.T) {
	_, key, _ := ed25519.GenerateKey(nil)
	_, mallory, _ := ed25519.GenerateKey(nil)
	for name, change := range map[string]func(t *testing.T, dir string) error{
		"another's plugin": func(t *testing.T, dir string) error {
			f, err := Open(t.TempDir(), seal.NewKey())
			if err != nil {
				t.Fatal(err)
			}
			p := pack(t, "1.0.0", "", mallory)
			put(t, f, p)
			return os.CopyFS(filepath.Join(dir, "new"), os.DirFS(f.dir))
		},
		"agreed to more": func(_ *testing.T, dir string) error {
			return edit(dir, recordFile, `"agreed": [`, `"agreed": ["context", `)
		},
		"another pin": func(_ *testing.T, dir string) error {
			return edit(dir, pinsFile, `"version": "1.0.0"`, `"version": "0.0.1"`)
		},
		"no record": func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, recordFile)) },
		"no pins":   func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, pinsFile)) },
		"no pins, and no plugins": func(_ *testing.T, dir string) error {
			f, err := Open(dir, testKey)
			if err == nil {
				_, err = f.Remove("ana/likes")
			}
			return errors.Join(err, os.Remove(filepath.Join(dir, pinsFile)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, err := Open(dir, testKey)
			if err != nil {
				t.Fatal(err)
			}
			put(t, f, pack(t, "1.0.0", "", key))
			if found := Check(dir, testKey); len(found) > 0 {
				t.Fatal(found)
			}
			if err := change(t, dir); err != nil {
				t.Fatal(err)
			}
			if name == "another's plugin" {
				for _, n := range []string{recordFile, pinsFile} {
					if err := os.Rename(filepath.Join(dir, "new", n), filepath.Join(dir, n)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := Open(dir, testKey); !errors.Is(err, atomicfile.ErrUnsealed) && !errors.Is(err, ErrGone) {
				t.Errorf("opened: %v", err)
			}
			found := Check(dir, testKey)
			if len(found) == 0 || found[0].Name != recordFile && found[0].Name != pinsFile {
				t.Errorf("named: %v", found)
			}
		})
	}
}

// edit changes a file like somebody who knows how its checksum is made.
func edit(dir, name, from, to string) error {
	path := filepath.Join(dir, name)
	b, err := atomicfile.ReadChecked(path)
	if err != nil {
		return err
	}
	changed := strings.Replace(string(b), from, to, 1)
	if changed == string(b) {
		return fmt.Errorf("%s has no %q: %s", name, from, b)
	}
	return atomicfile.WriteChecked(path, []byte(changed))
}

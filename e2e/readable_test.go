package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is said is in no file, as words or as stems, while the daemon runs and afterwards, including
// index, journal and temporary files. The same search finds all of it with a locket that seals
// nothing, which is built here from altered sources: no setting and no release does that.
func TestNothingReadableOnDisk(t *testing.T) {
	// Values are compressed before they are sealed, so words that are never repeated stay whole,
	// and sentences may not.
	words := []string{"zwibbeling", "zwibbel", "quokkazebra"}
	live := func(t *testing.T) (found []string) {
		h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
		h.configure()
		temp := t.TempDir()
		h.env = []string{"TMPDIR=" + temp}
		look := func() {
			for _, dir := range []string{h.dir, temp} {
				found = append(found, filesHold(t, dir, words)...)
			}
		}
		h.must("init", "--key-file", "--no-check")
		d := h.start()
		h.must("add", "--speaker", "Ana", "The zwibbeling kettle lives in Lisbon.")
		h.must("add", "--speaker", "Ana", "My sister's name is Quokkazebra.")
		h.eventually("an answer", func(s string) bool { return strings.Contains(s, "kettle") }, "search", "where does the zwibbeling kettle live")
		look()
		if err := d.stop(t); err != nil { // this writes the index
			t.Fatal(err)
		}
		look()
		return found
	}
	t.Run("sealed", func(t *testing.T) {
		if found := live(t); found != nil {
			t.Errorf("in clear: %v", found)
		}
	})
	t.Run("in clear", func(t *testing.T) {
		sealed := bin
		t.Cleanup(func() { bin = sealed })
		bin = buildInClear(t)
		found := live(t)
		for _, w := range words {
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasSuffix(f, " holds "+w) }) {
				t.Errorf("nothing is sealed, and the search does not find %q", w)
			}
		}
		// The index only has stems.
		if !slices.ContainsFunc(found, func(f string) bool {
			file, stem := strings.CutSuffix(f, " holds zwibbel")
			return stem && !slices.Contains(found, file+" holds zwibbeling")
		}) {
			t.Errorf("nothing is sealed, and no file has the stem alone: %v", found)
		}
	})
}

// buildInClear builds a locket whose seals are only checksums, and returns its folder.
func buildInClear(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	put := func(name, text string) {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, name)] = path
	}
	alter := func(name, from, to string) {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), from) {
			t.Fatalf("%s has no %q any more", name, from)
		}
		put(name, strings.ReplaceAll(string(b), from, to))
	}
	alter("crypto/seal/value.go", "chacha20poly1305.NewX(k.use())", "inClear{}, error(nil)")
	alter("crypto/seal/stream.go", "chacha20poly1305.New(b)", "inClear{}, error(nil)")
	alter("memory/store/disk.go", "WithEncryptionKey(key)", "WithEncryptionKey(nil)")
	put("crypto/seal/inclear.go", `package seal

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
)

// inClear is a cipher.AEAD that hides nothing.
type inClear struct{}

func (inClear) NonceSize() int { return 24 }
func (inClear) Overhead() int  { return 16 }

func (inClear) sum(nonce, plain, ad []byte) []byte {
	s := sha256.Sum256(slices.Concat(nonce, ad, plain))
	return s[:16]
}

func (c inClear) Seal(dst, nonce, plain, ad []byte) []byte {
	sum := c.sum(nonce, plain, ad)
	return append(append(dst, plain...), sum...)
}

func (c inClear) Open(dst, nonce, sealed, ad []byte) ([]byte, error) {
	if len(sealed) < 16 {
		return nil, ErrOpen
	}
	plain := sealed[:len(sealed)-16]
	if subtle.ConstantTimeCompare(c.sum(nonce, plain, ad), sealed[len(plain):]) != 1 {
		return nil, ErrOpen
	}
	return append(dst, plain...), nil
}
`)
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "bin")
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", out+"/", "../cmd/locket")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build one that seals nothing: %v\n%s", err, text)
	}
	return out
}

package keyring

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
)

// use opens everything that a ring has, with the wrap in file, if any.
func use(t *testing.T, dir, file string) error {
	u := KeyFile("")
	if file == WrapPassphrase.file() {
		u = Passphrase("p")
	}
	r, err := unlock(t, dir, u)
	if err != nil {
		return err
	}
	_, err = r.OpenVault(ctx, u, time.Minute)
	return err
}

func damageable(t *testing.T) (dir string, files []string) {
	dir, r, _ := byFile(t)
	if err := r.ChangePassphrase(ctx, KeyFile(""), "p"); err != nil {
		t.Fatal(err)
	}
	return dir, []string{publicFile, ringFile, vaultFile, WrapPassphrase.file(), WrapKeyFile.file(), DefaultKeyFile}
}

func TestEveryDamageIsNamed(t *testing.T) {
	dir, files := damageable(t)
	for _, name := range files {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, b []byte) {
			t.Helper()
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := use(t, dir, name); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%s, %s: %v, want ErrDamaged and the file's name", name, what, err)
			}
		}
		for bit := range len(whole) * 8 {
			if at := bit / 8; bit%8 != at%8 || at > 110 && at%11 != 0 {
				continue // one bit of each byte, and fewer further in: the checksum treats them all alike
			}
			b := bytes.Clone(whole)
			b[bit/8] ^= 1 << (bit % 8)
			try("a flipped bit", b)
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/20 {
			try("cut short", whole[:n])
		}
		try("longer", append(bytes.Clone(whole), '\n'))
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(t, dir, name); err != nil {
			t.Fatalf("%s put back: %v", name, err)
		}
	}
}

// rewrite changes a file as somebody would who knows the format: with a valid checksum.
func rewrite(t *testing.T, dir, name string, change func(body []byte) []byte) {
	t.Helper()
	body, err := readFile(filepath.Join(dir, name), name)
	if err == nil {
		err = writeFile(filepath.Join(dir, name), name, change(body))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSwappedPublicKeyIsFoundAndNamed(t *testing.T) {
	for field, change := range map[string]func(p, o *Public){
		"journal":  func(p, o *Public) { p.Journal = o.Journal },
		"vault":    func(p, o *Public) { p.Vault = o.Vault },
		"pair":     func(p, o *Public) { p.Pair = o.Pair },
		"recovery": func(p, o *Public) { p.Recovery = o.Recovery },
		"root":     func(p, o *Public) { p.Root = o.Root },
		"device":   func(p, o *Public) { p.Device = o.Device },
		"space":    func(p, o *Public) { p.Space = o.Space },
		"member":   func(p, o *Public) { p.Member = o.Member },
		"created":  func(p, o *Public) { p.Created = p.Created.Add(time.Hour) },
	} {
		dir, _, _ := byFile(t)
		_, other, _ := byFile(t)
		rewrite(t, dir, publicFile, func(body []byte) []byte {
			p := new(Public)
			if err := json.Unmarshal(body, p); err != nil {
				t.Fatal(err)
			}
			change(p, other.Public())
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		if _, err := Open(dir); err != nil {
			t.Errorf("%s: a locked ring can't know: %v", field, err)
		}
		_, err := unlock(t, dir, KeyFile(""))
		if !errors.Is(err, ErrSwapped) || !strings.Contains(err.Error(), publicFile) || !strings.Contains(err.Error(), `"`+field+`"`) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Files of another ring, which are valid by themselves, are detected.
func TestAnotherRingsFile(t *testing.T) {
	dir, files := damageable(t)
	other, _ := damageable(t)
	for _, name := range files {
		own, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		foreign, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), foreign, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(t, dir, name); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrSwapped) && !errors.Is(err, ErrWrongKey) {
			t.Errorf("%s of another ring: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), own, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForgedSealsAndContents(t *testing.T) {
	dir, _ := damageable(t)
	for _, name := range []string{ringFile, vaultFile} {
		whole, _ := os.ReadFile(filepath.Join(dir, name))
		for at := range 60 {
			rewrite(t, dir, name, func(body []byte) []byte {
				b := bytes.Clone(body)
				b[at] ^= 0x10
				return b
			})
			if err := use(t, dir, name); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, _ := os.ReadFile(filepath.Join(dir, publicFile))
	for _, bad := range []string{"", "{}", "null", `{"ring":"00"}`, "[1]", `{"unknown":1}`} {
		rewrite(t, dir, publicFile, func([]byte) []byte { return []byte(bad) })
		if _, err := Open(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("public %q: %v", bad, err)
		}
		_ = os.WriteFile(filepath.Join(dir, publicFile), whole, 0o600)
	}
}

// A wrap that asks for 2^19 rounds or more is refused before it is computed.
func TestWorkFactorIsCapped(t *testing.T) {
	dir, _ := damageable(t)
	for _, factor := range []string{"19", "22", "30"} {
		rewrite(t, dir, WrapPassphrase.file(), func(body []byte) []byte {
			line, rest, _ := bytes.Cut(body, []byte("\n"))
			stanza, rest, _ := bytes.Cut(rest, []byte("\n"))
			f := bytes.Fields(stanza) // -> scrypt SALT FACTOR
			f[3] = []byte(factor)
			return bytes.Join([][]byte{line, bytes.Join(f, []byte(" ")), rest}, []byte("\n"))
		})
		err := use(t, dir, WrapPassphrase.file())
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "work factor too large") {
			t.Errorf("factor %s: %v", factor, err)
		}
	}
}

func TestKeyFileContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	for _, bad := range []string{"", "zz", strings.Repeat("0", 62), strings.Repeat("0", 66)} {
		if err := writeFile(path, DefaultKeyFile, []byte(bad)); err != nil {
			t.Fatal(err)
		}
		if _, err := readKeyFile(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Files of version 1 can still be opened.
func TestGolden(t *testing.T) {
	r, err := unlock(t, filepath.Join("testdata", "v1"), KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Public().Ring.String(); got != goldenRing {
		t.Errorf("ring %s", got)
	}
	v, err := r.OpenVault(ctx, KeyFile(""), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := base64.StdEncoding.DecodeString(goldenSecret)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := v.Open(secret); err != nil || string(b) != "4711" {
		t.Errorf("secret %q, %v", b, err)
	}
	if err := r.CheckPhrase(goldenPhrase); err != nil {
		t.Errorf("phrase: %v", err)
	}
	if k, ok := r.Key("epoch/1"); !ok || k.Equal(seal.NewKey()) {
		t.Error("named key")
	}
	p, err := unlock(t, filepath.Join("testdata", "v1"), Passphrase("golden"))
	if err != nil || !p.StoreKey().Equal(r.StoreKey()) {
		t.Errorf("by passphrase: %v", err)
	}
}

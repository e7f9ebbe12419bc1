package main

import (
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// released makes a release with an archive for this machine, signed by a test key. In it, locket is
// a script.
func released(t *testing.T, version string) (r *making, key minisign.PrivateKey) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Fatal("the tests of packages run on linux/amd64")
	}
	public, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := public.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write(t, filepath.Join(root, publicKey), string(text)+"\n")
	write(t, filepath.Join(root, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n### In two minutes\n\nIt is new.\n\n### The node\n- more\n")
	script := filepath.Join(root, "locket")
	write(t, script, "#!/bin/sh\necho released\n")
	r = &making{source: source{root: root, version: version}, work: t.TempDir(), out: t.TempDir(), log: io.Discard}
	top := "locket_" + r.number() + "_linux_amd64/"
	err = r.file(r.archiveName(targets[0]), func(w io.Writer) error {
		return r.tarball(w, []entry{{top + "bin/locket", script, 0o755}, {top + "share/man/man1/locket.1", script, 0o644}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.papers(); err != nil {
		t.Fatal(err)
	}
	if err := r.sums(&signer{key}); err != nil {
		t.Fatal(err)
	}
	return r, key
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The install script installs what was released and signed, and nothing else.
func TestInstallVerifiesFirst(t *testing.T) {
	archive := "locket_0.1.0_linux_amd64.tar.gz"
	for _, c := range []struct {
		name   string
		change func(r *making, key minisign.PrivateKey) error
		want   string // what it says; empty: it installs
	}{
		{"as released", func(*making, minisign.PrivateKey) error { return nil }, ""},
		{"another archive", func(r *making, _ minisign.PrivateKey) error {
			return os.WriteFile(filepath.Join(r.out, archive), []byte("another"), 0o644)
		}, "is not the one that was released"},
		{"another archive with its sum", func(r *making, _ minisign.PrivateKey) error {
			if err := os.WriteFile(filepath.Join(r.out, archive), []byte("another"), 0o644); err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(r.out, checksums)); err != nil {
				return err
			}
			return r.sums(nil)
		}, "the signature of the release is not right"},
		{"signed by another", func(r *making, _ minisign.PrivateKey) error {
			_, key, err := minisign.GenerateKey(rand.Reader)
			if err != nil {
				return err
			}
			return resign(r, key, "Locket v0.1.0")
		}, "the signature of the release is not right"},
		{"signed as another release", func(r *making, key minisign.PrivateKey) error { return resign(r, key, "Locket v0.0.9") }, "this is signed as Locket v0.0.9"},
		{"a comment that was not signed", func(r *making, key minisign.PrivateKey) error {
			if err := resign(r, key, "Locket v0.0.9"); err != nil {
				return err
			}
			file := filepath.Join(r.out, checksums+".minisig")
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(b), "v0.0.9", "v0.1.0", 1)), 0o644)
		}, "the signature of the release is not right"},
		{"no signature", func(r *making, _ minisign.PrivateKey) error {
			return os.Remove(filepath.Join(r.out, checksums+".minisig"))
		}, "can't get SHA256SUMS.minisig"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, key := released(t, "v0.1.0")
			if err := c.change(r, key); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "a folder")
			out, err := exec.Command("sh", filepath.Join(r.out, "install.sh"), "--from", r.out, "--to", to).CombinedOutput()
			if c.want == "" {
				ran, ranErr := exec.Command(filepath.Join(to, "bin", "locket")).Output()
				if _, missing := os.Stat(filepath.Join(to, "share/man/man1/locket.1")); err != nil || ranErr != nil || string(ran) != "released\n" || missing != nil {
					t.Errorf("%v, %v, %v\n%s", err, ranErr, missing, out)
				}
				return
			}
			if _, there := os.Stat(to); err == nil || there == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %v\n%s", err, there, out)
			}
		})
	}
}

// resign signs the sums of a release again.
func resign(r *making, key minisign.PrivateKey, comment string) error {
	b, err := os.ReadFile(filepath.Join(r.out, checksums))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, checksums+".minisig"), append(minisign.SignWithComments(key, b, comment, "of a test"), '\n'), 0o644)
}

// On a machine without a program to verify signatures, nothing is installed.
func TestInstallWithoutAVerifier(t *testing.T) {
	r, _ := released(t, "v0.1.0")
	bin := t.TempDir()
	for _, tool := range []string{"uname", "mktemp", "rm", "cp", "sed", "grep"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/bin/sh", filepath.Join(r.out, "install.sh"), "--from", r.out, "--to", filepath.Join(bin, "to"))
	cmd.Env = []string{"PATH=" + bin, "HOME=" + bin}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "minisign or OpenSSL 3 is needed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A key whose public half is not the source's can't sign: nobody could verify it.
func TestAnotherKeyIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "password"), "correct horse\n")
	t.Setenv(passwordFile, filepath.Join(dir, "password"))
	for _, name := range []string{"ours", "other"} {
		if err := makeKey(filepath.Join(dir, name), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	public := filepath.Join(dir, "ours.pub")
	if _, err := loadSigner(filepath.Join(dir, "ours"), public); err != nil {
		t.Error(err)
	}
	if _, err := loadSigner(filepath.Join(dir, "other"), public); err == nil || !strings.Contains(err.Error(), "its public half is not") {
		t.Error(err)
	}
	if err := makeKey(filepath.Join(dir, "ours"), io.Discard); err == nil {
		t.Error("a key was overwritten")
	}
	write(t, filepath.Join(dir, "password"), "another\n")
	if _, err := loadSigner(filepath.Join(dir, "ours"), public); err == nil {
		t.Error("another password opens the key")
	}
}

func TestNotes(t *testing.T) {
	log := "# Changelog\n\n## 0.2.0 (2027)\n\n### In two minutes\n\nTwo.\n\n### The node\n- x\n\n## 0.1.0 (2026)\n\n### In two minutes\n\n[One](docs/one.md).\n"
	for number, want := range map[string]string{"0.2.0": "Two.", "0.1.0": "[One](https://github.com/locket-dev/locket/blob/v0.1.0/docs/one.md)."} {
		if got, err := notesOf([]byte(log), number); err != nil || got != want {
			t.Errorf("%s: %q, %v", number, got, err)
		}
	}
	for number, log := range map[string]string{"0.3.0": log, "0.1.0": "\n## 0.1.0 (2026)\n\n### The node\n", "0.1": log, "0.2.0": "\n## 0.2.01 (2027)\n\n### In two minutes\n\nOther.\n"} {
		if got, err := notesOf([]byte(log), number); err == nil {
			t.Errorf("%s: %q", number, got)
		}
	}
}

// The notes of this source can be read on their own: short, and with links that lead somewhere.
func TestReleaseNotesStandAlone(t *testing.T) {
	log, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`\n## (\d\S*) \(`).FindSubmatch(log)
	if number == nil {
		number = [][]byte{nil, []byte("0.0.0")} // what is unreleased
	}
	notes, err := notesOf(log, string(number[1]))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(notes)); n < 100 || n > 600 { // two minutes
		t.Errorf("%d words", n)
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(notes, -1) {
		if !strings.HasPrefix(link[1], "https://") {
			t.Errorf("%s leads nowhere outside of the repository", link[1])
		}
	}
}

// TestInstallPageHasTheKey checks the key in the page, from which people copy it to verify by hand.
func TestInstallPageHasTheKey(t *testing.T) {
	key, err := os.ReadFile(filepath.Join("../..", publicKey))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(key)); !strings.Contains(string(page), "minisign -Vm SHA256SUMS -P "+f[len(f)-1]+" ") {
		t.Errorf("docs/install.md has another key than %s", publicKey)
	}
}

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

const manifest = `id = "ann/parking"
version = "1.0.0"
abi = 1
title = "Where the car is"
licence = "Apache-2.0"
kinds = ["text"]
types = ["semantic"]

[limits]
memory_mib = 2
`

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func signedBundle(t *testing.T) Bundle {
	t.Helper()
	b, err := Sign([]byte(manifest), []byte("\x00asm module"), key(1))
	if err != nil {
		t.Fatal(err)
	}
	b.Readme = []byte("# Parking\n")
	return b
}

func TestFileRoundTrip(t *testing.T) {
	b := signedBundle(t)
	file, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Bytes()
	if err != nil || !bytes.Equal(file, again) {
		t.Errorf("the same parts gave other bytes, %v", err)
	}
	got, err := Read(bytes.NewReader(file))
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Fatalf("%v\n%+v\n%+v", err, got, b)
	}
	m, err := got.Open()
	if err != nil || m.ID != "ann/parking" || m.Limits.MemoryMiB != 2 || m.Publisher == "" || m.SHA256 == "" {
		t.Errorf("%+v, %v", m, err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{ManifestName: b.Manifest, SignatureName: formatSignature(b.Signature), ModuleName: b.Module, ReadmeName: b.Readme, "notes.txt": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadPath(dir); err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("folder: %v\n%+v", err, got)
	}
	path := filepath.Join(dir, "p"+Extension)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPath(path); err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("file: %v\n%+v", err, got)
	}
}

// Each changed byte of the signed content is detected.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Bundle)
		want   error
	}{
		"another module":    {func(b *Bundle) { b.Module = []byte("\x00asm module2") }, wasm.ErrHash},
		"another signature": {func(b *Bundle) { b.Signature[5]++ }, wasm.ErrSignature},
		"no signature":      {func(b *Bundle) { b.Signature = nil }, wasm.ErrSignature},
		"signature, unsaid": {func(b *Bundle) { b.Manifest = []byte(manifest) }, wasm.ErrSignature},
		"another manifest":  {func(b *Bundle) { b.Manifest = bytes.Replace(b.Manifest, []byte("1.0.0"), []byte("1.0.1"), 1) }, wasm.ErrSignature},
		"a capability more": {func(b *Bundle) { b.Manifest = append([]byte("capabilities = [\"rgb\"]\n"), b.Manifest...) }, wasm.ErrSignature},
		"another publisher": {func(b *Bundle) { o, _ := Sign([]byte(manifest), b.Module, key(2)); b.Manifest = o.Manifest }, wasm.ErrSignature},
		"broken manifest":   {func(b *Bundle) { b.Manifest = []byte("id =") }, wasm.ErrManifest},
		"unsigned, good":    {func(b *Bundle) { b.Manifest, b.Signature = []byte(manifest), nil }, nil},
		"unsigned, own hash": {func(b *Bundle) {
			b.Manifest, b.Signature = []byte("sha256=\""+strings.Repeat("0", 64)+"\"\n"+manifest), nil
		}, wasm.ErrHash},
	} {
		b := signedBundle(t)
		c.change(&b)
		if _, err := b.Open(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	for _, line := range []string{"sha256 = \"" + strings.Repeat("0", 64) + "\"\n", "sha256 = \"" + strings.Repeat("0", 64) + "\"\npublisher = \"" + strings.Repeat("0", 64) + "\"\n"} {
		if _, err := Sign([]byte(line+manifest), []byte("m"), key(1)); !errors.Is(err, wasm.ErrManifest) || !strings.Contains(err.Error(), "leave it out") {
			t.Error(err)
		}
	}
}

type item struct {
	h       tar.Header
	content string
}

func archive(t *testing.T, items ...item) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, i := range items {
		i.h.Size = int64(len(i.content))
		if err := w.WriteHeader(&i.h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(i.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadRefuses(t *testing.T) {
	file := func(name, content string) item { return item{tar.Header{Typeflag: tar.TypeReg, Name: name}, content} }
	toml, module := file(ManifestName, manifest), file(ModuleName, "m")
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"symbolic link":    {archive(t, toml, item{tar.Header{Typeflag: tar.TypeSymlink, Name: ModuleName, Linkname: "/etc/passwd"}, ""}), "is a link"},
		"hard link":        {archive(t, toml, item{tar.Header{Typeflag: tar.TypeLink, Name: ModuleName, Linkname: "plugin.toml"}, ""}), "is a link"},
		"folder":           {archive(t, item{tar.Header{Typeflag: tar.TypeDir, Name: "plugin.toml/"}, ""}), "not a plain file"},
		"device":           {archive(t, item{tar.Header{Typeflag: tar.TypeChar, Name: ModuleName}, ""}), "not a plain file"},
		"path traversal":   {archive(t, toml, module, file("../../.ssh/authorized_keys", "k")), "only plugin.toml"},
		"absolute path":    {archive(t, toml, module, file("/etc/cron.d/x", "k")), "only plugin.toml"},
		"inner path":       {archive(t, toml, file("a/../plugin.wasm", "m")), "only plugin.toml"},
		"dot path":         {archive(t, toml, file("./plugin.wasm", "m")), "only plugin.toml"},
		"twice":            {archive(t, toml, module, module), "twice"},
		"no module":        {archive(t, toml), "no plugin.wasm"},
		"no manifest":      {archive(t, module), "no plugin.toml"},
		"large manifest":   {archive(t, file(ManifestName, strings.Repeat("#", wasm.MaxManifest+1))), "at most"},
		"bomb":             {archive(t, toml, file(ModuleName, strings.Repeat("\x00", abi.MaxModule+1))), "at most"},
		"signature":        {archive(t, toml, module, file(SignatureName, "xyz")), "hexadecimal"},
		"no gzip":          {[]byte("PK\x03\x04"), "not a plugin file"},
		"nothing":          {nil, "not a plugin file"},
		"a bare module":    {[]byte("\x00asm\x01\x00\x00\x00"), "a module without its manifest"},
		"cut":              {archive(t, toml, module)[:80], "plugin file refused"},
		"a control name":   {archive(t, toml, module, file("\x1b[2J", "k")), `\x1b`},
		"empty of entries": {archive(t), "no plugin.toml"},
	} {
		_, err := Read(bytes.NewReader(c.b))
		if !errors.Is(err, ErrBundle) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A folder from a stranger may contain links, too.
func TestFolderTakesNoLinks(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, ModuleName)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPath(dir); !errors.Is(err, ErrBundle) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	b, err := Sign([]byte(manifest), []byte("\x00asm"), key(1))
	if err != nil {
		f.Fatal(err)
	}
	file, err := b.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		again, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read(bytes.NewReader(again)); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v\n%+v\n%+v", err, got, b)
		}
	})
}

package template

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
)

// Each template is complete, and has the plugin's name wherever it is needed.
func TestWrite(t *testing.T) {
	for _, lang := range Languages() {
		dir := filepath.Join(t.TempDir(), "deep", "parking")
		if err := Write(dir, lang, "ann/parking"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"plugin.toml", "build.sh", "README.md", ".gitignore", "testdata/nothing.json"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s: %v", lang, err)
			}
		}
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			if strings.Contains(string(b), "{{name}}") || strings.Contains(string(b), "{{module}}") || strings.Contains(string(b), "github.com/locket-dev") || strings.HasSuffix(p, ".tmpl") {
				t.Errorf("%s: %s has a place that was not filled in", lang, p)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if err := Write(dir, lang, "ann/parking"); !errors.Is(err, ErrExists) {
			t.Errorf("%s: written over: %v", lang, err)
		}
	}
	for _, name := range []string{"", "Ann", "a b", "../x", "a/b/c", "x\"\nkinds=1"} {
		dir := filepath.Join(t.TempDir(), "p")
		if err := Write(dir, "c", name); !errors.Is(err, wasm.ErrManifest) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "p"), "cobol", "p"); err == nil || !strings.Contains(err.Error(), "go, rust, c, as") {
		t.Error(err)
	}
}

// The embedded archive has the folders' content: `go generate ./wasm/template` makes it.
func TestEmbeddedTemplateIsCurrent(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, dir := range map[string]string{"files": "files", "sdk/abi": "../abi", "sdk/guest": "../guest"} {
		if err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || name != "files" && (path.Dir(p) != "." || strings.HasSuffix(p, "_test.go")) {
				return err
			}
			b, err := os.ReadFile(filepath.Join(dir, p))
			want[path.Join(name, p)] = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(z.File) != len(want) || len(want) < 30 {
		t.Errorf("%d files are embedded, of %d", len(z.File), len(want))
	}
	for name, text := range want {
		if b, err := fs.ReadFile(z, name); err != nil || string(b) != text {
			t.Errorf("%s is not what is embedded: %v", name, err)
		}
	}
	if !slices.Contains(Languages(), "go") {
		t.Error("no Go")
	}
}

package template

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
)

// Each template is whole, and has its name wherever it needs one.
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

// A file of abi or guest that the copy lacks would not be missed before
// somebody builds a plugin.
func TestSDKIsWhole(t *testing.T) {
	for _, pkg := range []string{"abi", "guest"} {
		all, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		for _, f := range all {
			name := path.Join(pkg, filepath.Base(f))
			if _, err := wasm.SDK.ReadFile(name); (err == nil) == strings.HasSuffix(f, "_test.go") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if !slices.Contains(Languages(), "go") {
		t.Error("no Go")
	}
}

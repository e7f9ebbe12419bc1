// Package template makes new plugins: a small working one, in one of four languages, with what is
// needed to read events and write answers, to build it, and to test it.
package template

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the files
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/bundle"
)

// packed has the folder files, and in sdk/ the source of packages abi and guest, which a plugin in
// Go links: a new plugin gets a copy, and can be built without the network. It is compressed,
// because few need these 140 KB.
//
//go:generate go run ../../internal/pack files.zip files=files sdk/abi=../abi/*.go sdk/guest=../guest/*.go
//go:embed files.zip
var packed []byte

// sdk is where a plugin in Go has its copy of the packages that it links, and their import path in
// this repository.
const (
	sdk     = "locket"
	sdkHome = "github.com/locket-dev/locket/wasm"
)

// ErrExists: the plugin's path exists already.
var ErrExists = errors.New("is there already")

// Languages are the languages in which a plugin can be written.
func Languages() []string { return []string{"go", "rust", "c", "as"} }

// Write makes the folder dir with a new plugin whose id is name. Nothing is overwritten. An id that
// a manifest can't have is an error that wraps wasm.ErrManifest.
func Write(dir, language, name string) error {
	if !slices.Contains(Languages(), language) {
		return fmt.Errorf("language %q: there are %s", language, strings.Join(Languages(), ", "))
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s %w", dir, ErrExists)
	}
	module := "plugin.local/" + path.Base(name) // no other package has this name
	fill := strings.NewReplacer("{{name}}", name, "{{module}}", module).Replace
	all := map[string]string{}
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return fmt.Errorf("new plugin: %w", err)
	}
	root := "files/" + language
	err = fs.WalkDir(files, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, p)
		rel := strings.TrimSuffix(strings.TrimPrefix(p, root+"/"), ".tmpl")
		if rel == "gitignore" { // under its own name it would hide files of this repository
			rel = ".gitignore"
		}
		all[rel] = fill(string(b))
		return err
	})
	if err != nil {
		return fmt.Errorf("new plugin: %w", err)
	}
	if _, err := wasm.ParseManifest([]byte(all[bundle.ManifestName])); err != nil {
		return err
	}
	if language == "go" {
		if err := addSDK(all, files, module); err != nil {
			return fmt.Errorf("new plugin: %w", err)
		}
	}
	for rel, text := range all {
		file, mode := filepath.Join(dir, filepath.FromSlash(rel)), fs.FileMode(0o644)
		if strings.HasSuffix(rel, ".sh") {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("new plugin: %w", err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			return fmt.Errorf("new plugin: %w", err)
		}
	}
	return nil
}

// addSDK copies the packages that a plugin in Go links.
func addSDK(all map[string]string, files fs.FS, module string) error {
	return fs.WalkDir(files, "sdk", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, p)
		all[sdk+strings.TrimPrefix(p, "sdk")] = strings.ReplaceAll(string(b), sdkHome+"/", module+"/"+sdk+"/")
		return err
	})
}

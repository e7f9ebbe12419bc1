// Package plugins holds the built-in extractors. Each is a folder: its logic as a plain Go package,
// main as the module, plugin.toml as the manifest. Those without a main are in the module of folder
// text, whose machine code they share: each runs in instances of its own under its own manifest.
// `go tool task plugins` builds the modules into bin, which this package embeds.
package plugins

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/plugins/internal/pack"
)

// shared is the module of the extractors without one of their own.
const shared = pack.Shared

//go:embed bin */plugin.toml
var files embed.FS

// Bundle is a built-in plugin, ready for wasm.Host.LoadFrom.
type Bundle struct {
	Manifest wasm.Manifest // it names the module by its SHA-256
	// Open decompresses the module each time, so that it need not be kept.
	Open func() ([]byte, error)
}

// All returns every built-in plugin, in the order of their stages.
func All() ([]Bundle, error) {
	b, err := files.ReadFile("bin/SHA256SUMS")
	if err != nil {
		return nil, fmt.Errorf("read the built-in plugins: %w", err)
	}
	sums, err := pack.ParseSums(b)
	if err != nil {
		return nil, fmt.Errorf("read the built-in plugins: %w", err)
	}
	manifests, err := fs.Glob(files, "*/plugin.toml")
	if err != nil {
		return nil, fmt.Errorf("read the built-in plugins: %w", err)
	}
	var list []Bundle
	for _, file := range manifests {
		name := strings.TrimSuffix(file, "/plugin.toml")
		module := name
		if _, own := sums.Sum[name]; !own {
			module = shared
		}
		if _, err := fs.Stat(files, bin(module)); err != nil {
			return nil, fmt.Errorf("built-in plugin %s is not built: run go tool task plugins, and build again", name)
		}
		b, err := files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the built-in plugins: %w", err)
		}
		m, err := wasm.ParseManifest(b)
		if err != nil {
			return nil, fmt.Errorf("built-in plugin %s: %w", name, err)
		}
		m.SHA256 = sums.Sum[module]
		list = append(list, Bundle{Manifest: m, Open: func() ([]byte, error) { return open(module) }})
	}
	sorting.Sort(list, func(a, b Bundle) int {
		if a.Manifest.Stage != b.Manifest.Stage {
			return a.Manifest.Stage - b.Manifest.Stage
		}
		return strings.Compare(a.Manifest.ID, b.Manifest.ID)
	})
	return list, nil
}

// Prepare makes the machine code of all plugins for all users of the machine; see wasm.Prepare. A
// gauge in ctx counts the modules.
func Prepare(ctx context.Context, dir string) error {
	all, err := All()
	if err != nil {
		return err
	}
	left := map[string]bool{} // modules; several plugins share one
	for _, b := range all {
		left[b.Manifest.SHA256] = true
	}
	gauge := progress.Of(ctx)
	gauge.Total.Store(int64(len(left)))
	return wasm.Prepare(ctx, dir, func(h *wasm.Host) error {
		for _, b := range all {
			if _, err := h.LoadFrom(ctx, b.Open, b.Manifest, nil); err != nil {
				return err
			}
			if left[b.Manifest.SHA256] {
				delete(left, b.Manifest.SHA256)
				gauge.Done.Add(1)
			}
		}
		return nil
	})
}

func bin(module string) string { return "bin/" + module + ".wasm.zst" }

// open decompresses a module. All modules contain Go's runtime, so the others are compressed with
// the shared one as their dictionary.
func open(module string) ([]byte, error) {
	var dict []byte
	if module != shared {
		var err error
		if dict, err = open(shared); err != nil {
			return nil, err
		}
	}
	z, err := files.ReadFile(bin(module))
	if err != nil {
		return nil, err
	}
	return pack.Decompress(z, dict)
}

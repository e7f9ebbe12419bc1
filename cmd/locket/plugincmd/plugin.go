// Package plugincmd contains locket plugin, which finds, installs, enables, shows, makes, tests,
// signs and publishes plugins.
package plugincmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/bundle"
)

func Command(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "plugin", Short: "Write, test, sign, install and manage plugins", RunE: a.NeedsCommand,
		Long: `A plugin is a WebAssembly module that makes memories from what your devices send. It sees
only what its manifest asks for and you agree to: no network, no files, no other memories.
docs/wasm.md is the contract, and docs/tutorial-plugin.md shows how to write a plugin.`,
		Example: `  locket plugin new go ann/parking
  locket plugin test parking
  locket plugin install ann-parking-0.1.0.locket-plugin`,
	}
	c.AddCommand(newCommand(a), buildCommand(a), testCommand(a), keygenCommand(a), signCommand(a), pushCommand(a), installCommand(a),
		listCommand(a), showCommand(a), enableCommand(a, true), enableCommand(a, false), removeCommand(a),
		unpinCommand(a), searchCommand(a), registryCommand(a), indexCommand(a),
		logsCommand(a), replayCommand(a), prepareCommand(a))
	return c
}

// folderIn returns the folder or file that a command's argument names, or the current folder if
// there is none.
func folderIn(args []string) string { return slices.Concat(args, []string{"."})[0] }

// project is a plugin on its author's disk.
type project struct {
	dir      string
	manifest []byte
	module   []byte
	parsed   wasm.Manifest
}

// readProject reads a plugin that is being written: a folder with plugin.toml and plugin.wasm, a
// module beside its manifest, or the file of a bundle.
func readProject(path string) (project, error) {
	if strings.HasSuffix(path, bundle.Extension) {
		b, err := bundle.ReadPath(path)
		if err != nil {
			return project{}, err
		}
		m, err := b.Open()
		return project{filepath.Dir(path), b.Manifest, b.Module, m}, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return project{}, fmt.Errorf("reading plugin: %w", err)
	}
	p := project{dir: path}
	module := filepath.Join(path, bundle.ModuleName)
	if !st.IsDir() {
		p.dir, module = filepath.Dir(path), path
	}
	if p.module, err = os.ReadFile(module); errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%s does not exist: build it first with locket plugin build", module)
	} else if err != nil {
		return p, fmt.Errorf("reading plugin: %w", err)
	}
	if len(p.module) < 4 || string(p.module[:4]) != "\x00asm" {
		return p, fmt.Errorf("%s is not a WebAssembly module", module)
	}
	if p.manifest, err = readManifestOf(module); err != nil {
		return p, err
	}
	p.parsed, err = wasm.ParseManifest(p.manifest)
	return p, err
}

// readManifestOf reads the manifest beside a module: NAME.toml for NAME.wasm, or else plugin.toml.
func readManifestOf(module string) ([]byte, error) {
	own := strings.TrimSuffix(module, filepath.Ext(module)) + ".toml"
	for _, name := range []string{own, filepath.Join(filepath.Dir(module), bundle.ManifestName)} {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading manifest: %w", err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s has no manifest: neither %s nor %s is beside it", module, filepath.Base(own), bundle.ManifestName)
}

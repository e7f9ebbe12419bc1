package plugins_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
)

// Somebody who can write to the plugins folder but does not have the keys can
// neither let a plugin do more, nor have a pin forgotten, without being
// noticed: the home does not open, doctor names the file, and a repair restores
// it from the copy.
func TestEditedPluginsFolder(t *testing.T) {
	cfg := config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Maja", Zone: "Europe/Berlin", Disk: config.Disk{Reserve: 1 << 20},
		Plugins: config.Plugins{Disabled: []string{"facts", "plans", "howto", "speech", "scene", "secrets", "language"}}}
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	opt := nodetest.Options(t)
	var a *node.Node
	open := func() error {
		t.Helper()
		var err error
		if a, err = node.Open(cfg, opt); err != nil {
			t.Fatal(err)
		}
		_, err = a.UnlockAsConfigured(t.Context())
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	defer func() { a.Close() }()
	if _, err := a.InstallPlugin(t.Context(), plugintest.Silent("1.0.0", "")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cfg.Home, "plugins")
	if err := errors.Join(a.RemovePlugin(t.Context(), "suite/silent"), a.UnpinPlugin(t.Context(), "suite/silent")); err != nil {
		t.Fatal(err)
	}
	noPins, err := os.ReadFile(filepath.Join(dir, "pins.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.InstallPlugin(t.Context(), plugintest.Silent("1.0.0", "")); err != nil {
		t.Fatal(err)
	}
	edit := func(name, from, to string) {
		t.Helper()
		path := filepath.Join(dir, name)
		b, err := atomicfile.ReadChecked(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), from) {
			t.Fatalf("%s has no %s", name, from)
		}
		if err := atomicfile.WriteChecked(path, []byte(strings.Replace(string(b), from, to, 1))); err != nil {
			t.Fatal(err)
		}
	}
	both := func(name string) {
		t.Helper()
		for _, n := range []string{name, "." + name + ".copy"} {
			if err := os.Remove(filepath.Join(dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func()
		file   string // the file that is named
		stays  bool   // whether the plugin stays after a repair
	}{
		{"agreed to more", func() {
			copied := filepath.Join(dir, ".installed.json.copy")
			b, err := os.ReadFile(copied)
			if err != nil {
				t.Fatal(err)
			}
			edit("installed.json", `"agreed": [`, `"agreed": ["vault", `)
			if err := os.WriteFile(copied, b, 0o600); err != nil { // the copy is as the home wrote it
				t.Fatal(err)
			}
		}, "installed.json", true},
		{"everything is gone", func() { both("installed.json"); both("pins.json") }, "", false},
		{"pins of an earlier day, and their copy", func() {
			for _, n := range []string{"pins.json", ".pins.json.copy"} {
				if err := os.WriteFile(filepath.Join(dir, n), noPins, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, "pins.json", false},
		{"another pin, and its copy", func() { edit("pins.json", "1.0.0", "0.0.1") }, "pins.json", false},
	} {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		c.change()
		if err := open(); !errors.Is(err, atomicfile.ErrUnsealed) && !errors.Is(err, installed.ErrGone) {
			t.Errorf("%s: it opens: %v", c.name, err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		found, err := node.Inspect(t.Context(), cfg, nil)
		if err != nil || c.file != "" && !slices.ContainsFunc(found, func(r node.RepairedItem) bool { return r.Place == "plugins/"+c.file }) {
			t.Errorf("%s: named are %+v, %v", c.name, found, err)
		}
		if _, err := node.Repair(t.Context(), cfg, opt, nil); err != nil {
			t.Fatal(err)
		}
		if err := open(); err != nil {
			t.Fatal(err)
		}
		_, err = a.Plugin(t.Context(), "suite/silent")
		if (err == nil) != c.stays {
			t.Errorf("%s: after a repair: %v", c.name, err)
		}
		if !c.stays {
			if _, err := a.InstallPlugin(t.Context(), plugintest.Silent("1.0.0", "")); err != nil {
				t.Fatal(err)
			}
		}
		r, err := a.Doctor(t.Context(), true)
		if err != nil || slices.ContainsFunc(r.Findings, func(f serve.Finding) bool { return f.Check == "plugins" }) {
			t.Errorf("%s: after a repair: %+v, %v", c.name, r.Findings, err)
		}
	}
	// While it is open, and while it is locked.
	edit("pins.json", "1.0.0", "0.0.1")
	named := func(r serve.DoctorReport) bool {
		return slices.ContainsFunc(r.Findings, func(f serve.Finding) bool {
			return f.Check == "plugins" && f.Level == serve.LevelError && strings.Contains(f.Detail, "pins.json")
		})
	}
	if r, err := a.Doctor(t.Context(), true); err != nil || !named(r) {
		t.Errorf("open: %+v, %v", r.Findings, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.wasm"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Doctor(t.Context(), false); err != nil || !slices.ContainsFunc(r.Findings, func(f serve.Finding) bool { return strings.Contains(f.Detail, "mine.wasm was put there by hand") }) {
		t.Errorf("by hand: %+v, %v", r.Findings, err)
	}
}

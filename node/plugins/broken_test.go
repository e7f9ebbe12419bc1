package plugins_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// A plugin that redacts words, and whose files were damaged, is not bypassed:
// everything said is set aside, and status and doctor say so. A repair looks
// where the plugins are, even if that is outside the home.
func TestBrokenRedactor(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Config{Home: filepath.Join(dir, "home"), Wearer: "Maja", Zone: "Europe/Berlin", Disk: config.Disk{Reserve: 1 << 20},
		Plugins: config.Plugins{Dir: filepath.Join(dir, "elsewhere"), Disabled: []string{"facts", "plans", "howto", "speech", "scene", "secrets", "language"}}}
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	opt := nodetest.Options(t)
	open := func() *node.Node {
		t.Helper()
		n, err := node.Open(cfg, opt)
		if err == nil {
			_, err = n.UnlockAsConfigured(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	unscanned := func(n *node.Node, text string) bool {
		t.Helper()
		res, err := n.Add(t.Context(), serve.AddRequest{Text: text, Speaker: "Ana"})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(res.Refusals, func(r memory.Refusal) bool { return r.Kind == "unscanned" })
	}
	shut := func(n *node.Node) {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"module.wasm", "plugin.toml"} {
		n := open()
		r := plugintest.Silent("1.0.0", "capabilities = [\"redact\"]\n")
		r.Agreed = append(r.Agreed, "may redact")
		p, err := n.InstallPlugin(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if unscanned(n, "Said while "+file+" is whole.") {
			t.Error("it runs, and the line is set aside")
		}
		shut(n)
		found, err := filepath.Glob(filepath.Join(cfg.Plugins.Dir, "*@*", file))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", file, found, err)
		}
		if err := os.WriteFile(found[0], []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
		n = open()
		if !unscanned(n, "My door code is 4711, said while "+file+" is damaged.") {
			t.Errorf("%s is damaged, and the line went on", file)
		}
		if s, err := n.Status(t.Context()); err != nil || !slices.ContainsFunc(s.Plugins, func(s serve.PluginStatus) bool { return s.Name == p.ID && s.Blocks }) {
			t.Errorf("%s: %+v, %v", file, s.Plugins, err)
		}
		if r, err := n.Doctor(t.Context(), false); err != nil || !slices.ContainsFunc(r.Findings, func(f serve.Finding) bool {
			return f.Check == "plugin "+p.ID && strings.Contains(f.Detail, "everything that is said is set aside")
		}) {
			t.Errorf("%s: %+v, %v", file, r.Findings, err)
		}
		if _, err := n.Rescan(t.Context()); !errors.Is(err, serve.ErrConflict) {
			t.Errorf("%s: given again: %v", file, err)
		}
		if got, err := n.EnablePlugin(t.Context(), p.ID, true); err == nil {
			t.Errorf("%s: enabled: %+v", file, got)
		}
		shut(n)

		place := filepath.ToSlash(filepath.Join(cfg.Plugins.Dir, filepath.FromSlash(p.ID)))
		named := func(all []node.RepairedItem) bool {
			return slices.ContainsFunc(all, func(r node.RepairedItem) bool { return filepath.ToSlash(r.Place) == place })
		}
		if found, err := node.Inspect(t.Context(), cfg, nil); err != nil || !named(found) {
			t.Errorf("%s: named are %+v, %v", file, found, err)
		}
		done, err := node.Repair(t.Context(), cfg, opt, nil)
		if err != nil || !named(done.Findings) {
			t.Errorf("%s: repaired are %+v, %v", file, done, err)
		}
		if kept, err := filepath.Glob(filepath.Join(done.Aside, "*@*", file)); err != nil || len(kept) != 1 {
			t.Errorf("%s: put aside in %q: %v, %v", file, done.Aside, kept, err)
		}
		n = open()
		if got, err := n.Rescan(t.Context()); err != nil || got.Texts != 1 || got.Left != 0 {
			t.Errorf("%s: after a repair: %+v, %v", file, got, err)
		}
		shut(n)
	}
}

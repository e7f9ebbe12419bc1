// Package nodetest gives tests a complete node: a home in a folder of the test, with plugins that
// are compiled once for all tests.
package nodetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
)

// Passphrase opens the nodes of New.
const Passphrase = "correct horse"

// Main runs a package's tests; TestMain has to call it.
func Main(m *testing.M) {
	if wasm.IsWorker(os.Args) {
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	plugincache.Run(func(string) (int, error) { return m.Run(), nil })
}

// Config returns the configuration of a new home.
func Config(t testing.TB) config.Config {
	return config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Ana", Zone: "Europe/Lisbon", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
}

// Zone is the time zone of Config's wearer.
func Zone(t testing.TB) *time.Location {
	zone, err := time.LoadLocation(Config(t).Zone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// Today is the date at the place of Config's wearer.
func Today(t testing.TB) string { return time.Now().In(Zone(t)).Format(time.DateOnly) }

// Cheap disables the built-in plugins except secrets and facts, for New.
func Cheap(c *config.Config) {
	c.Plugins.Disabled = []string{"language", "speech", "scene", "plans", "howto"}
}

// Options share the compiled plugins.
func Options(t testing.TB) node.Options {
	t.Helper()
	worker, err := wasm.SelfWorker()
	if err != nil {
		t.Fatal(err)
	}
	return node.Options{Cache: os.Getenv(plugincache.Env), Version: "test", Worker: worker}
}

// New returns an open node in a new home. change may be nil.
func New(t testing.TB, change func(*config.Config)) *node.Node {
	t.Helper()
	cfg := Config(t)
	if change != nil {
		change(&cfg)
	}
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{Passphrase: Passphrase, Work: 4}); err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(cfg, Options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := n.Unlock(t.Context(), Passphrase); err != nil {
		t.Fatal(err)
	}
	return n
}

// Hear makes the node hear a line.
func Hear(t testing.TB, n *node.Node, at time.Time, speaker, text string) {
	t.Helper()
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: text, Speaker: speaker, At: at}); err != nil {
		t.Fatal(err)
	}
}

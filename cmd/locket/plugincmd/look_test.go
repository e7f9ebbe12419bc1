package plugincmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// TestFailingRedactorStandsOut: a failing redactor holds up everything that is said, so its line
// stands out.
func TestFailingRedactorStandsOut(t *testing.T) {
	p := serve.Plugin{ID: "ann/tea", Capabilities: []string{"redact"}}
	for _, p.State = range []string{serve.PluginBroken, serve.PluginFaulted} {
		if s := stateText(&p); !strings.Contains(s, "SET ASIDE") {
			t.Error(s)
		}
	}
	p.Capabilities = nil
	if s := stateText(&p); strings.Contains(s, "SET ASIDE") {
		t.Error(s)
	}
}

// TestShowPluginListsItsRights: the output says which memories a plugin can read, as it did before the
// installation.
func TestShowPluginListsItsRights(t *testing.T) {
	v := serve.PluginView{Plugin: serve.Plugin{ID: "ann/tea", Version: "1.0.0", Kinds: []string{"text"}, Capabilities: []string{"memories"}},
		Asks: []string{"may memories", "reads procedural", "sees text"}}
	var b strings.Builder
	showPlugin(new(cli.App), &b, &v)
	for _, want := range []string{"each line that is said", "up to 16 of your memories", "how things are done"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestShowNamesTheNextStep: a plugin that was disabled after faults has to be enabled by hand.
func TestShowNamesTheNextStep(t *testing.T) {
	v := serve.PluginView{Plugin: serve.Plugin{ID: "ann/tea", State: serve.PluginFaulted}}
	var b strings.Builder
	showPlugin(new(cli.App), &b, &v)
	if !strings.Contains(b.String(), "to run it again: locket plugin enable ann/tea\n") {
		t.Error(b.String())
	}
}

package cli

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/config"
)

// A proposed command has the home of the command line, and repeats nothing else of it. Values that
// are filled into a text stay unchanged.
func TestProposedCommandHasTheHome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my 50% home")
	a := &App{Flags: []config.Flag{{Name: "--home", Key: "home", Value: dir}, {Name: "--set", Key: "wearer", Value: "Ana"}}}
	on := " --home '" + dir + "'"
	for text, want := range map[string]string{
		"Add one: locket relay add URL":                  "Add one: locket" + on + " relay add URL",
		"run 'locket doctor --repair', or (locket lock)": "run 'locket" + on + " doctor --repair', or (locket" + on + " lock)",
		"locket sync --now, or locket run":               "locket" + on + " sync --now, or locket" + on + " run",
		"The commands: locket --help":                    "The commands: locket --help",
		"no locket-model is here, nor \"locket lost\"":   "no locket-model is here, nor \"locket lost\"",
	} {
		if got := a.WithHome(text); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
		if got := a.WithHome(a.WithHome(text)); got != want {
			t.Errorf("twice: %q", got)
		}
		if got := new(App).WithHome(text); got != text {
			t.Errorf("without a home: %q", got)
		}
	}
	if got, want := a.WithHomef("%d %%, %s: locket why %s", 50, "my locket fell", "3f7k"), "50 %, my locket fell: locket"+on+" why 3f7k"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

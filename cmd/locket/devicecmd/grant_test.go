package devicecmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// The welcome can be redirected into a file: nothing else is on standard output.
func TestWelcomeAlone(t *testing.T) {
	for _, feed := range []bool{true, false} {
		var out, told strings.Builder
		a := &cli.App{Stdout: &out, Stderr: &told}
		if err := showGranted(a, &serve.Grant{Name: "studio", Relay: "https://relay.example", Welcome: "locket-space-1.abc", Feed: feed}); err != nil {
			t.Fatal(err)
		}
		if out.String() != "locket-space-1.abc\n" {
			t.Errorf("standard output has %q", out.String())
		}
		for _, want := range []string{"studio is in", "--relay https://relay.example"} {
			if !strings.Contains(told.String(), want) {
				t.Errorf("no %q in %q", want, told.String())
			}
		}
		if warned := strings.Contains(told.String(), "all of your memories"); warned == feed {
			t.Errorf("feed %t: %q", feed, told.String())
		}
	}
}

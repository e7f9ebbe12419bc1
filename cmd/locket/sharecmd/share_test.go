package sharecmd

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// A share that failed halfway, or was revoked while the relay was away, is over. The row says so, and
// how to finish it.
func TestRowOfAnEndedShare(t *testing.T) {
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
	var out strings.Builder
	shareRow(a, &out, &serve.Share{Title: "the club", Created: time.Date(2026, 9, 14, 13, 31, 0, 0, time.UTC), Revoking: true})
	if s := out.String(); !strings.Contains(s, "ended; the relay could not be reached to delete it: run locket share revoke 0000000000") {
		t.Error(s)
	}
}

// One long memory does not push what a rule opens and closes out of the terminal.
func TestPolicyItemsAreCut(t *testing.T) {
	long := serve.PolicyItem{Type: "semantic", Text: strings.Repeat("a", 20_000)}
	var out strings.Builder
	showTested(new(cli.App), &out, &serve.PolicyTested{As: "reader:Ann", Action: "read", Passes: []serve.PolicyItem{long}})
	if s := out.String(); len(s) > 1000 || !strings.Contains(s, "aaa…") || !strings.Contains(s, "1 memory would be given to reader:Ann") {
		t.Errorf("%d bytes: %.200s", len(s), s)
	}
}

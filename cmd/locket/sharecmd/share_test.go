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

package copycmd

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
)

// A check shows the time in the wearer's zone, and not in that of the machine.
func TestShowChecked(t *testing.T) {
	var out strings.Builder
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "Asia/Tokyo"}}}
	showChecked(a, &out, &backupCheck{At: time.Date(2026, 3, 1, 20, 30, 0, 0, time.UTC), Records: 7})
	if got := out.String(); got != "The backup of 2 Mar 2026, 05:30 has 7 records; after a restore, 0 are missing.\n" {
		t.Error(got)
	}
}

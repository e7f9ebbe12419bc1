package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// A person who interrupts a command sees that it was interrupted, and not which call noticed.
func TestInterruptedCommandSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := cli.Deps{OpenNode: func(config.Config, *slog.Logger, span.Sink) (cli.OpenNode, error) {
		return nil, fmt.Errorf("open: %w", memory.ErrInUse)
	}}
	var out, problems strings.Builder
	if code := run(ctx, []string{"--home", t.TempDir(), "run"}, strings.NewReader(""), &out, &problems, d); code != cli.ExitFailed || problems.String() != "locket: interrupted\n" {
		t.Errorf("%d, %q", code, problems.String())
	}
}

//go:build !unix

package engine

import (
	"context"
	"os"
	"os/exec"

	"github.com/locket-dev/locket/internal/jail"
)

const canLimit = false

func limited(ctx context.Context, _ Limits, path string, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, path, args...)
}

func runGroup(cmd *exec.Cmd, _ jail.View) error { return cmd.Run() }

func ending(*os.ProcessState, Limits) *Fault { return nil }

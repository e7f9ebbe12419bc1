//go:build !unix

package engine

import (
	"context"
	"os"
	"os/exec"
)

const canLimit = false

func limited(ctx context.Context, _ Limits, path string, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, path, args...)
}

func runGroup(cmd *exec.Cmd) error { return cmd.Run() }

func ending(*os.ProcessState, Limits) *Fault { return nil }

func offline(*exec.Cmd) {}

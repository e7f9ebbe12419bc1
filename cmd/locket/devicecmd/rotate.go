package devicecmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func RotateCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Begin a new key for what comes from now on", Args: cli.Nothing(),
		Long: `Ends the epoch of your space and begins another. Only present members get the new key.
This happens by itself after 30 days, and whenever a device is removed. Do it when a key
may have leaked: the old key opens nothing that comes later.

What was sealed before stays readable to all who could read it. If a device was lost, use
locket devices remove, which begins a new key as well.`,
		Example: "  locket rotate",
		RunE:    cli.Showing(a, (*serve.Client).Rotate, func(w io.Writer, r *serve.Rotated) { fmt.Fprintf(w, "Epoch %d has begun.\n", r.Epoch) }),
	}
}

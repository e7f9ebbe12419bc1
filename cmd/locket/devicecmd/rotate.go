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
		Use: "rotate", Short: "Start a new encryption key for everything from now on", Args: cli.NoArgs(),
		Long: `Ends the current epoch of your space and begins another. Only current members get the new
key. This happens by itself after 30 days, and whenever a device is removed. Run it if a
key may have leaked: the old key opens nothing that comes later.

Everyone who could read what was sealed before still can. If a device was lost, use
locket devices remove, which also starts a new key. This command doesn't ask, because
nothing is lost and your devices need nothing from you.`,
		Example: "  locket rotate",
		RunE: cli.PrintCommand(a, (*serve.Client).Rotate, func(w io.Writer, r *serve.Rotated) {
			fmt.Fprintf(w, "Epoch %d has begun: what is sent from now on is sealed with a new key, which your other devices get with their next sync.\n"+
				"What was sealed before still opens with the old one.\n", r.Epoch)
		}),
	}
}

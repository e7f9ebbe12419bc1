package plugincmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/progress"
	builtin "github.com/locket-dev/locket/wasm/plugins"
)

func prepareCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "prepare", Short: "Compile the built-in plugins for all homes of this machine", Args: cli.NoArgs(),
		Long: `A home compiles the built-in plugins at its first start, which takes seconds and up to
170 MB of memory. Run as root, this command does it once for all homes, in
` + cli.ReadyPlugins + `. Packages do so when they are installed. The result is only a cache.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Geteuid() != 0 {
				return errors.New("this needs root: a home only runs machine code that it or root compiled")
			}
			m := a.Meter("compile the plugins", "modules", 0)
			m.WithoutEstimate()
			err := builtin.Prepare(progress.With(cmd.Context(), m.Gauge), cli.ReadyPlugins)
			m.End()
			return a.PrintUnless(err, map[string]string{"folder": cli.ReadyPlugins}, func(w io.Writer) {
				fmt.Fprintln(w, "Compiled the built-in plugins for all homes of this machine, in "+cli.ReadyPlugins)
			})
		},
	}
}

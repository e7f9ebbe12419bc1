package devicecmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func devicesCompareCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "compare [HEADS]", Short: "Check whether the relay shows two devices the same data", Args: cli.ArgsBetween(0, 1, "what the other device shows"),
		Long: `Without HEADS, prints a text that says how far this device has read. Take the text to
another of your devices, by any way but the relay, and give it to this command there. The
command does a round of sync, and then says where the two devices differ:

  forked   there are two histories: the relay, or a device, lies
  hidden   the relay showed the other device more than it shows this one
  behind   the other device had less, which is no fault: compare there, too
  untold   the relay can't be reached, or no longer shows enough to tell

For forked and hidden the command fails, and locket sync keeps showing them. Devices that
meet in a folder or in your network compare by themselves.`,
		Example: `  locket devices compare
  locket devices compare locket-heads-1.glgo...`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if len(args) == 0 {
				h, err := c.Heads(cmd.Context())
				return a.PrintUnless(err, h, func(w io.Writer) { fmt.Fprintln(w, h.Heads) })
			}
			got, err := c.CompareHeads(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.Print(got, func(w io.Writer) { showCompared(a, w, &got) }); err != nil {
				return err
			}
			if !got.Same {
				return cli.ErrReported
			}
			return nil
		}),
	}
}

func showCompared(a *cli.App, w io.Writer, c *serve.HeadsCompared) {
	if len(c.Differences) == 0 {
		fmt.Fprintf(w, "Both devices have the same history (heads of %s).\n", c.Member)
		return
	}
	for _, d := range c.Differences {
		fmt.Fprintf(w, "%-7s %s\n", d.Verdict, cli.OneLine(d.Text))
	}
	if c.Same {
		fmt.Fprintln(w, "Both devices have one history, as far as both have read.")
	}
}

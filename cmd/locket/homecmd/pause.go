package homecmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func PauseCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "pause [DURATION]", Short: "Stop recording for a while", Args: cli.ArgsBetween(0, -1, ""),
		Long:    "What wearables send during a pause is counted and dropped. Without a duration, the\npause lasts until locket resume. To stop the daemon itself, see locket run --help.",
		Example: "  locket pause 2h",
		RunE: func(cmd *cobra.Command, args []string) error {
			var d config.Duration
			if len(args) > 0 {
				var err error
				if d, err = config.ParseDuration(strings.Join(args, " ")); err != nil {
					return cli.UsageError{Err: err}
				}
				if d == 0 {
					return cli.Usagef("want a duration longer than 0")
				}
			}
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Pause(cmd.Context(), d.Std())
				return a.PrintUnless(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

func ResumeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Record again after a pause", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Resume(cmd.Context())
				return a.PrintUnless(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

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
		Use: "pause [DURATION]", Short: "Stop taking events", Args: cli.Between(0, -1, ""),
		Long:    "What the wearables send meanwhile is dropped, and counted. Without a duration\nuntil locket resume. To end the daemon itself, see locket run --help.",
		Example: "  locket pause 2h",
		RunE: func(cmd *cobra.Command, args []string) error {
			var d config.Duration
			if len(args) > 0 {
				var err error
				if d, err = config.ParseDuration(strings.Join(args, " ")); err != nil {
					return cli.UsageError{Err: err}
				}
				if d == 0 {
					return cli.Usagef("a pause of 0 is none")
				}
			}
			return a.With(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Pause(cmd.Context(), d.Std())
				return a.Printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

func ResumeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Take events again", Args: cli.Nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Resume(cmd.Context())
				return a.Printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

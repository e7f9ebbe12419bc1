package memorycmd

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// vaultAskEvery is how often a waiting command asks the node.
const vaultAskEvery = 2 * time.Second

func vaultAskCommand(a *cli.App) *cobra.Command {
	var file, life string
	var r serve.VaultAsk
	c := &cobra.Command{
		Use: "ask ENTRY --why WHY --key-file FILE", Short: "Ask for a secret as an app, and wait for the wearer's yes", Args: cli.ArgsBetween(1, 1, "the label or id of an entry"),
		Long: `For a script with the key of an app (locket app add NAME --can vault). The wearer sees in
locket consent which app asks, for which entry, and why. After a yes, the secret is printed
to standard output, once. FILE contains the key, or a link (see locket mcp).`,
		Example: `  locket vault ask "registry token" --why "publish release 1.4" --key-file deploy.key
  locket vault ask "registry token" --why "publish release 1.4" --key-file deploy.key --wait 0s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := config.ParseDuration(life)
			if err != nil || d < 0 {
				return cli.Usagef("--wait: want a duration such as 10m, or 0s")
			}
			if r.Entry = args[0]; r.Why == "" {
				return cli.Usagef("--why is missing: tell the wearer what the secret is needed for")
			}
			cl, err := a.AsApp(cmd.Context(), file)
			if err != nil {
				return err
			}
			defer cl.Close()
			ctx := cmd.Context()
			announced := false
			for end := time.Now().Add(d.Std()); ; {
				v, err := cl.AskVault(ctx, r)
				if err != nil {
					return err
				}
				if v.Entry != nil {
					return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, string(v.Entry.Secret)) })
				}
				if !announced && !a.JSON {
					fmt.Fprint(a.Stderr, a.WithHomef("Waiting for the wearer's yes (locket consent) until %s.\n", a.ShowTime(v.Lapses)))
				}
				if announced = true; !time.Now().Before(end) {
					if err := a.Print(v, func(io.Writer) {}); err != nil {
						return err
					}
					return cli.AdvisedError{Err: fmt.Errorf("%q: the wearer has not answered yet", r.Entry), Advice: "Run the same command again later; the request stays open."}
				}
				if !wait.For(ctx, vaultAskEvery) {
					return ctx.Err()
				}
			}
		},
	}
	f := c.Flags()
	f.StringVar(&file, "key-file", "", "`file` with the key of an app")
	f.StringVar(&r.Why, "why", "", "`what` it is needed for; shown to the wearer")
	f.StringVar(&life, "wait", "10m", "how long to wait for the wearer: a `duration`")
	return c
}

package devicecmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func GrantCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "grant", Short: "Let workers transcribe and read for you", RunE: a.NeedsCommand,
		Long: `A worker runs heavier models than this machine can. It reads what you grant it, and
answers with memories of the lowest rank: it can't override what you or this node say.`,
	}
	c.AddCommand(grantWorkerCommand(a), grantListCommand(a), grantLogCommand(a), grantTendCommand(a), grantRevokeCommand(a))
	return c
}

func grantWorkerCommand(a *cli.App) *cobra.Command {
	var r serve.GrantRequest
	var types []string
	var since, sensitivity string
	c := &cobra.Command{
		Use: "worker KEY", Short: "Grant access to a worker", Args: cli.ArgsBetween(1, 1, "the worker's key"),
		Long: `KEY is what locket-cloud worker invite-key prints, or @FILE. Only the welcome is printed
to standard output. Give it to the operator of the worker. It is not secret.

Without --feed, the worker joins your own space: it can read all of your memories except
the vault, and every recording. With --feed, it gets a space of its own with the types that
you name. With --recordings that space also has recordings and photos, except those taken
within 10 s of a spoken secret.

With --transcribe, the extractors read its transcripts as if they had been heard here, so
that what was said becomes memories. Without it, a transcript is only stored beside its
recording.`,
		Example: `  locket grant worker @worker.key --feed --recordings --transcribe --types resource > welcome
  locket grant worker @worker.key --types semantic --name studio`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Types = cli.ReadTypes(types)
			if r.Key, err = cli.KeyText(args[0]); err != nil {
				return err
			}
			if r.Since, err = a.ReadTime("--since", since); err != nil {
				return err
			}
			if r.Sensitivity, err = cli.ReadSensitivity(sensitivity); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				g, err := c.AddGrant(cmd.Context(), r)
				if err != nil {
					return err
				}
				return showGranted(a, &g)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Name, "name", "", "a `name` for the worker on this node")
	f.StringSliceVar(&types, "types", nil, "`types` of memories that it may propose and that its feed contains; not vault")
	cli.Choose(f, "types", cli.OpenTypes...)
	f.BoolVar(&r.Transcribe, "transcribe", false, "make memories from its transcripts, as if they had been heard here")
	f.IntVar(&r.PerEvidence, "per-evidence", 0, "how many `memories` it may base on one piece of evidence; default 16")
	f.BoolVar(&r.Feed, "feed", false, "give it a space of its own, and no access to yours")
	f.BoolVar(&r.Recordings, "recordings", false, "with --feed: include recordings and photos")
	f.StringVar(&sensitivity, "sensitivity", "", "with --feed: the highest sensitivity `level` that it gets; default personal")
	f.StringVar(&since, "since", "", "with --feed: only what was learnt at this `time` or later")
	return c
}

// showGranted prints only the welcome to standard output, for a file or a pipe.
func showGranted(a *cli.App, g *serve.Grant) error {
	if !a.JSON {
		fmt.Fprintf(a.Stderr, "%s is in, as %s.\n", cli.OneLine(g.Name), g.Member)
		if !g.Feed {
			fmt.Fprintln(a.Stderr, "It can read every recording and all of your memories except the vault, from the beginning.")
		}
		fmt.Fprintf(a.Stderr, "Give the welcome to the operator of the worker:\n  locket-cloud worker join --home DIR --relay %s WELCOME\n", cli.OneLine(g.Relay))
	}
	return a.Print(g, func(w io.Writer) { fmt.Fprintln(w, g.Welcome) })
}

func grantListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the workers", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Grants, func(a0 io.Writer, a1 *serve.Grant) { grantRow(a, a0, a1) }, "No workers."),
	}
}

func grantRow(a *cli.App, w io.Writer, g *serve.Grant) {
	where := "your space"
	if g.Feed {
		where = "a feed of " + cli.Plural(g.Memories, "memory", "memories")
	}
	if !g.Removed.IsZero() {
		where = "revoked " + a.ShowTime(g.Removed)
	}
	var may []string
	for _, t := range g.Types {
		may = append(may, string(t))
	}
	if g.Transcribe {
		may = append(may, "transcripts")
	}
	fmt.Fprintf(w, "%s  %s  %s  %s\n", g.Member, cli.OneLine(g.Name), strings.Join(may, ", "), where)
}

func grantTendCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "tend", Short: "Fill feeds and collect workers' answers now", Args: cli.NoArgs(),
		Long: "The daemon does this every minute.",
		RunE: cli.PrintCommand(a, (*serve.Client).TendGrants, func(w io.Writer, t *serve.FeedsTended) {
			fmt.Fprintf(w, "%s filled, %d things collected.\n", cli.Plural(t.Feeds, "feed", "feeds"), t.Taken)
		}),
	}
}

func grantRevokeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Remove a worker", Args: cli.ArgsBetween(1, 1, "a name, member id or key"),
		Long: `From now on the worker gets no data and no keys. What it has already read cannot be taken
back; an honest worker deletes its keys and copies when it learns that it was removed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			who, err := cli.KeyText(args[0])
			if err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).RevokeGrant, who, func(w io.Writer, g *serve.Grant) {
				fmt.Fprintf(w, "%s is removed and gets nothing new. What it has already read cannot be taken back.\n", cli.OneLine(g.Name))
			})
		},
	}
}

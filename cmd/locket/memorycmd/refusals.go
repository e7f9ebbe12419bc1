package memorycmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// refused is what locket refusals prints with --json.
type refused struct {
	serve.Tally
	Latest []serve.RefusedLine `json:"latest"`
}

func RefusalsCommand(a *cli.App) *cobra.Command {
	var limit int
	var retry bool
	c := &cobra.Command{
		Use: "refusals", Short: "Show what was heard and not remembered, and why", Args: cli.NoArgs(),
		Long: "Some lines make no memories: questions, commands, greetings, fillers, boilerplate, answers\nthat Locket itself had just given, and lines that are known already. They can still be\nsearched.\n\nIf a plugin that removes secrets fails on a line, the line is not processed. It is kept\nsealed (unscanned). --retry gives such lines to the plugins again.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 1000 {
				return cli.Usagef("-n %d: want 1 to 1000", limit)
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if retry {
					return rescan(a, cmd.Context(), cl)
				}
				var r refused
				var err error
				if r.Tally, err = cl.Tally(cmd.Context()); err != nil {
					return err
				}
				if r.Latest, err = cl.Refusals(cmd.Context(), limit); err != nil {
					return err
				}
				return a.Print(r, func(w io.Writer) { showRefused(a, w, &r) })
			})
		},
	}
	cli.LimitFlag(c.Flags(), &limit, 10, "how many of the latest to show (`count`)")
	c.Flags().BoolVar(&retry, "retry", false, "try lines again that were kept unscanned")
	return c
}

func rescan(a *cli.App, ctx context.Context, cl *serve.Client) error {
	r, err := cl.Rescan(ctx)
	return a.PrintUnless(err, r, func(w io.Writer) {
		if r.Texts == 0 {
			fmt.Fprintln(w, "No lines are set aside.")
			return
		}
		fmt.Fprintf(w, "%s had been set aside: %d processed now; %s.\n", cli.Plural(r.Texts, "line", "lines"), r.Texts-r.Left, cli.Plural(len(r.Changes), "memory changed", "memories changed"))
		if r.Left > 0 {
			fmt.Fprint(w, a.WithHomef("On %s a plugin that removes words failed again: see locket plugin list\n", cli.Plural(r.Left, "line", "lines")))
		}
	})
}

func showRefused(a *cli.App, w io.Writer, r *refused) {
	rest := 1.0
	for _, k := range r.Refused {
		rest -= k.Share
	}
	if len(r.Refused) == 0 {
		rest = 1
	}
	fmt.Fprintf(w, "%6d  %5.1f %%  remembered\n", r.Taken, 100*rest)
	for _, k := range r.Refused {
		fmt.Fprintf(w, "%6d  %5.1f %%  refused: %s\n", k.Count, 100*k.Share, cli.OneLine(k.Kind))
	}
	if len(r.Latest) > 0 {
		fmt.Fprintln(w, "\nThe latest")
		for _, l := range r.Latest {
			fmt.Fprintf(w, "  %s  %s: %s", a.Paint.Dim(a.ShowTime(l.At)), cli.OneLine(l.Kind), cli.OneLine(l.Reason))
			if l.Words != "" {
				fmt.Fprintf(w, "  %s", a.Paint.Dim("“"+cli.OneLine(l.Words)+"”"))
			}
			fmt.Fprintln(w)
		}
	}
}

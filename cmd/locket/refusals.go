package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/serve"
)

// refused is what locket refusals prints with --json.
type refused struct {
	serve.Tally
	Latest []serve.RefusedLine `json:"latest"`
}

func (a *app) refusalsCommand() *cobra.Command {
	var limit int
	var retry bool
	c := &cobra.Command{
		Use: "refusals", Short: "Show what was heard and not remembered, and why", Args: nothing(),
		Long: "Some lines make no memories: questions, commands, greetings, fillers, boilerplate, answers\nthat recall had just given, and lines that are known already. They can still be searched.\n\nWhen a plugin that removes secrets fails on a line, nobody reads the line. It is kept\nsealed (unscanned). --retry gives such lines to the plugins again.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 1000 {
				return usagef("-n %d: want 1 to 1000", limit)
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				if retry {
					return a.rescan(cmd.Context(), cl)
				}
				var r refused
				var err error
				if r.Tally, err = cl.Tally(cmd.Context()); err != nil {
					return err
				}
				if r.Latest, err = cl.Refusals(cmd.Context(), limit); err != nil {
					return err
				}
				return a.print(r, func(w io.Writer) { a.showRefused(w, &r) })
			})
		},
	}
	limitFlag(c.Flags(), &limit, 10, "the `count` of the latest")
	c.Flags().BoolVar(&retry, "retry", false, "try again the lines that were kept unread")
	return c
}

func (a *app) rescan(ctx context.Context, cl *serve.Client) error {
	r, err := cl.Rescan(ctx)
	return a.printed(err, r, func(w io.Writer) {
		if r.Texts == 0 {
			fmt.Fprintln(w, "Nothing is set aside unread.")
			return
		}
		fmt.Fprintf(w, "%s had been set aside: %d went through; %s.\n", plural(r.Texts, "line", "lines"), r.Texts-r.Left, plural(len(r.Changes), "memory changed", "memories changed"))
		if r.Left > 0 {
			fmt.Fprint(w, a.heref("On %s a plugin that takes words away failed again: see locket plugin list\n", plural(r.Left, "line", "lines")))
		}
	})
}

func (a *app) showRefused(w io.Writer, r *refused) {
	rest := 1.0
	for _, k := range r.Refused {
		rest -= k.Share
	}
	if len(r.Refused) == 0 {
		rest = 1
	}
	fmt.Fprintf(w, "%6d  %5.1f %%  remembered\n", r.Taken, 100*rest)
	for _, k := range r.Refused {
		fmt.Fprintf(w, "%6d  %5.1f %%  refused: %s\n", k.Count, 100*k.Share, oneLine(k.Kind))
	}
	if len(r.Latest) > 0 {
		fmt.Fprintln(w, "\nThe latest")
		for _, l := range r.Latest {
			fmt.Fprintf(w, "  %s  %s: %s", a.paint.dim(a.when(l.At)), oneLine(l.Kind), oneLine(l.Reason))
			if l.Words != "" {
				fmt.Fprintf(w, "  %s", a.paint.dim("“"+oneLine(l.Words)+"”"))
			}
			fmt.Fprintln(w)
		}
	}
}

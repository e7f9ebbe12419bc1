package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "Show every change of a memory, oldest first", Args: between(1, 1, "the id"),
		RunE: a.call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			list, err := cl.History(cmd.Context(), args[0])
			return rows(a, err, list, a.showChange, "")
		}),
	}
}

func (a *app) showChange(w io.Writer, ch *memory.Change) {
	text := oneLine(ch.New)
	switch {
	case ch.Old != "" && ch.New != "":
		text = oneLine(ch.Old) + " → " + oneLine(ch.New)
	case ch.New == "":
		text = oneLine(ch.Old)
	}
	fmt.Fprintf(w, "%s  %-6s  %s%s\n", a.paint.dim(a.when(ch.At)), ch.Verdict, text, a.paint.dim("  "+oneLine(ch.Reason)+" ("+rankName(ch.Rank, ch.By)+")"))
}

// rankName says who did it.
func rankName(r memory.Rank, by memory.Source) string {
	switch {
	case r == memory.RankPerson:
		return "the wearer"
	case by.Plugin != "":
		return "plugin " + sourceText(by)
	case r == memory.RankCloud:
		return "a worker"
	}
	return "this node"
}

func (a *app) whyCommand() *cobra.Command {
	var last bool
	c := &cobra.Command{
		Use: "why ID | why --last", Short: "Explain where a memory comes from", Args: orLast(&last),
		Long:    "What was said, by whom and when; which plugin took it for a memory; what it\nreplaced or what replaced it; and all that changed since.",
		Example: "  locket why 3f7k9m2xqa\n  locket why --last",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				id, err := aimed(cmd.Context(), cl, args)
				if err != nil {
					return err
				}
				y, err := cl.Why(cmd.Context(), id)
				return a.printed(err, y, func(w io.Writer) { a.showWhy(w, &y) })
			})
		},
	}
	c.Flags().BoolVar(&last, "last", false, "the memory that was learnt last")
	return c
}

// orLast wants an id, or --last.
func orLast(last *bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if *last == (len(args) > 0) {
			return usagef("want an id, or --last for the memory that was learnt last")
		}
		return between(0, 1, "the id")(c, args)
	}
}

// aimed is the id that was given, or that of the memory that was learnt last.
func aimed(ctx context.Context, cl *serve.Client, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	for m, err := range cl.All(ctx, serve.ListQuery{}) {
		return m.ID.String(), err
	}
	return "", fmt.Errorf("the newest memory: %w", memory.ErrNotFound)
}

func (a *app) showWhy(w io.Writer, y *serve.Why) {
	m := &y.Memory
	fmt.Fprintf(w, "%s%s\n", a.paint.bold(oneLine(m.Text)), marks(m))
	fmt.Fprintf(w, "%s, %s, confidence %.2f, id %s\n", m.Type, m.Sensitivity, m.Confidence, shortID(m.ID))
	if len(y.From) > 0 {
		fmt.Fprintln(w, a.here("\nWhat it was made of; locket why ID says more of each"))
		for _, r := range y.From {
			a.showRelated(w, r)
		}
	} else if len(y.Evidence) > 0 {
		fmt.Fprintln(w, "\nWhat was said")
		for _, e := range y.Evidence {
			fmt.Fprintf(w, "  %s\n", a.said(e.Speaker, e.At, e.Excerpt))
		}
		if more := m.Heard - len(y.Evidence); more > 0 {
			fmt.Fprintf(w, "  and %s more\n", plural(more, "time", "times"))
		}
	}
	fmt.Fprintf(w, "\nWho took it for a memory\n  %s: %s", rankName(y.Rank, y.By), y.Verdict)
	if y.Reason != "" {
		fmt.Fprintf(w, ", %s", oneLine(y.Reason))
	}
	fmt.Fprintln(w)
	if len(y.Replaced) > 0 {
		fmt.Fprintln(w, "\nWhat it replaced")
		for _, r := range y.Replaced {
			a.showRelated(w, r)
		}
	}
	if y.Into != nil {
		fmt.Fprintln(w, "\nWhat replaced it")
		a.showRelated(w, *y.Into)
	}
	if len(y.Spared) > 0 {
		fmt.Fprintln(w, "\nWhat would have changed it, had it not been pinned")
		for _, ch := range y.Spared {
			fmt.Fprint(w, "  ")
			a.showChange(w, &ch)
		}
	}
	if len(m.Conflict) > 0 {
		fmt.Fprintln(w, "\nWhat was said otherwise at the same time")
		for _, v := range m.Conflict {
			fmt.Fprintf(w, "  %s: %s\n", v.Field, oneLine(v.Value))
		}
	}
	if len(y.History) > 0 {
		fmt.Fprintln(w, "\nHistory")
		for _, ch := range y.History {
			fmt.Fprint(w, "  ")
			a.showChange(w, &ch)
		}
	}
}

func (a *app) showRelated(w io.Writer, r serve.Related) {
	fmt.Fprintf(w, "  %s  %s  %s\n", a.paint.dim(shortID(r.ID)), a.paint.dim(a.when(r.At)), oneLine(r.Text))
}

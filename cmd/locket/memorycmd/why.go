package memorycmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func WhyCommand(a *cli.App) *cobra.Command {
	var last bool
	c := &cobra.Command{
		Use: "why ID | why --last", Short: "Explain where a memory comes from", Args: orLast(&last),
		Long:    "Shows what was said, by whom and when; which plugin made a memory of it; what it\nreplaced or what replaced it; and every change since.",
		Example: "  locket why 3f7k9m2xqa\n  locket why --last",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				id, err := aimed(cmd.Context(), cl, args)
				if err != nil {
					return err
				}
				y, err := cl.Why(cmd.Context(), id)
				return a.PrintUnless(err, y, func(w io.Writer) { showWhy(a, w, &y) })
			})
		},
	}
	c.Flags().BoolVar(&last, "last", false, "the memory that was learnt last")
	return c
}

func showWhy(a *cli.App, w io.Writer, y *serve.Why) {
	m := &y.Memory
	fmt.Fprintf(w, "%s%s\n", a.Paint.Bold(cli.OneLine(m.Text)), cli.MemoryMarks(m))
	fmt.Fprintf(w, "%s, %s, confidence %.2f, id %s\n", m.Type, m.Sensitivity, m.Confidence, cli.ShortID(m.ID))
	if len(y.From) > 0 {
		fmt.Fprintln(w, a.WithHome("\nWhat it was made from; locket why ID says more about each"))
		for _, r := range y.From {
			showRelated(a, w, r)
		}
	} else if len(y.Evidence) > 0 {
		fmt.Fprintln(w, "\nWhat was said")
		for _, e := range y.Evidence {
			fmt.Fprintf(w, "  %s\n", a.QuoteLine(e.Speaker, e.At, e.Excerpt))
		}
		if more := m.Heard - len(y.Evidence); more > 0 {
			fmt.Fprintf(w, "  and %s more\n", cli.Plural(more, "time", "times"))
		}
	}
	fmt.Fprintf(w, "\nWho made the memory\n  %s: %s", rankName(y.Rank, y.By), y.Verdict)
	if y.Reason != "" {
		fmt.Fprintf(w, ", %s", cli.OneLine(y.Reason))
	}
	fmt.Fprintln(w)
	if len(y.Replaced) > 0 {
		fmt.Fprintln(w, "\nWhat it replaced")
		for _, r := range y.Replaced {
			showRelated(a, w, r)
		}
	}
	if y.Into != nil {
		fmt.Fprintln(w, "\nWhat replaced it")
		showRelated(a, w, *y.Into)
	}
	if len(y.Spared) > 0 {
		fmt.Fprintln(w, "\nWhat would have changed it, had it not been pinned")
		for _, ch := range y.Spared {
			fmt.Fprint(w, "  ")
			showChange(a, w, &ch)
		}
	}
	if len(m.Conflict) > 0 {
		fmt.Fprintln(w, "\nOther values said at the same time")
		for _, v := range m.Conflict {
			fmt.Fprintf(w, "  %s: %s\n", v.Field, cli.OneLine(v.Value))
		}
	}
	if len(y.History) > 0 {
		fmt.Fprintln(w, "\nHistory")
		for _, ch := range y.History {
			fmt.Fprint(w, "  ")
			showChange(a, w, &ch)
		}
	}
}

func showRelated(a *cli.App, w io.Writer, r serve.Related) {
	fmt.Fprintf(w, "  %s  %s  %s\n", a.Paint.Dim(cli.ShortID(r.ID)), a.Paint.Dim(a.ShowTime(r.At)), cli.Listed(r.Text))
}

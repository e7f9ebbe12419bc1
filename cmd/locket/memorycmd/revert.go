package memorycmd

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func RevertCommand(a *cli.App) *cobra.Command {
	var r serve.RevertRequest
	var since, until string
	var yes bool
	c := &cobra.Command{
		Use: "revert --source worker | --app NAME [--since TIME] | revert --undo ID", Short: "Take back what workers said or an app wrote", Args: cli.Nothing(),
		Long: `Shows first what it would take back, and asks. What only a worker has said, or only the
app wrote, is removed on all of your devices. A memory of which you or a device have said
something, too, stays without those words. Times are those that the worker gives. Without
--since, everything is taken back, whatever its date.

A worker does not repeat by itself what it has done. --undo reverses a revert, on any
device that knows of it. Lines that a worker heard in recordings stay erased.

A revert that was interrupted has an id, which is printed. The same command with --id goes
on with it, and --undo reverses what was done.`,
		Example: `  locket revert --source worker --since 2026-09-14
  locket revert --source worker --engine "vision llava" --plan
  locket revert --app claude --since yesterday
  locket revert --undo k3f9tq2m7x`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch {
			case r.Undo != "" && (r.Source+r.App != "" || since != "" || until != "" || r.Engine != "" || r.Work != "" || r.Plan):
				return cli.Usagef("--undo stands alone")
			case r.Undo == "" && (r.Source == "worker") == (r.App != ""), r.Source != "" && r.Source != "worker":
				return cli.Usagef("give --source worker, --app and its name, or --undo and the id of a revert")
			}
			if r.Since, r.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if a.JSON && !yes && !r.Plan && r.Undo == "" {
				return cli.Usagef("--json asks nobody: add --plan to see what would go, or --yes")
			}
			return a.With(cmd.Context(), true, func(c *serve.Client) error {
				if r.Undo != "" {
					v, err := c.Revert(cmd.Context(), r)
					return a.Printed(err, v, func(w io.Writer) {
						fmt.Fprintf(w, "%s said again of %s.\n", cli.Plural(v.Claims, "claim", "claims"), cli.Plural(len(v.Memories), "memory", "memories"))
					})
				}
				return revert(a, cmd, c, r, yes)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Source, "source", "", "whose words: worker")
	f.StringVar(&r.App, "app", "", "what the app of this `name` wrote")
	f.StringVar(&since, "since", "", "said at this `time` or later")
	f.StringVar(&until, "until", "", "said before this `time`")
	f.StringVar(&r.Engine, "engine", "", "only what this `engine` made, as 'locket why' names it")
	f.StringVar(&r.Work, "work", "", "only of this `kind` of work: transcribe, read, caption …")
	f.StringVar(&r.ID, "id", "", "go on with the revert of this `id`, which was interrupted")
	f.StringVar(&r.Undo, "undo", "", "take the revert with this `id` back")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&r.Plan, "plan", false, "only show what it would take")
	return c
}

func revert(a *cli.App, cmd *cobra.Command, c *serve.Client, r serve.RevertRequest, yes bool) error {
	ask := r
	ask.Plan = true
	plan, err := c.Revert(cmd.Context(), ask)
	if err != nil {
		return err
	}
	if r.Plan || plan.Claims+plan.Lines == 0 {
		return a.Print(plan, func(w io.Writer) { showReverted(a, w, &plan) })
	}
	if !a.JSON {
		showReverted(a, a.Stdout, &plan)
	}
	if !yes {
		if err := a.ConfirmOr("Take all of this back?", "nothing was taken back"); err != nil {
			return err
		}
	}
	r.Until = plan.Until // what comes meanwhile was not shown
	if r.ID == "" {
		r.ID = strings.ToLower(rand.Text()[:10])
	}
	done, err := c.Revert(cmd.Context(), r)
	if err != nil {
		fmt.Fprint(a.Stderr, a.Heref("A part may be taken back. To go on: the same command with --id %s --until %s; to take it back: locket revert --undo %s\n", r.ID, r.Until.Format(time.RFC3339Nano), r.ID))
		return err
	}
	return a.Print(done, func(w io.Writer) {
		fmt.Fprint(w, a.Heref("%s taken back. If that was wrong: locket revert --undo %s\n", cli.Plural(done.Claims, "claim", "claims"), done.ID))
	})
}

func showReverted(a *cli.App, w io.Writer, v *serve.Reverted) {
	if v.Unseen > 0 {
		fmt.Fprintf(w, "%s can't be fetched from the relay now; what was said of them stays. Try again later.\n", cli.Plural(v.Unseen, "cold memory", "cold memories"))
	}
	if v.Lines > 0 {
		fmt.Fprintf(w, "%s that went in, for good.\n", cli.Plural(v.Lines, "line", "lines"))
	}
	if v.Claims+v.Lines == 0 {
		fmt.Fprintln(w, "No worker has said anything of that, and no app wrote it.")
		return
	}
	for _, m := range v.Memories {
		text, _, _ := strings.Cut(cli.OneLine(m.Text), "\n")
		fmt.Fprintf(w, "%s  %s  %s  %s\n", m.Memory.String()[:10], a.When(m.Said), m.Engine, cli.Short(text, 80))
		if m.Stays != "" {
			fmt.Fprintf(w, "    stays: %s\n", m.Stays)
		}
	}
	fmt.Fprintf(w, "%s of %s.\n", cli.Plural(v.Claims, "claim", "claims"), cli.Plural(len(v.Memories), "memory", "memories"))
}

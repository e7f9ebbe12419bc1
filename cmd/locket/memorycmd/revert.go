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
		Use: "revert --source worker | --app NAME [--since TIME] | revert --undo ID", Short: "Undo what workers said or an app wrote", Args: cli.NoArgs(),
		Long: `Shows what it would undo, and asks. What only a worker has said, or only the app wrote, is
removed on all of your devices. If you or a device also said something about a memory, it
stays, without the words of the worker or app. Times are those that the worker gives.
Without --since, everything is undone, whatever its date.

A worker does not repeat by itself what it has done. --undo reverses a revert, on any device
that knows of it. Lines that a worker transcribed from recordings stay erased.

If a revert is interrupted, its id is printed. The same command with --id continues it, and
--undo reverses what was done.`,
		Example: `  locket revert --source worker --since 2026-09-14
  locket revert --source worker --engine "vision llava" --plan
  locket revert --app claude --since yesterday
  locket revert --undo k3f9tq2m7x`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch {
			case r.Undo != "" && (r.Source+r.App != "" || since != "" || until != "" || r.Engine != "" || r.Work != "" || r.Plan):
				return cli.Usagef("--undo can't be combined with other flags")
			case r.Undo == "" && (r.Source == "worker") == (r.App != ""), r.Source != "" && r.Source != "worker":
				return cli.Usagef("give --source worker, --app and its name, or --undo and the id of a revert")
			}
			if r.Since, r.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if a.JSON && !yes && !r.Plan && r.Undo == "" {
				return cli.Usagef("--json cannot ask: add --plan to see what would be undone, or --yes")
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				if r.Undo != "" {
					v, err := c.Revert(cmd.Context(), r)
					return a.PrintUnless(err, v, func(w io.Writer) {
						fmt.Fprintf(w, "Restored %s about %s.\n", cli.Plural(v.Claims, "claim", "claims"), cli.Plural(len(v.Memories), "memory", "memories"))
					})
				}
				return revert(a, cmd, c, r, yes)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Source, "source", "", "whose words to undo: worker")
	f.StringVar(&r.App, "app", "", "undo what the app with this `name` wrote")
	f.StringVar(&since, "since", "", "said at this `time` or later")
	f.StringVar(&until, "until", "", "said before this `time`")
	f.StringVar(&r.Engine, "engine", "", "only what this `engine` made, as 'locket why' names it")
	f.StringVar(&r.Work, "work", "", "only from this `kind` of work: transcribe, read, caption …")
	f.StringVar(&r.ID, "id", "", "continue the interrupted revert with this `id`")
	f.StringVar(&r.Undo, "undo", "", "reverse the revert with this `id`")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&r.Plan, "plan", false, "only show what would be undone")
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
		if err := a.ConfirmOr("Undo all of this?", "nothing was undone"); err != nil {
			return err
		}
	}
	r.Until = plan.Until // what arrives meanwhile was not shown
	if r.ID == "" {
		r.ID = strings.ToLower(rand.Text()[:10])
	}
	done, err := c.Revert(cmd.Context(), r)
	if err != nil {
		fmt.Fprint(a.Stderr, a.WithHomef("A part may already be undone. To continue, run the same command with --id %s --until %s. To reverse it: locket revert --undo %s\n", r.ID, r.Until.Format(time.RFC3339Nano), r.ID))
		return err
	}
	return a.Print(done, func(w io.Writer) {
		fmt.Fprint(w, a.WithHomef("%s undone. To reverse this: locket revert --undo %s\n", cli.Plural(done.Claims, "claim", "claims"), done.ID))
	})
}

func showReverted(a *cli.App, w io.Writer, v *serve.Reverted) {
	if v.Unseen > 0 {
		fmt.Fprintf(w, "%s can't be fetched from the relay now; what was said about them stays. Try again later.\n", cli.Plural(v.Unseen, "cold memory", "cold memories"))
	}
	if v.Lines > 0 {
		fmt.Fprintf(w, "%s that it transcribed, for good.\n", cli.Plural(v.Lines, "line", "lines"))
	}
	if v.Claims+v.Lines == 0 {
		fmt.Fprintln(w, "There is nothing to undo: no worker or app wrote anything that matches.")
		return
	}
	for _, m := range v.Memories {
		text, _, _ := strings.Cut(cli.OneLine(m.Text), "\n")
		fmt.Fprintf(w, "%s  %s  %s  %s\n", m.Memory.String()[:10], a.ShowTime(m.Said), m.Engine, cli.Short(text, 80))
		if m.Stays != "" {
			fmt.Fprintf(w, "    stays: %s\n", m.Stays)
		}
	}
	fmt.Fprintf(w, "%s of %s.\n", cli.Plural(v.Claims, "claim", "claims"), cli.Plural(len(v.Memories), "memory", "memories"))
}

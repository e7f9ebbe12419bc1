package memorycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/node/serve"
)

// dreamHelp is the help of dream.
const dreamHelp = `A dream merges memories that say the same, archives what is out of date (small matters
after 7 days, projects after 90), moves lines out of core blocks that are full, sums up
days, and moves missed credentials into the vault. It never touches what is pinned, what
is in the vault, or the wearer's own words. It runs by itself in a quiet moment, after a
day, 5 sessions and 20 new memories.

Without a flag, the command lists past dreams. --plan shows what a dream would do. --apply ID
carries out a plan; --apply alone makes a plan and carries it out. --show ID lists what a
dream did. --undo reverses a dream: the last one, or the one with the given id. With --step,
it reverses only what the dream did with that memory. Credentials stay in the vault.`

func DreamCommand(a *cli.App) *cobra.Command {
	var plan, apply, undo, show bool
	var step string
	c := &cobra.Command{
		Use: "dream [--plan | --apply [ID] | --show ID | --undo [ID] [--step MEMORY]]", Short: "Merge, archive and sum up memories",
		Long: dreamHelp,
		Example: `  locket dream --plan
  locket dream --apply 3f2a9c01b7de
  locket dream --undo
  locket dream --show 3f2a9c01b7de
  locket dream --undo 3f2a9c01b7de --step k3f9`,
		Args: cli.ArgsBetween(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			ways := 0
			for _, set := range []bool{plan, apply, undo, show} {
				if set {
					ways++
				}
			}
			if ways > 1 {
				return cli.Usagef("--plan, --apply, --show and --undo: choose one")
			}
			if step != "" && !undo {
				return cli.Usagef("--step needs --undo")
			}
			if show && len(args) == 0 {
				return cli.Usagef("%s", a.WithHome("--show needs the id of a dream; to list them: locket dream"))
			}
			id := ""
			if len(args) > 0 {
				if id = args[0]; !apply && !undo && !show {
					return cli.Usagef("%q: an id needs --apply, --show or --undo", id)
				}
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				switch {
				case plan:
					p, err := cl.PlanDream(cmd.Context())
					return a.PrintUnless(err, p, func(w io.Writer) { showDream(a, w, &p) })
				case apply:
					if id == "" {
						p, err := cl.PlanDream(cmd.Context())
						if err != nil {
							return err
						}
						id = p.ID
					}
					r, err := cl.ApplyDream(cmd.Context(), id)
					if errors.Is(err, memory.ErrNotFound) {
						return cli.AdvisedError{Err: err, Advice: "Make a plan and look at it first: " + a.WithHome("locket dream --plan")}
					}
					return a.PrintUnless(err, r, func(w io.Writer) { showDreamt(a, w, &r) })
				case undo:
					return undoDream(a, cmd.Context(), cl, id, step)
				}
				if show {
					steps, err := cl.DreamSteps(cmd.Context(), id)
					return cli.Rows(a, err, steps, func(a0 io.Writer, a1 *serve.DreamStep) { dreamStep(a, a0, a1) }, "All of it was undone.")
				}
				list, err := cl.Dreams(cmd.Context())
				return cli.Rows(a, err, list, func(w io.Writer, d *serve.Dream) {
					state := cli.Plural(d.Claims, "change", "changes")
					if d.Undone {
						state = "taken back"
					}
					fmt.Fprintf(w, "%s  %s  %s\n", d.ID, a.Paint.Dim(a.ShowTime(d.At)), state)
				}, "No dreams yet. To see what one would do: locket dream --plan")
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&plan, "plan", false, "show what a dream would do, and why")
	f.BoolVar(&apply, "apply", false, "carry out a plan")
	f.BoolVar(&undo, "undo", false, "reverse a dream")
	f.BoolVar(&show, "show", false, "list what a dream did, except what was undone")
	f.StringVar(&step, "step", "", "with --undo: only what it did with this `memory`")
	return c
}

// undoDream reverses a dream, or what it did with one memory.
func undoDream(a *cli.App, ctx context.Context, cl *serve.Client, id, step string) error {
	var of memory.ID
	if step != "" {
		m, err := cl.Get(ctx, step)
		if err != nil {
			return err
		}
		of = m.ID
	}
	r, err := cl.UndoDream(ctx, id, of)
	return a.PrintUnless(err, r, func(w io.Writer) {
		if step != "" {
			fmt.Fprintf(w, "Took back one step of dream %s.\n", r.ID)
			return
		}
		fmt.Fprintf(w, "Took back dream %s: %s.\n", r.ID, cli.Plural(r.Steps, "memory", "memories"))
	})
}

func showDream(a *cli.App, w io.Writer, p *serve.DreamPlan) {
	if len(p.Steps) == 0 {
		fmt.Fprintln(w, "There is nothing to do.")
		return
	}
	for i := range p.Steps {
		dreamStep(a, w, &p.Steps[i])
	}
	if p.More {
		fmt.Fprintln(w, "There is more for another dream.")
	}
	fmt.Fprint(w, a.WithHomef("\n%s. To carry it out: locket dream --apply %s\n", cli.Plural(len(p.Steps), "step", "steps"), p.ID))
}

func dreamStep(a *cli.App, w io.Writer, s *serve.DreamStep) {
	why := cli.OneLine(s.Reason)
	if s.Kind == consolidate.Merge {
		why += ": " + cli.OneLine(s.IntoText)
	}
	fmt.Fprintf(w, "%-9s  %s  %s%s\n", s.Kind, a.Paint.Dim(cli.ShortID(s.Memory)), cli.OneLine(s.Text), a.Paint.Dim("  "+why))
}

func showDreamt(a *cli.App, w io.Writer, r *serve.DreamResult) {
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "skipped    %s  %s: %s\n", s.Kind, cli.OneLine(s.Text), s.Reason)
	}
	if r.Steps == 0 {
		fmt.Fprintln(w, "Nothing was done.")
		return
	}
	fmt.Fprint(w, a.WithHomef("Done: %s. To reverse it: locket dream --undo %s\n", cli.Plural(r.Steps, "step", "steps"), r.ID))
}

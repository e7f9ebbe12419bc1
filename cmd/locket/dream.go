package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) dreamCommand() *cobra.Command {
	var plan, apply, undo bool
	c := &cobra.Command{
		Use: "dream [--plan | --apply [ID] | --undo [ID]]", Short: "Merge, archive and sum up memories",
		Long: `A dream merges memories that say the same, archives what is out of date (small matters
after 7 days, projects after 90), moves lines out of core blocks that are full, sums up
days, and moves missed credentials into the vault. It never touches what is pinned, what
is in the vault, or the wearer's own words. It comes by itself in a quiet moment, after a
day, 5 sessions and 20 new memories.

Without a flag it lists past dreams. --plan shows what a dream would do. --apply ID carries
out a plan; --apply alone makes a plan and carries it out. --undo reverses a dream, the
last unless an id is given. Credentials stay in the vault.`,
		Example: `  locket dream --plan
  locket dream --apply 3f2a9c01b7de
  locket dream --undo`,
		Args: between(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			ways := 0
			for _, set := range []bool{plan, apply, undo} {
				if set {
					ways++
				}
			}
			if ways > 1 {
				return usagef("--plan, --apply and --undo: choose one")
			}
			id := ""
			if len(args) > 0 {
				if id = args[0]; !apply && !undo {
					return usagef("%q: an id is for --apply or --undo", id)
				}
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				switch {
				case plan:
					p, err := cl.PlanDream(cmd.Context())
					return a.printed(err, p, func(w io.Writer) { a.showDream(w, &p) })
				case apply:
					if id == "" {
						p, err := cl.PlanDream(cmd.Context())
						if err != nil {
							return err
						}
						id = p.ID
					}
					r, err := cl.ApplyDream(cmd.Context(), id)
					return a.printed(err, r, func(w io.Writer) { a.showDreamt(w, &r, "Done") })
				case undo:
					r, err := cl.UndoDream(cmd.Context(), id)
					return a.printed(err, r, func(w io.Writer) {
						fmt.Fprintf(w, "Took back dream %s: %s.\n", r.ID, plural(r.Steps, "memory", "memories"))
					})
				}
				list, err := cl.Dreams(cmd.Context())
				return rows(a, err, list, func(w io.Writer, d *serve.Dream) {
					state := plural(d.Claims, "change", "changes")
					if d.Undone {
						state = "taken back"
					}
					fmt.Fprintf(w, "%s  %s  %s\n", d.ID, a.paint.dim(a.when(d.At)), state)
				}, "No dreams yet. See what one would do: locket dream --plan")
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&plan, "plan", false, "show what a dream would do, and why")
	f.BoolVar(&apply, "apply", false, "do it")
	f.BoolVar(&undo, "undo", false, "take a dream back")
	return c
}

func (a *app) showDream(w io.Writer, p *serve.DreamPlan) {
	if len(p.Steps) == 0 {
		fmt.Fprintln(w, "There is nothing to do.")
		return
	}
	for _, s := range p.Steps {
		why := oneLine(s.Reason)
		if s.Kind == consolidate.Merge {
			why += ": " + oneLine(s.IntoText)
		}
		fmt.Fprintf(w, "%-9s  %s  %s%s\n", s.Kind, a.paint.dim(shortID(s.Memory)), oneLine(s.Text), a.paint.dim("  "+why))
	}
	if p.More {
		fmt.Fprintln(w, "There is more; another dream goes on.")
	}
	fmt.Fprintf(w, "\n%s. Do it: locket dream --apply %s\n", plural(len(p.Steps), "step", "steps"), p.ID)
}

func (a *app) showDreamt(w io.Writer, r *serve.DreamResult, done string) {
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "skipped    %s  %s: %s\n", s.Kind, oneLine(s.Text), s.Reason)
	}
	fmt.Fprintf(w, "%s: %s. Take it back: locket dream --undo %s\n", done, plural(r.Steps, "step", "steps"), r.ID)
}

package recallcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/names"
	"github.com/locket-dev/locket/node/serve"
)

func GraphCommand(a *cli.App) *cobra.Command {
	var q atlas.Query
	var format, out, asOf, knownAt string
	c := &cobra.Command{
		Use: "graph [ENTITY]", Short: "Show the people, places and things that memories name",
		Long: `Shows entities with all their names, the relations between them, and since when each is true.
With the name of an entity, it shows what is around that entity, nearest first. With --find,
it shows the relations that best answer a question. Otherwise it shows the entities that most
memories name.

--as-of shows what was true at a time, --known-at what was believed at a time, and --past
also what is no longer true. --format graphml is for yEd, Gephi and NetworkX, and jsonld for
JSON-LD. With --output, it writes a file that only you can read.`,
		Example: `  locket graph Elizabeth
  locket graph --find "who works at Philips" --past
  locket graph --limit 10000 --format graphml --output life.graphml`,
		Args: cli.ArgsBetween(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				q.Entity = args[0]
			}
			f := atlas.Format(format)
			switch {
			case q.Entity != "" && q.Text != "":
				return cli.Usagef("a name and --find: choose one")
			case !slices.Contains(atlas.Formats, f) && format != "text":
				return cli.Usagef("--format: %q: want text, json, graphml or jsonld", format)
			case q.Limit < 1 || q.Limit > atlas.MaxLimit:
				return cli.Usagef("--limit: want 1 to %d", atlas.MaxLimit)
			case out != "" && f != atlas.GraphML && f != atlas.JSONLD && f != atlas.JSON:
				return cli.Usagef("--output needs --format json, graphml or jsonld")
			}
			var err error
			if q.At, err = a.ReadTime("--as-of", asOf); err != nil {
				return err
			}
			if q.Known, err = a.ReadTime("--known-at", knownAt); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if f == atlas.GraphML || f == atlas.JSONLD || out != "" {
					return exportGraph(a, out, func(w io.Writer) error { return cl.WriteGraph(cmd.Context(), q, f, w) })
				}
				v, err := cl.Graph(cmd.Context(), q)
				if err != nil {
					return err
				}
				if format == string(atlas.JSON) {
					a.JSON = true
				}
				if q.Entity != "" && len(v.Meant) == 0 && !a.JSON {
					fmt.Fprintf(a.Stderr, "Nobody and nothing is named %s.\n", cli.OneLine(q.Entity))
				} else if len(v.Entities) == 0 && q.Text == "" && !a.JSON {
					fmt.Fprintln(a.Stderr, "No memory names a person, a place or a thing yet.")
				}
				return a.Print(v, func(w io.Writer) { showGraph(a, w, &v) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&q.Text, "find", "", "show relations whose words answer this `text`")
	f.StringVar(&asOf, "as-of", "", "what was true at a `time`")
	f.StringVar(&knownAt, "known-at", "", "what was believed at a `time`")
	f.BoolVar(&q.Past, "past", false, "also what is no longer true")
	cli.LimitFlag(f, &q.Limit, atlas.DefaultLimit, "at most this `count` of entities")
	f.StringVar(&format, "format", "text", "text, json, graphml or jsonld")
	f.StringVar(&out, "output", "", "`file` to write instead of standard output")
	return c
}

// exportGraph writes to a file that only the wearer can read, or to standard output. It does not
// overwrite a file.
func exportGraph(a *cli.App, out string, write func(io.Writer) error) error {
	if out == "" {
		return write(a.Stdout)
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("the graph: %w", atomicfile.Fault(out, err))
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	return nil
}

func showGraph(a *cli.App, w io.Writer, v *atlas.View) {
	names := map[string]string{}
	for _, e := range v.Entities {
		names[e.ID] = e.Name
		line := cli.OneLine(e.Name)
		if len(e.Aliases) > 0 {
			line += " (" + cli.OneLine(strings.Join(e.Aliases, ", ")) + ")"
		}
		fmt.Fprintf(w, "%s  %s\n", cli.Padded(line, 40), cli.Plural(e.Memories, "memory", "memories"))
	}
	if len(v.Relations) > 0 {
		fmt.Fprintln(w)
	}
	for _, r := range v.Relations {
		line := fmt.Sprintf("%s  %s -- %s -- %s", cli.ShortID(r.Memory), names[r.Subject], strings.ReplaceAll(r.Predicate, "_", " "), names[r.Object])
		if !r.TrueFrom.IsZero() {
			line += ", from " + r.TrueFrom.In(a.Zone()).Format(time.DateOnly)
		}
		if !r.TrueTo.IsZero() {
			line += " to " + r.TrueTo.In(a.Zone()).Format(time.DateOnly)
		}
		fmt.Fprintln(w, cli.OneLine(line))
	}
	for _, c := range v.Communities {
		if c.Summary == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s\n  %s\n", cli.OneLine(c.Title), cli.OneLine(c.Summary))
	}
	if v.More {
		fmt.Fprintln(w, "\nThere is more: raise --limit.")
	}
}

func EntitiesCommand(a *cli.App) *cobra.Command {
	group := &cobra.Command{
		Use: "entities", Short: "Merge and split the names of people, places and things", RunE: a.NeedsCommand,
		Long: `Names that differ only in case, accents, order of words or script count as one name if only
one can be meant. You can merge other names, and split names that count as one. A decision
is a memory: it is synced to your devices, and undo reverses it.`,
	}
	decide := func(use, short, done string, do func(*serve.Client, context.Context, string, string) (serve.Decided, error)) *cobra.Command {
		return &cobra.Command{
			Use: use + " NAME NAME", Short: short, Args: cli.ArgsBetween(2, 2, "a name"), Example: "  locket entities " + use + " Elizabeth Liz",
			RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
				d, err := do(cl, cmd.Context(), args[0], args[1])
				return a.PrintUnless(err, d, func(w io.Writer) {
					fmt.Fprint(w, a.WithHomef("%s %s %s. To reverse this: locket entities undo %s\n", cli.OneLine(args[0]), done, cli.OneLine(args[1]), d.ID.String()[:12]))
					for _, slot := range d.Differ {
						fmt.Fprintf(w, "\nBoth names have a value of %s, and only one can be true now:\n", strings.ReplaceAll(slot.Attribute, "_", " "))
						for _, m := range slot.Memories {
							fmt.Fprintf(w, "  %s  %s\n", cli.ShortID(m.ID), cli.OneLine(m.Text))
						}
					}
					if len(d.Differ) > 0 {
						fmt.Fprint(w, a.WithHomef("\nTo remove what is no longer true: locket delete ID\n"))
					}
				})
			}),
		}
	}
	group.AddCommand(
		decide("merge", "Treat two names as one", "is also", (*serve.Client).MergeEntities),
		decide("split", "Keep two names apart", "is not", (*serve.Client).SplitEntities),
		undecideCommand(a), listEntitiesCommand(a))
	return group
}

func undecideCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID", Short: "Undo a decision about two names", Args: cli.ArgsBetween(1, 1, "the id, as shown by locket entities list,"),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			d, err := cl.UndecideEntities(cmd.Context(), args[0])
			if errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrInvalid) {
				return cli.AdvisedError{Err: err, Advice: "To list the decisions: " + a.WithHome("locket entities list")}
			}
			return a.PrintUnless(err, d, func(w io.Writer) { fmt.Fprintf(w, "Undone: %s.\n", cli.OneLine(d.Text)) })
		}),
	}
}

func listEntitiesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List decisions about names, and names that may be one", Args: cli.NoArgs(),
		RunE: cli.PrintCommand(a, (*serve.Client).Entities, func(w io.Writer, v *serve.EntitiesAnswer) {
			for i, d := range v.Decisions {
				verb, over := "is also", ""
				if !d.Same {
					verb = "is not"
				}
				if slices.ContainsFunc(v.Decisions[i+1:], func(later atlas.Decision) bool { return samePair(d, later) }) {
					over = a.Paint.Dim("  (a later decision counts)")
				}
				fmt.Fprintf(w, "%s  %s %s %s%s\n", d.Memory.String()[:12], cli.OneLine(d.A), verb, cli.OneLine(d.B), over)
			}
			for _, s := range v.Suggestions {
				fmt.Fprintf(w, "maybe         %s is also %s: %s\n", cli.OneLine(s.A), cli.OneLine(s.B), s.Reason)
			}
			if len(v.Decisions)+len(v.Suggestions) == 0 {
				fmt.Fprintln(w, "No decisions about names, and nothing to decide.")
			}
		}),
	}
}

// samePair reports whether two decisions are about the same two names.
func samePair(x, y atlas.Decision) bool {
	a, b := names.Fold(x.A), names.Fold(x.B)
	c, d := names.Fold(y.A), names.Fold(y.B)
	return a == c && b == d || a == d && b == c
}

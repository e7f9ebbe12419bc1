// Package memorycmd contains the commands for single memories: add, batch, list, get, pin, unpin,
// categories; why, history, refusals; update (of a memory, or with --check of the program), undo,
// delete, forget, retention, dream, conflicts, revert; and vault.
package memorycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// noteGiven says at the end of a list that there are also memories of other people.
func noteGiven(a *cli.App, ctx context.Context, cl *serve.Client) error {
	list, err := cl.GivenShares(ctx)
	if errors.Is(err, serve.ErrUnsupported) || errors.Is(err, serve.ErrForbidden) {
		return nil
	}
	n := 0
	for _, g := range list {
		n += len(g.Memories)
	}
	if n > 0 {
		fmt.Fprint(a.Stderr, a.WithHomef("Not listed: %s of other people that you bought or that are shared with you. To list them: locket share given\n", cli.Plural(n, "memory", "memories")))
	}
	return err
}

func GetCommand(a *cli.App) *cobra.Command {
	var asOf, knownAt string
	c := &cobra.Command{
		Use: "get ID", Short: "Show a memory", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: "As of another time, it shows the memory that was true then in its place: asked as of last\nyear, the home of today is the home of last year.",
		Example: `  locket get 3f7k9m2xqa
  locket get 3f7k9m2xqa --as-of 2025-06-01`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var times [2]time.Time
			for i, t := range [][2]string{{"--as-of", asOf}, {"--known-at", knownAt}} {
				var err error
				if times[i], err = a.ReadTime(t[0], t[1]); err != nil {
					return err
				}
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				m, err := cl.GetAt(cmd.Context(), args[0], times[0], times[1])
				return a.PrintUnless(err, m, func(w io.Writer) { showMemory(a, w, &m) })
			})
		},
	}
	c.Flags().StringVar(&asOf, "as-of", "", "what was true at a `time`")
	c.Flags().StringVar(&knownAt, "known-at", "", "as it was believed at a `time`")
	return c
}

func showMemory(a *cli.App, w io.Writer, m *memory.Memory) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, value)
		}
	}
	fmt.Fprintf(w, "%s%s\n\n", a.Paint.Bold(cli.OneLine(m.Text)), cli.MemoryMarks(m))
	line("id", m.ID.String())
	line("type", string(m.Type))
	if m.Slot != nil {
		line("about", cli.OneLine(m.Slot.Subject+" · "+m.Slot.Attribute+" · "+m.Slot.Value))
	}
	if s := m.Fields.Semantic; s != nil {
		line("name", cli.OneLine(s.Name))
		line("details", cli.OneLine(s.Details))
	}
	if p := m.Fields.Procedural; p != nil {
		line("kind", cli.OneLine(p.EntryType))
		for i, s := range p.Steps {
			line(fmt.Sprintf("step %d", i+1), cli.OneLine(s))
		}
	}
	if e := m.Fields.Episodic; e != nil {
		line("event", e.EventType)
		switch {
		case !e.Started.IsZero():
			from, until := a.Spans(m)
			line("at", from)
			line("until", until)
		case !e.Ended.IsZero():
			line("until", a.ShowTime(e.Ended))
		}
		line("who", cli.OneLine(e.Actor))
		line("place", cli.OneLine(e.Place))
	}
	if r := m.Fields.Resource; r != nil {
		line("document", fmt.Sprintf("%s, %d bytes of text", r.MediaType, len(r.Content)))
	}
	if v := m.Fields.Vault; v != nil {
		line("secret", v.EntryType+a.WithHomef("; locket vault show %s reveals it", cli.ShortID(m.ID)))
	}
	if !m.TrueFrom.IsZero() {
		line("true from", a.ShowTime(m.TrueFrom))
	}
	if !m.TrueTo.IsZero() {
		line("true to", a.ShowTime(m.TrueTo))
	}
	line("learnt", a.ShowTime(m.Learnt))
	line("heard", cli.Plural(m.Heard, "time", "times"))
	line("confidence", fmt.Sprintf("%.2f", m.Confidence))
	line("sensitivity", m.Sensitivity.String())
	line("tags", cli.OneLine(strings.Join(m.Tags, ", ")))
	line("categories", strings.Join(m.Categories, ", "))
	for _, k := range slices.Sorted(maps.Keys(m.Metadata)) {
		line("metadata", cli.OneLine(k+" = "+m.Metadata[k]))
	}
	line("agent", cli.OneLine(strings.TrimSpace(m.Owner.Agent+" "+m.Owner.Run)))
	line("from", sourceText(m.Source))
	line("evidence", a.Evidence(m.Evidence))
}

func sourceText(s memory.Source) string {
	text := strings.TrimSpace(s.Plugin + " " + s.Version)
	if s.Model != "" {
		text += " with " + s.Model
	}
	if s.Device != "" {
		text += " on " + s.Device
	}
	return cli.OneLine(text)
}

func ListCommand(a *cli.App) *cobra.Command {
	var q serve.ListQuery
	var kind, state, since, until, where, asOf, knownAt string
	c := &cobra.Command{
		Use: "list", Short: "List memories, newest first", Args: cli.NoArgs(),
		Long: cli.WithFilterHelp(`Each line shows the id, the type, when it happened, and the text. What was learnt last comes
first. If it was learnt on another day, the line says when. What others share with you is
not included: see locket share given.`),
		Example: `  locket list --type vault
  locket list --state superseded --since 7d
  locket list --where 'speaker = Ann and not tags in (work, visit)'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			q.Type, q.State = memory.Type(kind), memory.State(state)
			if q.Since, q.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if q.AsOf, err = a.ReadTime("--as-of", asOf); err != nil {
				return err
			}
			if q.KnownAt, err = a.ReadTime("--known-at", knownAt); err != nil {
				return err
			}
			if q.Filters, err = a.ReadFilter(where); err != nil {
				return err
			}
			if q.Limit < 0 {
				return cli.Usagef("--limit: %d, want 1 or more, or 0 for all", q.Limit)
			}
			limit := q.Limit
			q.Limit = 0 // the stream does the paging
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				n, err := rows(a, cl.All(cmd.Context(), q), limit)
				if err == nil && n == 0 && !a.JSON {
					fmt.Fprintln(a.Stderr, "No memories.")
					err = a.LessHere(cmd.Context(), cl, "")
				}
				if err != nil || a.JSON {
					return err
				}
				return noteGiven(a, cmd.Context(), cl)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "type", "", "only this `type`: core, episodic, semantic, procedural, resource or vault")
	cli.Choose(f, "type", cli.Types...)
	f.StringVar(&state, "state", "", "`active` (default), superseded, archived or all")
	cli.Choose(f, "state", "active", "superseded", "archived", "all")
	f.StringVar(&since, "since", "", "learnt at this `time` or later")
	f.StringVar(&until, "until", "", "learnt before this `time`")
	f.StringVar(&asOf, "as-of", "", "what was true at a `time`")
	f.StringVar(&knownAt, "known-at", "", "what was believed at a `time`")
	f.StringVar(&q.Tag, "tag", "", "only with this `tag`")
	f.StringVar(&where, "where", "", "only what matches a `filter`")
	f.StringVar(&q.Agent, "agent", "", "only of this `agent`")
	f.StringVar(&q.Run, "run", "", "only of this `run`")
	cli.LimitFlag(f, &q.Limit, 0, "at most this `count`; default: all")
	return c
}

// rows prints memories, at most limit if that is not 0.
func rows(a *cli.App, list iter.Seq2[memory.Memory, error], limit int) (n int, err error) {
	for m, err := range list {
		if err != nil {
			return n, err
		}
		if err := a.Print(m, func(w io.Writer) { a.Row(w, &m) }); err != nil {
			return n, err
		}
		if n++; n == limit {
			break
		}
	}
	return n, nil
}

func PinCommand(a *cli.App, pinned bool) *cobra.Command {
	use, short := "pin ID", "Protect a memory from changes by machines"
	if !pinned {
		use, short = "unpin ID", "Allow machines to change a memory again"
	}
	return &cobra.Command{
		Use: use, Short: short, Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			m, err := cl.Pin(cmd.Context(), args[0], pinned)
			return a.PrintUnless(err, m, func(w io.Writer) { a.Row(w, &m) })
		}),
	}
}

func DeleteCommand(a *cli.App) *cobra.Command {
	var yes, all, plan bool
	var user, agent, run string
	c := &cobra.Command{
		Use: "delete ID | delete --all --agent NAME", Short: "Erase a memory, or all memories of an owner", Args: cli.ArgsBetween(0, 1, "the id"),
		Long: `What was said stays until its retention ends; locket forget erases that, too.
With --all, it erases every memory of an owner, and what was said if no other memory
was made from it. It first shows what that is.`,
		Example: `  locket delete 3f7k9m2xqa --yes
  locket delete --all --agent planner --plan`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return cli.Usagef("--all and an id: choose one")
			case all:
				return deleteAll(a, cmd.Context(), user, agent, run, yes, plan)
			case len(args) == 0:
				return cli.Usagef("the id is missing")
			case user != "" || agent != "" || run != "" || plan:
				return cli.Usagef("--user, --agent, --run and --plan need --all")
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if !yes {
					m, err := cl.Get(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					var line strings.Builder
					a.Row(&line, &m)
					fmt.Fprint(a.Stderr, line.String())
					if len(m.Evidence) > 0 {
						fmt.Fprint(a.Stderr, a.WithHomef("What was said stays until its retention ends. To erase that, too: locket forget %s\n", cli.ShortID(m.ID)))
					}
					if err := a.ConfirmOr("Erase it?", "nothing was erased"); err != nil {
						return err
					}
				}
				d, err := cl.Delete(cmd.Context(), args[0])
				return a.PrintUnless(err, d, func(w io.Writer) { fmt.Fprintf(w, "Erased %s.\n", cli.ShortID(d.ID)) })
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&all, "all", false, "every memory of an owner")
	f.StringVar(&user, "user", "", "with --all: of this `user`")
	f.StringVar(&agent, "agent", "", "with --all: of this `agent`")
	f.StringVar(&run, "run", "", "with --all: of this `run`")
	f.BoolVar(&plan, "plan", false, "with --all: only show what would be erased")
	return c
}

func HistoryCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "Show every change of a memory, oldest first", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			list, err := cl.History(cmd.Context(), args[0])
			return cli.Rows(a, err, list, func(a0 io.Writer, a1 *memory.Change) { showChange(a, a0, a1) }, "")
		}),
	}
}

func showChange(a *cli.App, w io.Writer, ch *memory.Change) {
	text := cli.OneLine(ch.New)
	switch {
	case ch.Old != "" && ch.New != "":
		text = cli.OneLine(ch.Old) + " → " + cli.OneLine(ch.New)
	case ch.New == "":
		text = cli.OneLine(ch.Old)
	}
	fmt.Fprintf(w, "%s  %-6s  %s%s\n", a.Paint.Dim(a.ShowTime(ch.At)), ch.Verdict, text, a.Paint.Dim("  "+cli.OneLine(ch.Reason)+" ("+rankName(ch.Rank, ch.By)+")"))
}

// rankName says who made a change.
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

// orLast requires an id or --last.
func orLast(last *bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if *last == (len(args) > 0) {
			return cli.Usagef("want an id, or --last for the memory that was learnt last")
		}
		return cli.ArgsBetween(0, 1, "the id")(c, args)
	}
}

// aimed returns the given id, or that of the memory that was learnt last.
func aimed(ctx context.Context, cl *serve.Client, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	for m, err := range cl.All(ctx, serve.ListQuery{}) {
		return m.ID.String(), err
	}
	return "", cli.AdvisedError{Err: fmt.Errorf("the newest memory: %w", memory.ErrNotFound), Advice: "There is no memory here. To add one: locket add TEXT"}
}

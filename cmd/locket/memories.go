package main

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// readTime takes a date, a time, today, yesterday, or how long ago. A day is its beginning.
func (a *app) readTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil && !t.IsZero() { // zero stands for none
		return t, nil
	}
	l, err := a.load()
	if err != nil {
		return time.Time{}, err
	}
	zone, err := l.Location()
	if err != nil {
		return time.Time{}, err
	}
	switch today := time.Now().In(zone); strings.ToLower(s) {
	case "today", "今天":
		return midnight(today), nil
	case "yesterday", "昨天":
		return midnight(today.AddDate(0, 0, -1)), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil && !t.IsZero() {
			return t, nil
		}
	}
	if d, err := config.ParseDuration(s); err == nil {
		return time.Now().Add(-d.Std()), nil
	}
	return time.Time{}, usagef("%s %q: want 2026-03-01, \"2026-03-01 14:30\", today, yesterday, or how long ago, such as 3d", flag, s)
}

// midnight is when a day begins.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// readPeriod takes the times of --since and --until.
func (a *app) readPeriod(since, until string) (from, to time.Time, err error) {
	if from, err = a.readTime("--since", since); err == nil {
		to, err = a.readTime("--until", until)
	}
	return from, to, err
}

// evidence is the first piece, in words.
func (a *app) evidence(list []memory.Evidence) string {
	if len(list) == 0 {
		return ""
	}
	return a.said(list[0].Speaker, list[0].At, list[0].Excerpt)
}

func (a *app) said(speaker string, at time.Time, excerpt string) string {
	speaker = cmp.Or(speaker, "someone")
	s := oneLine(speaker) + ", " + a.when(at)
	if excerpt != "" {
		s += ": \"" + oneLine(excerpt) + "\""
	}
	return s
}

func (a *app) getCommand() *cobra.Command {
	var asOf, knownAt string
	c := &cobra.Command{
		Use: "get ID", Short: "Show a memory", Args: between(1, 1, "the id"),
		Long: "As of another time, it shows the memory that was true then in its place: asked as of last\nyear, the home of today is the home of last year.",
		Example: `  locket get 3f7k9m2xqa
  locket get 3f7k9m2xqa --as-of 2025-06-01`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var times [2]time.Time
			for i, t := range [][2]string{{"--as-of", asOf}, {"--known-at", knownAt}} {
				var err error
				if times[i], err = a.readTime(t[0], t[1]); err != nil {
					return err
				}
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				m, err := cl.GetAt(cmd.Context(), args[0], times[0], times[1])
				return a.printed(err, m, func(w io.Writer) { a.showMemory(w, &m) })
			})
		},
	}
	c.Flags().StringVar(&asOf, "as-of", "", "what was true at a `time`")
	c.Flags().StringVar(&knownAt, "known-at", "", "as it was believed at a `time`")
	return c
}

func (a *app) showMemory(w io.Writer, m *memory.Memory) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, value)
		}
	}
	fmt.Fprintf(w, "%s%s\n\n", a.paint.bold(oneLine(m.Text)), marks(m))
	line("id", m.ID.String())
	line("type", string(m.Type))
	if m.Slot != nil {
		line("about", oneLine(m.Slot.Subject+" · "+m.Slot.Attribute+" · "+m.Slot.Value))
	}
	if s := m.Fields.Semantic; s != nil {
		line("name", oneLine(s.Name))
		line("details", oneLine(s.Details))
	}
	if p := m.Fields.Procedural; p != nil {
		line("kind", oneLine(p.EntryType))
		for i, s := range p.Steps {
			line(fmt.Sprintf("step %d", i+1), oneLine(s))
		}
	}
	if e := m.Fields.Episodic; e != nil {
		line("event", e.EventType)
		if !e.Started.IsZero() {
			line("at", a.exactly(m.Text, e.Started))
		}
		if !e.Ended.IsZero() {
			line("until", a.when(e.Ended))
		}
		line("who", oneLine(e.Actor))
		line("place", oneLine(e.Place))
	}
	if r := m.Fields.Resource; r != nil {
		line("document", fmt.Sprintf("%s, %d bytes of text", r.MediaType, len(r.Content)))
	}
	if v := m.Fields.Vault; v != nil {
		line("secret", v.EntryType+a.heref("; locket vault show %s reveals it", shortID(m.ID)))
	}
	if !m.TrueFrom.IsZero() {
		line("true from", a.when(m.TrueFrom))
	}
	if !m.TrueTo.IsZero() {
		line("true to", a.when(m.TrueTo))
	}
	line("learnt", a.when(m.Learnt))
	line("heard", plural(m.Heard, "time", "times"))
	line("confidence", fmt.Sprintf("%.2f", m.Confidence))
	line("sensitivity", m.Sensitivity.String())
	line("tags", oneLine(strings.Join(m.Tags, ", ")))
	line("categories", strings.Join(m.Categories, ", "))
	for _, k := range slices.Sorted(maps.Keys(m.Metadata)) {
		line("metadata", oneLine(k+" = "+m.Metadata[k]))
	}
	line("agent", oneLine(strings.TrimSpace(m.Owner.Agent+" "+m.Owner.Run)))
	line("from", sourceText(m.Source))
	line("evidence", a.evidence(m.Evidence))
}

func sourceText(s memory.Source) string {
	text := strings.TrimSpace(s.Plugin + " " + s.Version)
	if s.Model != "" {
		text += " with " + s.Model
	}
	if s.Device != "" {
		text += " on " + s.Device
	}
	return oneLine(text)
}

func (a *app) listCommand() *cobra.Command {
	var q serve.ListQuery
	var kind, state, since, until, where, asOf, knownAt string
	c := &cobra.Command{
		Use: "list", Short: "List memories, newest first", Args: nothing(),
		Long: withFilterHelp(`A line has the id, the type, when it happened, and the text. What was learnt last comes
first; when it was learnt is said where that was on another day. What others share with
you is not yours, and listed by locket share given.`),
		Example: `  locket list --type vault
  locket list --state superseded --since 7d
  locket list --where 'speaker = Ann and not tags in (work, visit)'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			q.Type, q.State = memory.Type(kind), memory.State(state)
			if q.Since, q.Until, err = a.readPeriod(since, until); err != nil {
				return err
			}
			if q.AsOf, err = a.readTime("--as-of", asOf); err != nil {
				return err
			}
			if q.KnownAt, err = a.readTime("--known-at", knownAt); err != nil {
				return err
			}
			if q.Filters, err = a.readFilter(where); err != nil {
				return err
			}
			if q.Limit < 0 {
				return usagef("--limit: %d, want 1 or more, or 0 for all", q.Limit)
			}
			limit := q.Limit
			q.Limit = 0 // pages are the stream's affair
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				n, err := a.rows(cl.All(cmd.Context(), q), limit)
				if err == nil && n == 0 && !a.json {
					fmt.Fprintln(a.stderr, "No memories.")
					err = a.lessHere(cmd.Context(), cl, "")
				}
				if err != nil || a.json {
					return err
				}
				return a.noteGiven(cmd.Context(), cl)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "type", "", "only this `type`: core, episodic, semantic, procedural, resource or vault")
	f.StringVar(&state, "state", "", "`active` (unless said), superseded, archived or all")
	f.StringVar(&since, "since", "", "learnt at this `time` or later")
	f.StringVar(&until, "until", "", "learnt before this `time`")
	f.StringVar(&asOf, "as-of", "", "what was true at a `time`")
	f.StringVar(&knownAt, "known-at", "", "what was believed at a `time`")
	f.StringVar(&q.Tag, "tag", "", "only with this `tag`")
	f.StringVar(&where, "where", "", "only what a `filter` chooses")
	f.StringVar(&q.Agent, "agent", "", "only of this `agent`")
	f.StringVar(&q.Run, "run", "", "only of this `run`")
	limitFlag(f, &q.Limit, 0, "at most this `count`; all unless said")
	return c
}

// rows prints memories, and no more than limit where that is not 0.
func (a *app) rows(list iter.Seq2[memory.Memory, error], limit int) (n int, err error) {
	for m, err := range list {
		if err != nil {
			return n, err
		}
		if err := a.print(m, func(w io.Writer) { a.row(w, &m) }); err != nil {
			return n, err
		}
		if n++; n == limit {
			break
		}
	}
	return n, nil
}

func (a *app) pinCommand(pinned bool) *cobra.Command {
	use, short := "pin ID", "Keep machines from changing a memory"
	if !pinned {
		use, short = "unpin ID", "Let machines change a memory again"
	}
	return &cobra.Command{
		Use: use, Short: short, Args: between(1, 1, "the id"),
		RunE: a.call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			m, err := cl.Pin(cmd.Context(), args[0], pinned)
			return a.printed(err, m, func(w io.Writer) { a.row(w, &m) })
		}),
	}
}

func (a *app) deleteCommand() *cobra.Command {
	var yes, all, plan bool
	var user, agent, run string
	c := &cobra.Command{
		Use: "delete ID | delete --all --agent NAME", Short: "Erase a memory, or all memories of an owner", Args: between(0, 1, "the id"),
		Long: `What was said stays, until retention ends it; locket forget takes that too.
With --all it erases every memory of an owner, and what was said that no other
memory was made from; it shows first what that is.`,
		Example: `  locket delete 3f7k9m2xqa --yes
  locket delete --all --agent planner --plan`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usagef("--all and an id: choose one")
			case all:
				return a.deleteAll(cmd.Context(), user, agent, run, yes, plan)
			case len(args) == 0:
				return usagef("the id is missing")
			case user != "" || agent != "" || run != "" || plan:
				return usagef("--user, --agent, --run and --plan are for --all")
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				if !yes {
					m, err := cl.Get(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					var line strings.Builder
					a.row(&line, &m)
					fmt.Fprint(a.stderr, line.String())
					if err := a.agreed("Erase it?", "nothing was erased"); err != nil {
						return err
					}
				}
				d, err := cl.Delete(cmd.Context(), args[0])
				return a.printed(err, d, func(w io.Writer) { fmt.Fprintf(w, "Erased %s.\n", shortID(d.ID)) })
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&all, "all", false, "every memory of an owner")
	f.StringVar(&user, "user", "", "with --all: of this `user`; the wearer unless said")
	f.StringVar(&agent, "agent", "", "with --all: of this `agent`")
	f.StringVar(&run, "run", "", "with --all: of this `run`")
	f.BoolVar(&plan, "plan", false, "with --all: only show what it would take")
	return c
}

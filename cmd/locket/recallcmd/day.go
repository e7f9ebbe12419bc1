package recallcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	people "github.com/locket-dev/locket/memory/names"
	"github.com/locket-dev/locket/node/serve"
)

func DayCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "day [DATE]", Short: "Show a day: talk, places, what was remembered, gaps and pauses", Args: cli.ArgsBetween(0, 1, "the date"),
		Long: `Shows what was heard on a day, in sessions: runs of lines without a gap of 30 minutes. Below
each line are the memories that quote it. Visits, photos, pauses and lost data are shown at
their time. DATE is such as 2026-03-01, yesterday, or a number of days ago, such as 3d. The
default is today.`,
		Example: `  locket day
  locket day yesterday
  locket day 2026-03-01 --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.Load(); err != nil {
				return err
			}
			date, err := readDate(a, slices.Concat(args, []string{"today"})[0])
			if err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).Day, date, func(a0 io.Writer, a1 *serve.Day) { showDay(a, a0, a1) })
		},
	}
}

// readDate parses a day.
func readDate(a *cli.App, text string) (serve.Date, error) {
	at, err := a.ReadTime("DATE", text)
	if err != nil {
		return "", cli.Usagef("DATE %q: want today, yesterday, a date such as 2026-03-01, or how long ago, such as 3d", text)
	}
	return serve.DateOf(at.In(a.Zone())), nil
}

func TalkCommand(a *cli.App) *cobra.Command {
	var since, until, with string
	c := &cobra.Command{
		Use: "talk", Short: "Browse what was said, by time and person", Args: cli.NoArgs(),
		Long: `Shows lines in sessions, oldest first, each with the memories that quote it. Without
--since, it begins a day ago. With --with, it shows only sessions in which that person spoke.

With --json, it prints one session per line.`,
		Example: `  locket talk
  locket talk --since 7d --with Anna
  locket talk --since 2026-03-01 --until 2026-03-08`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := a.ReadTime("--since", cmp.Or(since, "1d"))
			if err != nil {
				return err
			}
			to := time.Now()
			if until != "" {
				if to, err = a.ReadTime("--until", until); err != nil {
					return err
				}
			}
			switch {
			case !from.Before(to) && until == "":
				return cli.Usagef("--since %s is in the future", since)
			case !from.Before(to):
				return cli.Usagef("--until %s is not after --since", until)
			}
			if with != "" && people.Fold(with) == "" {
				return cli.Usagef("--with %q is not a name", with)
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				list, err := sessionsIn(a, cmd.Context(), cl, from, to, with)
				none := "Nothing was said between " + a.ShowTime(from) + " and " + a.ShowTime(to) + "."
				if with != "" {
					none = fmt.Sprintf("Nobody called %q spoke between %s and %s.", cli.OneLine(with), a.ShowTime(from), a.ShowTime(to))
				}
				return cli.Rows(a, err, list, showSessions(a, list), none+" To look at another time, use --since and --until.")
			})
		},
	}
	f := c.Flags()
	f.StringVar(&since, "since", "", "said at this `time` or later; default: a day ago")
	f.StringVar(&until, "until", "", "said before this `time`")
	f.StringVar(&with, "with", "", "only sessions in which this `person` spoke")
	return c
}

// talkSession is a run of lines without a gap of 30 minutes.
type talkSession struct {
	Session  string          `json:"session"`
	From     time.Time       `json:"from"`
	To       time.Time       `json:"to"` // of the last line
	Places   []string        `json:"places,omitempty"`
	Speakers []string        `json:"speakers,omitempty"`
	Lines    []serve.DayLine `json:"lines"`
	Memories []memory.Memory `json:"memories"` // those that quote one of its lines
}

// addLine adds a line with the memories that quote it.
func (s *talkSession) addLine(l *serve.DayLine, known map[memory.ID]*memory.Memory) {
	if len(s.Lines) == 0 {
		s.Session, s.From, s.Memories = l.Session, l.At, []memory.Memory{}
	}
	s.To, s.Lines = l.At, append(s.Lines, *l)
	if l.Place != "" && !slices.Contains(s.Places, l.Place) {
		s.Places = append(s.Places, l.Place)
	}
	if l.Speaker != "" && !slices.Contains(s.Speakers, l.Speaker) {
		s.Speakers = append(s.Speakers, l.Speaker)
	}
	for _, id := range l.Memories {
		if m := known[id]; m != nil && !slices.ContainsFunc(s.Memories, func(o memory.Memory) bool { return o.ID == id }) {
			s.Memories = append(s.Memories, *m)
		}
	}
}

// sessionsOf puts the lines of days, which are in order, into sessions.
func sessionsOf(days ...serve.Day) (list []talkSession) {
	for i := range days {
		known := byID(days[i].Memories)
		for j := range days[i].Lines {
			l := &days[i].Lines[j]
			if n := len(list); n == 0 || list[n-1].Session != l.Session {
				list = append(list, talkSession{})
			}
			list[len(list)-1].addLine(l, known)
		}
	}
	return list
}

func byID(ms []memory.Memory) map[memory.ID]*memory.Memory {
	known := make(map[memory.ID]*memory.Memory, len(ms))
	for i := range ms {
		known[ms[i].ID] = &ms[i]
	}
	return known
}

// sessionsIn returns the sessions of a period.
func sessionsIn(a *cli.App, ctx context.Context, cl *serve.Client, from, to time.Time, with string) ([]talkSession, error) {
	var days []serve.Day
	first, last := from.In(a.Zone()), to.In(a.Zone())
	if n := int(last.Sub(first).Hours() / 24); n >= serve.MaxDays-1 {
		return nil, cli.Usagef("--since: %d days are too many; at most %d at a time, so give --until", n, serve.MaxDays-1)
	}
	count, err := cl.Days(ctx, serve.DateOf(first), serve.DateOf(last))
	if err != nil {
		return nil, err
	}
	for _, c := range count.Days {
		d, err := cl.Day(ctx, c.Date)
		if err != nil {
			return nil, err
		}
		if d.More {
			fmt.Fprintf(a.Stderr, "More than %d lines were said on %s; the later ones are left out.\n", serve.MaxDayLines, d.Date)
		}
		d.Lines = slices.DeleteFunc(d.Lines, func(l serve.DayLine) bool { return l.At.Before(from) || !l.At.Before(to) })
		days = append(days, d)
	}
	list := sessionsOf(days...)
	if with != "" {
		list = slices.DeleteFunc(list, func(s talkSession) bool {
			return !slices.ContainsFunc(s.Speakers, func(who string) bool { return isNamed(who, with) })
		})
	}
	return list, nil
}

// isNamed reports whether a name means a person: it is their whole name, or a word of it.
func isNamed(who, name string) bool {
	who, name = people.Fold(who), people.Fold(name)
	return slices.ContainsFunc(people.Keys(who), func(k string) bool { return slices.Contains(people.Keys(name), k) }) || slices.Contains(strings.Fields(who), name)
}

// showSessions prints one of the sessions in list: its heading and its lines. A memory is shown
// only in the last session that has it.
func showSessions(a *cli.App, list []talkSession) func(w io.Writer, s *talkSession) {
	below, shown := map[string][][]*memory.Memory{}, map[memory.ID]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		below[s.Session] = belowLines(s.Lines, byID(s.Memories), shown)
	}
	return func(w io.Writer, s *talkSession) {
		showHead(a, w, s)
		for i := range s.Lines {
			showLine(a, w, &s.Lines[i], below[s.Session][i])
		}
	}
}

func showHead(a *cli.App, w io.Writer, s *talkSession) {
	head := s.From.In(a.Zone()).Format("Mon 2 Jan 2006 15:04") + "–" + s.To.In(a.Zone()).Format("15:04")
	for _, of := range [][]string{s.Speakers, s.Places} {
		if len(of) > 0 {
			head += "  " + cli.OneLine(strings.Join(of, ", "))
		}
	}
	fmt.Fprintln(w, a.Paint.Bold(head))
}

// saidAgain reports whether m was replaced by another current memory of the same line that says the
// same.
func saidAgain(m *memory.Memory, ids []memory.ID, known map[memory.ID]*memory.Memory) bool {
	return m.State == memory.Superseded && slices.ContainsFunc(ids, func(id memory.ID) bool {
		o := known[id]
		return o != nil && o.State != memory.Superseded && memory.Normal(o.Text) == memory.Normal(m.Text)
	})
}

// belowLines returns the memories to show below each line. A memory that quotes several lines, such
// as a correction and what it corrects, appears once, below the last of them. belowLines leaves out
// those in shown, and adds those that it returns.
func belowLines(lines []serve.DayLine, known map[memory.ID]*memory.Memory, shown map[memory.ID]bool) [][]*memory.Memory {
	below := make([][]*memory.Memory, len(lines))
	for i := len(lines) - 1; i >= 0; i-- {
		for _, id := range lines[i].Memories {
			if m := known[id]; m != nil && !shown[id] && !saidAgain(m, lines[i].Memories, known) {
				shown[id], below[i] = true, append(below[i], m)
			}
		}
	}
	return below
}

// showLine prints a line and the memories below it. A line whose speaker is not known has no label.
// showLine does not repeat the text of a memory that is in the line's own words.
func showLine(a *cli.App, w io.Writer, l *serve.DayLine, below []*memory.Memory) {
	said := cli.OneLine(l.Text)
	if l.Speaker != "" {
		said = cli.OneLine(l.Speaker) + ": " + said
	}
	fmt.Fprintf(w, "  %s  %s\n", a.Paint.Dim(l.At.In(a.Zone()).Format("15:04")), said)
	for _, m := range below {
		text := "  " + cli.OneLine(m.Text)
		if memory.Normal(m.Text) == memory.Normal(l.Text) {
			text = ""
		}
		fmt.Fprintf(w, "         %s %s%s%s\n", a.Paint.Dim("→ "+cli.ShortID(m.ID)), a.Paint.Dim(string(m.Type)), text, cli.MemoryMarks(m))
	}
}

// dayEntry is something on a day that has a time.
type dayEntry struct {
	at   time.Time
	show func(w io.Writer)
}

// showDay prints a day in order of time.
func showDay(a *cli.App, w io.Writer, d *serve.Day) {
	clock := func(t time.Time) string { return t.In(a.Zone()).Format("15:04") }
	var all []dayEntry
	mark := func(at time.Time, format string, args ...any) {
		text := cli.OneLine(fmt.Sprintf(format, args...))
		all = append(all, dayEntry{at, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", a.Paint.Dim(clock(at)), text) }})
	}
	known, quoted := byID(d.Memories), map[memory.ID]bool{}
	sessions := sessionsOf(*d)
	below, shown := make([][][]*memory.Memory, len(sessions)), map[memory.ID]bool{}
	for i := len(sessions) - 1; i >= 0; i-- { // the last session first, because a memory is shown once a day
		below[i] = belowLines(sessions[i].Lines, known, shown)
	}
	for i := range sessions {
		s := &sessions[i]
		all = append(all, dayEntry{s.From, func(w io.Writer) { showHead(a, w, s) }})
		for j := range s.Lines {
			l := &s.Lines[j]
			for _, id := range l.Memories {
				quoted[id] = true
			}
			all = append(all, dayEntry{l.At, func(w io.Writer) { showLine(a, w, l, below[i][j]) }})
		}
		if i > 0 {
			quiet := s.From.Sub(sessions[i-1].To)
			mark(sessions[i-1].To.Add(1), "… nothing was said for %d:%02d", int(quiet.Hours()), int(quiet.Minutes())%60)
		}
	}
	for i := range d.Memories {
		m := &d.Memories[i]
		if quoted[m.ID] {
			continue
		}
		if f := m.Fields.Episodic; f != nil && f.Place != "" && slices.Contains(m.Tags, "visit") {
			mark(f.Started, "@ %s", f.Place)
			continue
		}
		at := m.Learnt
		for _, e := range m.Evidence {
			if !e.At.Before(d.From) && e.At.Before(d.To) {
				at = e.At
				break
			}
		}
		mark(at, "%s %s  %s%s", cli.ShortID(m.ID), m.Type, m.Text, cli.MemoryMarks(m))
	}
	for _, r := range d.Refusals {
		if r.Kind == "gap" {
			mark(r.At, "lost: %s", r.Reason)
		}
	}
	for _, p := range d.Pauses {
		why := ""
		if p.Why != "" {
			why = ", " + p.Why
		}
		if p.To.IsZero() {
			mark(p.From, "paused until now%s", why)
		} else {
			mark(p.From, "paused until %s%s", clock(p.To), why)
		}
	}
	sorting.Stable(all, func(x, y dayEntry) int { return x.at.Compare(y.at) })
	for _, e := range all {
		e.show(w)
	}
	if d.More {
		fmt.Fprintf(w, "More than %d lines were said.\n", serve.MaxDayLines)
	}
	if len(all) == 0 {
		fmt.Fprintf(w, "Nothing is stored for %s.", d.Date)
		for _, other := range []serve.Date{d.Before, d.Next} {
			if other != "" {
				fmt.Fprint(w, a.WithHomef(" See locket day %s.", other))
			}
		}
		fmt.Fprintln(w)
	}
}

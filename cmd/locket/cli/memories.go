package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// ShowAdded shows what became of a text. A change that had no effect is shown only if the same
// words changed nothing else.
func (a *App) ShowAdded(w io.Writer, r *serve.AddResult) {
	made := r.Made()
	for i, ch := range made {
		again := func(o memory.Change) bool { return o.New == ch.New && o.Verdict != memory.Noop }
		if ch.Verdict == memory.Noop && (slices.ContainsFunc(made, again) || slices.ContainsFunc(made[:i], func(o memory.Change) bool { return o.New == ch.New })) {
			continue // the same words changed something else, or this was already shown
		}
		text := cmp.Or(ch.New, ch.Old)
		fmt.Fprintf(w, "%-6s  %s  %s%s\n", ch.Verdict, a.Paint.Dim(ShortID(ch.Memory)), OneLine(text), a.Paint.Dim("  "+ch.Reason))
	}
	partly := false // no rule matches a part of the text
	for _, ref := range r.Refusals {
		switch ref.Kind {
		case "nothing":
			partly = true
			continue
		case "question", "greeting", "filler", "command": // normal speech, and no failure
			fmt.Fprintf(w, "Heard, and not remembered: %s.\n", OneLine(ref.Reason))
			if ref.Kind == "question" {
				fmt.Fprintln(w, a.WithHome("To get an answer: locket ask TEXT"))
			}
			continue
		}
		fmt.Fprintf(w, "%-6s  %s: %s\n", "REFUSE", ref.Kind, ref.Reason)
	}
	switch {
	case r.Redacted > 0: // the rest of such a line is seldom of any use
		fmt.Fprintf(w, "%s went to the vault, and is kept nowhere else.\n", Plural(r.Redacted, "secret", "secrets"))
	case partly && len(made) > 0:
		fmt.Fprintln(w, "The rest makes no memory. It can still be found by searching for what was said.")
	case partly || len(r.Changes)+len(r.Refusals) == 0:
		fmt.Fprintln(w, "Heard, but there is nothing in it to remember. It can still be found by searching for what was said.")
	}
}

// SharedBy says who shared or sold a memory, and until when it is available.
func (a *App) SharedBy(by *serve.SharedBy) string {
	s := "shared by " + OneLine(by.By)
	if by.Order != "" {
		s = "bought from " + OneLine(by.By)
	}
	if !by.Until.IsZero() {
		s += " until " + a.ShowTime(by.Until)
	}
	return s
}

// ReadTime parses a date, a time, today, yesterday, or how long ago. A date means the beginning of
// that day.
func (a *App) ReadTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil && !t.IsZero() { // a zero time means that none was given
		return t, nil
	}
	l, err := a.Load()
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
	return time.Time{}, Usagef("%s %q: want 2026-03-01, \"2026-03-01 14:30\", today, yesterday, or how long ago, such as 3d", flag, s)
}

// midnight returns the beginning of a day.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// ReadPeriod parses --since and --until.
func (a *App) ReadPeriod(since, until string) (from, to time.Time, err error) {
	if from, err = a.ReadTime("--since", since); err == nil {
		to, err = a.ReadTime("--until", until)
	}
	return from, to, err
}

// Evidence describes the first piece of evidence in words.
func (a *App) Evidence(list []memory.Evidence) string {
	if len(list) == 0 {
		return ""
	}
	return a.QuoteLine(list[0].Speaker, list[0].At, list[0].Excerpt)
}

func (a *App) QuoteLine(speaker string, at time.Time, excerpt string) string {
	speaker = cmp.Or(speaker, "someone")
	s := OneLine(speaker) + ", " + a.ShowTime(at)
	if excerpt != "" {
		s += ": \"" + OneLine(excerpt) + "\""
	}
	return s
}

func ReadSensitivity(s string) (*memory.Sensitivity, error) {
	if s == "" {
		return nil, nil
	}
	var v memory.Sensitivity
	if err := v.UnmarshalText([]byte(s)); err != nil {
		return nil, UsageError{err}
	}
	return &v, nil
}

// coldLine is shown in place of the text of a cold memory.
func coldLine(m *memory.Memory) string {
	return fmt.Sprintf("(%s, cold: its text is at the relay, which can't be reached now)", m.Type)
}

func ReadTypes(list []string) (out []memory.Type) {
	for _, t := range list {
		out = append(out, memory.Type(t))
	}
	return out
}

// LessHere says why this device may lack what other devices have: it has not synced yet, or else
// the reason in otherwise.
func (a *App) LessHere(ctx context.Context, cl *serve.Client, otherwise string) error {
	s, err := cl.SyncStatus(ctx)
	switch {
	case err != nil || s.Relay == "" && !s.Apart:
	case s.Synced.IsZero():
		fmt.Fprintln(a.Stderr, "Nothing has come from your other devices yet. To fetch it now: "+a.WithHome("locket sync --now"))
	case otherwise != "":
		fmt.Fprintln(a.Stderr, otherwise)
	}
	return err
}

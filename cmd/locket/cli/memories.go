package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// ShowAdded shows what became of a text. That its words also end what nobody had said is
// shown where they did nothing else.
func (a *App) ShowAdded(w io.Writer, r *serve.AddResult) {
	made := r.Made()
	for i, ch := range made {
		again := func(o memory.Change) bool { return o.New == ch.New && o.Verdict != memory.Noop }
		if ch.Verdict == memory.Noop && (slices.ContainsFunc(made, again) || slices.ContainsFunc(made[:i], func(o memory.Change) bool { return o.New == ch.New })) {
			continue // the same words did something else, or nothing either
		}
		text := cmp.Or(ch.New, ch.Old)
		fmt.Fprintf(w, "%-6s  %s  %s%s\n", ch.Verdict, a.Paint.Dim(ShortID(ch.Memory)), OneLine(text), a.Paint.Dim("  "+ch.Reason))
	}
	partly := false // a part of it says nothing that a rule knows
	for _, ref := range r.Refusals {
		switch ref.Kind {
		case "nothing":
			partly = true
			continue
		case "question", "greeting", "filler", "command": // what anybody says, and no fault
			fmt.Fprintf(w, "Heard, and not remembered: %s.\n", OneLine(ref.Reason))
			if ref.Kind == "question" {
				fmt.Fprintln(w, a.Here("To have it answered: locket ask TEXT"))
			}
			continue
		}
		fmt.Fprintf(w, "%-6s  %s: %s\n", "REFUSE", ref.Kind, ref.Reason)
	}
	switch {
	case r.Redacted > 0: // what is left of such a line seldom says anything
		fmt.Fprintf(w, "%s went to the vault, and stands nowhere else.\n", Plural(r.Redacted, "secret", "secrets"))
	case partly && len(made) > 0:
		fmt.Fprintln(w, "The rest of it makes no memory. It can be searched for as what was said.")
	case partly || len(r.Changes)+len(r.Refusals) == 0:
		fmt.Fprintln(w, "Heard, and nothing in it to remember. It can be searched for as what was said.")
	}
}

// SharedBy says whose a memory is, and until when.
func (a *App) SharedBy(by *serve.SharedBy) string {
	s := "shared by " + OneLine(by.By)
	if by.Order != "" {
		s = "bought from " + OneLine(by.By)
	}
	if !by.Until.IsZero() {
		s += " until " + a.When(by.Until)
	}
	return s
}

// ReadTime takes a date, a time, today, yesterday, or how long ago. A day is its beginning.
func (a *App) ReadTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil && !t.IsZero() { // zero stands for none
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

// midnight is when a day begins.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// ReadPeriod takes the times of --since and --until.
func (a *App) ReadPeriod(since, until string) (from, to time.Time, err error) {
	if from, err = a.ReadTime("--since", since); err == nil {
		to, err = a.ReadTime("--until", until)
	}
	return from, to, err
}

// Evidence is the first piece, in words.
func (a *App) Evidence(list []memory.Evidence) string {
	if len(list) == 0 {
		return ""
	}
	return a.Said(list[0].Speaker, list[0].At, list[0].Excerpt)
}

func (a *App) Said(speaker string, at time.Time, excerpt string) string {
	speaker = cmp.Or(speaker, "someone")
	s := OneLine(speaker) + ", " + a.When(at)
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

// coldLine stands where the text of a cold memory would.
func coldLine(m *memory.Memory) string {
	return fmt.Sprintf("(%s, cold: its text is at the relay, which can't be reached now)", m.Type)
}

func ReadTypes(list []string) (out []memory.Type) {
	for _, t := range list {
		out = append(out, memory.Type(t))
	}
	return out
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/locket-dev/locket/memory"
)

// painter colours, or does not.
type painter struct{ on bool }

// newPainter paints on a terminal where NO_COLOR is not set (no-color.org).
func newPainter(w io.Writer, environ []string) painter {
	f, ok := w.(*os.File)
	on := ok && term.IsTerminal(int(f.Fd())) && !slices.Contains(environ, "TERM=dumb")
	for _, e := range environ {
		if v, found := strings.CutPrefix(e, "NO_COLOR="); found && v != "" {
			on = false
		}
	}
	return painter{on}
}

func (p painter) with(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) dim(s string) string  { return p.with("2", s) }
func (p painter) bold(s string) string { return p.with("1", s) }
func (p painter) red(s string) string  { return p.with("31", s) }

// print writes v as one line of JSON, or has human write it in words.
func (a *app) print(v any, human func(w io.Writer)) error {
	if a.json {
		e := json.NewEncoder(a.stdout)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	var b strings.Builder
	human(&b)
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// printed is print, unless getting v has failed: err tells it.
func (a *app) printed(err error, v any, human func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return a.print(v, human)
}

// rows prints each item of a list, or returns err if the list could not be read. For an
// empty list it prints the text none to a person, if there is one.
func rows[T any](a *app, err error, list []T, row func(w io.Writer, v *T), none string) error {
	for i := range list {
		if err == nil {
			err = a.print(list[i], func(w io.Writer) { row(w, &list[i]) })
		}
	}
	if err == nil && len(list) == 0 && none != "" && !a.json {
		fmt.Fprintln(a.stderr, a.here(none))
	}
	return err
}

// when is a time as the wearer reads it.
func (a *app) when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(a.zone()).Format("Mon 2 Jan 2006 15:04")
}

// exactly prints when the event of a memory began, as exactly as it is known: without an hour
// if it has none, and as a month or a year if the text names no more.
func (a *app) exactly(text string, t time.Time) string {
	t = t.In(a.zone())
	if t.IsZero() || t.Hour() != 0 || t.Minute() != 0 || strings.Contains(text, "00:00") {
		return a.when(t)
	}
	english, chinese := t.Format("January 2006"), fmt.Sprintf("%d年%d月", t.Year(), t.Month())
	_, after, zh := strings.Cut(text, chinese)
	switch {
	case t.Day() == 1 && (strings.Contains(text, english) && !strings.Contains(text, "1 "+english) || zh && !strings.HasPrefix(after, "1日")):
		return english
	case t.YearDay() == 1 && strings.Contains(text, strconv.Itoa(t.Year())) && !strings.Contains(text, "1 January") && !zh:
		return strconv.Itoa(t.Year())
	}
	return t.Format("Mon 2 Jan 2006")
}

// day is the wearer's day of a time.
func (a *app) day(t time.Time) string { return t.In(a.zone()).Format(time.DateOnly) }

// zone is the wearer's, or UTC where the one that is set is not known here.
func (a *app) zone() *time.Location {
	zone, err := a.settings.Location()
	if err != nil {
		return time.UTC
	}
	return zone
}

// shortID is enough of an id to name it; commands take it.
func shortID(id memory.ID) string { return id.String()[:10] }

// padded fills a text with spaces to at least n columns of a terminal, where Chinese,
// Japanese and Korean characters and most pictures take two.
func padded(s string, n int) string {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f,
			r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd: // Unicode's EastAsianWidth, W and F
			n -= 2
		default:
			n--
		}
	}
	return s + strings.Repeat(" ", max(0, n))
}

// oneLine takes what could disturb a terminal out of a text from outside, and
// makes it one line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1 // control characters and those that change the direction
		}
		return r
	}, s)
	return s
}

// size is a number of bytes for people.
func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// plural is "1 memory", "2 memories".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// marks says what is particular about a memory, in brackets, or nothing.
func marks(m *memory.Memory) string {
	var list []string
	if m.State != memory.Active {
		list = append(list, string(m.State))
	}
	if m.Pinned {
		list = append(list, "pinned")
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// row is one memory on one line, with when it happened. When it was learnt it
// says where that was on another day.
func (a *app) row(w io.Writer, m *memory.Memory) {
	at, learnt := happened(m), ""
	if a.day(at) != a.day(m.Learnt) {
		learnt = a.paint.dim("  learnt " + a.when(m.Learnt))
	}
	fmt.Fprintf(w, "%s  %-10s  %s  %s%s%s\n", a.paint.dim(shortID(m.ID)), m.Type, a.paint.dim(a.begins(m, at)), oneLine(m.Text), marks(m), learnt)
}

// begins is exactly for an event, and the time as it is for everything else.
func (a *app) begins(m *memory.Memory, at time.Time) string {
	if e := m.Fields.Episodic; e != nil && e.Started.Equal(at) {
		return a.exactly(m.Text, at)
	}
	return a.when(at)
}

// happened is when what a memory tells of began, or else when it was said. The
// time at which it was learnt stands in where neither is known.
func happened(m *memory.Memory) time.Time {
	switch {
	case m.Fields.Episodic != nil && !m.Fields.Episodic.Started.IsZero():
		return m.Fields.Episodic.Started
	case !m.TrueFrom.IsZero():
		return m.TrueFrom
	case len(m.Evidence) > 0 && !m.Evidence[0].At.IsZero():
		return m.Evidence[0].At
	}
	return m.Learnt
}

package cli

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

// Painter colours text, or leaves it plain.
type Painter struct{ on bool }

func (p Painter) with(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p Painter) Dim(s string) string  { return p.with("2", s) }
func (p Painter) Bold(s string) string { return p.with("1", s) }
func (p Painter) Red(s string) string  { return p.with("31", s) }

// Print writes v as one line of JSON with --json. Otherwise human writes it in words.
func (a *App) Print(v any, human func(w io.Writer)) error {
	if a.JSON {
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	var b strings.Builder
	human(&b)
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}

// PrintUnless is [App.Print], unless err is set: then it returns err.
func (a *App) PrintUnless(err error, v any, human func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return a.Print(v, human)
}

// Rows prints each item of a list, or returns err if the list could not be read. For an
// empty list it prints the text none to a person, if there is one.
func Rows[T any](a *App, err error, list []T, row func(w io.Writer, v *T), none string) error {
	for i := range list {
		if err == nil {
			err = a.Print(list[i], func(w io.Writer) { row(w, &list[i]) })
		}
	}
	if err == nil && len(list) == 0 && none != "" && !a.JSON {
		fmt.Fprintln(a.Stderr, a.WithHome(none))
	}
	return err
}

// ShowTime returns a time in the wearer's zone, for a person.
func (a *App) ShowTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(a.Zone()).Format("Mon 2 Jan 2006 15:04")
}

// ShowEventTime returns when the event of a memory began, as precisely as it is known: without an hour if
// it has none, and as a month or a year if the text names no more than that.
func (a *App) ShowEventTime(text string, t time.Time) string {
	t = t.In(a.Zone())
	if t.IsZero() || t.Hour() != 0 || t.Minute() != 0 || strings.Contains(text, "00:00") {
		return a.ShowTime(t)
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

// Day returns the date of a time in the wearer's zone.
func (a *App) Day(t time.Time) string { return t.In(a.Zone()).Format(time.DateOnly) }

// Zone returns the wearer's zone, or UTC if this machine does not know it.
func (a *App) Zone() *time.Location {
	zone, err := a.Settings.Location()
	if err != nil {
		return time.UTC
	}
	return zone
}

// ShortID returns enough of an id to name it. Commands accept it.
func ShortID(id memory.ID) string { return id.String()[:10] }

// OneLine removes from an untrusted text what could disturb a terminal, and makes it one line.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1 // control characters and those that change the text direction
		}
		return r
	}, s)
	return s
}

// Listed returns a text as a line of a list: on one line, and cut where it would fill the terminal.
// locket get shows all of it.
func Listed(s string) string { return Short(OneLine(s), 500) }

// Plural is "1 memory", "2 memories".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// MemoryMarks lists the special properties of a memory in parentheses, or returns an empty string.
func MemoryMarks(m *memory.Memory) string {
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

// Row prints a memory on one line, with the time at which it happened. It adds when the memory was
// learnt if that was on another day.
func (a *App) Row(w io.Writer, m *memory.Memory) {
	at, learnt := a.happened(m), ""
	if a.Day(at) != a.Day(m.Learnt) {
		learnt = a.Paint.Dim("  learnt " + a.ShowTime(m.Learnt))
	}
	fmt.Fprintf(w, "%s  %-10s  %s  %s%s%s\n", a.Paint.Dim(ShortID(m.ID)), m.Type, a.Paint.Dim(a.begins(m, at)), Listed(m.Text), MemoryMarks(m), learnt)
}

// begins is [App.ShowEventTime] for an event, and [App.ShowTime] for everything else.
func (a *App) begins(m *memory.Memory, at time.Time) string {
	if e := m.Fields.Episodic; e != nil && !e.Started.IsZero() {
		return a.ShowEventTime(m.Text, at)
	}
	return a.ShowTime(at)
}

// Spans returns when the event of a memory begins and when it ends, for a person. The event must
// have a beginning. An event of whole days has the dates that were said, even if they were said in
// another zone.
func (a *App) Spans(m *memory.Memory) (from, until string) {
	e := m.Fields.Episodic
	at, clock := m.Begins(a.Zone())
	from = a.ShowEventTime(m.Text, at)
	if e.Ended.IsZero() {
		return from, ""
	}
	end := e.Ended.Add(at.Sub(e.Started)).In(a.Zone())
	if !clock && end.Hour() == 23 && end.Minute() == 59 {
		return from, end.Format("Mon 2 Jan 2006")
	}
	return from, a.ShowTime(e.Ended)
}

// happened returns when the event of a memory began, or else when it was said. If neither is known,
// it returns when the memory was learnt.
func (a *App) happened(m *memory.Memory) time.Time {
	said := m.TrueFrom
	if said.IsZero() {
		said = m.When()
	}
	return m.StartTime(a.Zone(), said)
}

// Short cuts a text after most characters, and marks the cut.
func Short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// NewPainter returns a painter that colours if w is a terminal and NO_COLOR is not set
// (no-color.org).
func NewPainter(w io.Writer, environ []string) Painter {
	f, ok := w.(*os.File)
	on := ok && term.IsTerminal(int(f.Fd())) && !slices.Contains(environ, "TERM=dumb")
	for _, e := range environ {
		if v, found := strings.CutPrefix(e, "NO_COLOR="); found && v != "" {
			on = false
		}
	}
	return Painter{on: on}
}

// Padded fills a text with spaces to at least n columns of a terminal. Chinese, Japanese and Korean
// characters and most emoji take two columns.
func Padded(s string, n int) string {
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

// Size formats a number of bytes for people.
func Size(n int64) string {
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

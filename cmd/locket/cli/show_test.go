package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// A line of locket list shows when something happened, and when it was learnt if that was on
// another day.
func TestRowSaysWhenItHappened(t *testing.T) {
	at := time.Date(2026, 9, 14, 13, 31, 0, 0, time.UTC)
	heard := func(m memory.Memory, learnt time.Duration) *memory.Memory {
		m.State, m.Text, m.Learnt = memory.Active, "x", at.Add(learnt)
		m.Evidence = []memory.Evidence{{At: at}}
		return &m
	}
	visit := memory.Memory{}
	visit.Fields.Episodic = &memory.EpisodicFields{Started: at.AddDate(0, 0, 3)}
	abroad := memory.Memory{} // a whole day in Tokyo, which begins at 15:00 UTC on the day before
	abroad.Slot = &memory.Slot{Subject: "user", Attribute: "plan: move", Value: "2026-09-17"}
	abroad.Fields.Episodic = &memory.EpisodicFields{Started: time.Date(2026, 9, 16, 15, 0, 0, 0, time.UTC)}
	since := memory.Memory{}
	since.TrueFrom = at.AddDate(-6, 0, 0)
	for _, c := range []struct {
		m    *memory.Memory
		want string
	}{
		{heard(memory.Memory{}, time.Minute), "Mon 14 Sep 2026 13:31  x"},
		{heard(memory.Memory{}, 24*time.Hour), "Mon 14 Sep 2026 13:31  x  learnt Tue 15 Sep 2026 13:31"},
		{heard(visit, 0), "Thu 17 Sep 2026 13:31  x  learnt Mon 14 Sep 2026 13:31"},
		{heard(abroad, 0), "Thu 17 Sep 2026  x  learnt Mon 14 Sep 2026 13:31"},
		{heard(since, 0), "Mon 14 Sep 2020 13:31  x  learnt Mon 14 Sep 2026 13:31"},
		{&memory.Memory{State: memory.Active, Learnt: at, Candidate: memory.Candidate{Text: "x"}}, "Mon 14 Sep 2026 13:31  x"},
	} {
		var out strings.Builder
		a := &App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
		a.Row(&out, c.m)
		if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, "  "+c.want) {
			t.Errorf("%q, want …%q", got, c.want)
		}
	}
}

// A stay of whole days ends on the day that was said, and a thing of some hours when it ended.
// A long text, which an app may have added, does not fill the terminal.
func TestRowIsCut(t *testing.T) {
	var out strings.Builder
	a := &App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
	a.Row(&out, &memory.Memory{Candidate: memory.Candidate{Text: "begins " + strings.Repeat("a", 20_000)}})
	if s := out.String(); !strings.Contains(s, "begins aaa") || !strings.Contains(s, "aaa…") || len(s) > 1000 {
		t.Errorf("%d bytes: %.200s", len(s), s)
	}
}

func TestSpans(t *testing.T) {
	a := &App{Settings: &config.Loaded{Config: config.Config{Zone: "Europe/Berlin"}}}
	for _, c := range []struct {
		value          string
		started, ended time.Time
		from, until    string
	}{
		{"2026-11-10", time.Date(2026, 11, 9, 15, 0, 0, 0, time.UTC), time.Date(2026, 11, 16, 14, 59, 0, 0, time.UTC), "Tue 10 Nov 2026", "Mon 16 Nov 2026"},
		{"2026-11-10", time.Date(2026, 11, 10, 17, 0, 0, 0, time.UTC), time.Date(2026, 11, 10, 17, 20, 0, 0, time.UTC), "Tue 10 Nov 2026", "Tue 10 Nov 2026 18:20"},
		{"2026-11-10 09:00", time.Date(2026, 11, 10, 8, 0, 0, 0, time.UTC), time.Time{}, "Tue 10 Nov 2026 09:00", ""},
	} {
		var m memory.Memory
		m.Slot, m.Fields.Episodic = &memory.Slot{Value: c.value}, &memory.EpisodicFields{Started: c.started, Ended: c.ended}
		if from, until := a.Spans(&m); from != c.from || until != c.until {
			t.Errorf("%s: %q, %q, want %q, %q", c.value, from, until, c.from, c.until)
		}
	}
}

func TestPadded(t *testing.T) {
	for text, spaces := range map[string]int{
		"Anna": 6, "王芳": 6, "Zoë": 7, "Zoe\u0308": 7, "한국": 6, "カナ": 6, "ｶﾅ": 8, "Ann 🎂": 4, "，": 8, "Elizabeth Montgomery": 0, "": 10,
	} {
		if got := Padded(text, 10); got != text+strings.Repeat(" ", spaces) {
			t.Errorf("%q: %q, want %d spaces", text, got, spaces)
		}
	}
}

// A text from outside can't control the terminal.
func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":              "plain text",
		"two\nlines\tand\r":       "two lines and",
		"\x1b[31mred\x1b]0;x\x07": "[31mred]0;x",
		"\u202eesrever":           "esrever",
		"搬到上海了":                   "搬到上海了",
		"\u009b2J":                "2J",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestColourOnlyOnATerminal(t *testing.T) {
	if NewPainter(&bytes.Buffer{}, nil).on {
		t.Error("a buffer is painted")
	}
	if got := (Painter{on: true}).Bold("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("%q", got)
	}
}

func TestSizesAndCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e15: "5000.0 TB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if got := Plural(1, "memory", "memories") + Plural(0, "memory", "memories"); got != "1 memory0 memories" {
		t.Error(got)
	}
	if got := len(ShortID(memory.ID{1})); got != 10 {
		t.Error(got)
	}
}

// What a plugin logs, or its publisher writes, reaches the terminal only as a line of text.
func TestPluginTextIsOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2J\x1b]0;title\x07gone":   "[2J]0;titlegone",
		"a\r\nb\tc":                     "a b c",
		"evil\u202egnp.exe\u2066\u009b": "evilgnp.exe",
		"naïve 我":                       "naïve 我",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

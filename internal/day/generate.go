package day

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	fixed "github.com/locket-dev/locket/testdata/day"
)

// Generate makes a day from a seed, with other people, places, secrets, dates and phrasings, and
// the expected result. The same seed makes the same bytes.
func Generate(seed uint64) (*Day, error) {
	m := &maker{
		rng:  rand.New(rand.NewPCG(seed, 0x6c6f636b6574)), // "locket": days have a random stream of their own
		day:  &Day{files: map[string][]byte{}},
		vars: map[string]string{}, forms: map[string][]string{}, said: map[string]bool{},
	}
	if err := m.make(); err != nil {
		return nil, fmt.Errorf("generate day %d: %w", seed, err)
	}
	return m.day, nil
}

// maker writes a day, line by line.
type maker struct {
	rng   *rand.Rand
	day   *Day
	cast  cast
	now   time.Time
	vars  map[string]string   // the values of placeholders
	forms map[string][]string // every form of a value, if there are several
	said  map[string]bool     // small talk that was used already
	errs  []error
}

// The devices that the wearer has on.
const (
	pin     = "pin"
	glasses = "glasses"
)

func (m *maker) make() error {
	m.cast = m.drawCast()
	pairs := m.cast.pairs()
	for i := 0; i < len(pairs); i += 2 {
		m.vars[pairs[i]] = pairs[i+1]
	}
	loc, err := time.LoadLocation(m.cast.newHome.zone)
	if err != nil {
		return err
	}
	// A Monday, Tuesday or Wednesday, so that the week has days left for things that are postponed.
	date := time.Date(2023, time.January, 2+7*m.rng.IntN(150)+m.rng.IntN(3), 0, 0, 0, 0, loc)
	m.now = date
	m.day.Date, m.day.Zone, m.day.Wearer = date.Format(time.DateOnly), loc.String(), m.cast.wearer
	m.drawDates(date)
	if err := m.drawFiles(date); err != nil {
		return err
	}
	m.scenes()
	return errors.Join(append(m.errs, m.finish())...)
}

// drawDates draws when things will happen, and how that is said.
func (m *maker) drawDates(date time.Time) {
	m.vars["{weekday}"] = date.Weekday().String()
	clock := func(name string, hours ...int) time.Time {
		t := time.Date(date.Year(), date.Month(), date.Day(), hours[m.rng.IntN(len(hours))], 15*m.rng.IntN(4), 0, 0, date.Location())
		m.setForms(name, clockForms(t), 4)
		return t
	}
	onDay := func(d int, t time.Time) time.Time {
		return time.Date(date.Year(), date.Month(), date.Day()+d, t.Hour(), t.Minute(), 0, 0, date.Location())
	}
	// The appointment: first in the morning, then in the afternoon of a later day, with other
	// minutes, so that neither time is contained in the other.
	was := clock("oldclock", 8, 9, 10, 11)
	is := clock("newclock", 13, 14, 15, 16, 17)
	for is.Minute() == was.Minute() {
		is = clock("newclock", 13, 14, 15, 16, 17)
	}
	oldIn := 1 + m.rng.IntN(2)
	newIn := oldIn + 1 + m.rng.IntN(2)
	m.vars["{oldday}"] = "tomorrow"
	if oldIn > 1 {
		m.vars["{oldday}"] = "on " + date.AddDate(0, 0, oldIn).Weekday().String()
	}
	m.vars["{newday}"] = date.AddDate(0, 0, newIn).Weekday().String()
	m.forms["{visitwas}"], m.forms["{visitis}"] = m.forms["{oldclock}"], m.forms["{newclock}"]
	m.vars["{visitwasat}"] = onDay(oldIn, was).Format(time.RFC3339)
	m.vars["{visitisat}"] = onDay(newIn, is).Format(time.RFC3339)
	clock("clock3", 8, 9, 10)
	clock("clock4", 6, 7)

	m.setForms("date1", dateForms(date.AddDate(0, 0, 9+m.rng.IntN(60))), 6)
	m.setForms("date2", dateForms(date.AddDate(0, 0, 10+m.rng.IntN(40))), 6)
	m.setForms("handate", hanDateForms(date.AddDate(0, 0, 20+m.rng.IntN(200))), 4)
	for _, name := range []string{"{day1}", "{day2}", "{day3}"} {
		m.vars[name] = date.AddDate(0, 0, 2+m.rng.IntN(4)).Weekday().String()
	}
	m.vars["{handay}"] = hanWeekdays[date.AddDate(0, 0, 2+m.rng.IntN(3)).Weekday()]
}

// setForms draws one of the first n forms of something for {name}, and keeps all forms.
func (m *maker) setForms(name string, forms []string, n int) {
	m.vars["{"+name+"}"] = forms[m.rng.IntN(min(n, len(forms)))]
	m.forms["{"+name+"}"] = forms
}

// fill replaces the placeholders.
func (m *maker) fill(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			break
		}
		j := i + strings.IndexByte(s[i:], '}') + 1
		v, ok := m.vars[s[i:j]]
		if !ok {
			m.errs = append(m.errs, fmt.Errorf("%q: nothing was drawn for %s", s, s[i:j]))
		}
		b.WriteString(s[:i] + v)
		s = s[j:]
	}
	b.WriteString(s)
	return b.String()
}

// answers expands {xforms} to every form of {x}.
func (m *maker) answers(templates []string) []string {
	var out []string
	for _, t := range templates {
		if f, ok := m.forms[strings.TrimSuffix(t, "forms}")+"}"]; ok {
			out = append(out, f...)
		} else {
			out = append(out, m.fill(t))
		}
	}
	return out
}

// say makes somebody speak: text may have placeholders. It returns the number of the line, and
// advances the clock by the time that saying it takes.
func (m *maker) say(who, text string) int {
	text = m.fill(text)
	if r, n := utf8.DecodeRuneInString(text); unicode.IsLower(r) && m.startsSentence() {
		text = string(unicode.ToUpper(r)) + text[n:]
	}
	lang, pace := "en", 80*time.Millisecond
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		lang, pace = "zh", 250*time.Millisecond
	}
	n := m.put(Line{Kind: memory.KindText, Device: pin, Speaker: who, Lang: lang, Text: text})
	m.wait(2*time.Second + time.Duration(utf8.RuneCountInString(text))*pace + time.Duration(m.rng.IntN(4000))*time.Millisecond)
	return n
}

// startsSentence: transcripts begin a turn with a capital letter most of the
// time.
func (m *maker) startsSentence() bool { return m.rng.IntN(4) > 0 }

// put appends a line at the present time.
func (m *maker) put(l Line) int {
	l.At = m.now.Truncate(time.Second)
	l.Number = len(m.day.Lines) + 2 // the header is line 1
	m.day.Lines = append(m.day.Lines, l)
	return l.Number
}

func (m *maker) wait(d time.Duration) { m.now = m.now.Add(d) }

// until advances the clock to a time of day, plus some minutes.
func (m *maker) until(hour, minute int) {
	t := time.Date(m.now.Year(), m.now.Month(), m.now.Day(), hour, minute+m.rng.IntN(12), m.rng.IntN(60), 0, m.now.Location())
	if t.After(m.now) {
		m.now = t
	}
}

// refuse expects that a line does not become a memory.
func (m *maker) refuse(line int, kinds ...string) {
	m.day.Expect.Refused = append(m.day.Expect.Refused, Refused{Line: line, Kinds: kinds})
}

// ask expects that a question finds one of the lines.
func (m *maker) ask(question string, answer []string, lines ...int) {
	m.day.Expect.Questions = append(m.day.Expect.Questions, Question{
		Question: m.fill(question), Lang: langOf(question), Lines: lines, Answer: m.answers(answer),
	})
}

func langOf(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return "zh"
	}
	return "en"
}

func (m *maker) one(from []string) string { return from[m.rng.IntN(len(from))] }

// fresh draws an element that was not drawn before on this day, as long as there are any.
func (m *maker) fresh(from []string) string {
	left := slices.DeleteFunc(slices.Clone(from), func(s string) bool { return m.said[s] })
	if len(left) == 0 {
		left = from
	}
	s := m.one(left)
	m.said[s] = true
	return s
}

// several draws n different elements.
func (m *maker) several(from []string, n int) []string {
	out := make([]string, n)
	for i, p := range m.rng.Perm(len(from))[:n] {
		out[i] = from[p]
	}
	return out
}

// digits draws a number of n digits that is not a year and has different digits.
func (m *maker) digits(n int) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(m.rng.IntN(10))
		}
		s := string(b)
		year := n == 4 && (s[:2] == "19" || s[:2] == "20")
		if !year && strings.Trim(s, s[:1]) != "" {
			return s
		}
	}
}

// finish encodes the day's own files, and checks the day like a loaded one.
func (m *maker) finish() error {
	d := m.day
	sorting.Sort(d.Expect.Refused, func(a, b Refused) int { return a.Line - b.Line })
	lines, err := appendJSON(nil, header{Kind: "day", Date: d.Date, Zone: d.Zone, Wearer: d.Wearer})
	if err != nil {
		return err
	}
	for _, l := range d.Lines {
		if lines, err = appendJSON(lines, l); err != nil {
			return err
		}
		if err := l.check(); err != nil {
			return fmt.Errorf("line %d: %w", l.Number, err)
		}
	}
	d.files[LinesFile] = lines
	expect, err := json.MarshalIndent(d.Expect, "", " ")
	if err != nil {
		return err
	}
	d.files[ExpectFile] = append(expect, '\n')
	return d.validate()
}

// drawFiles makes the day's photos and note, and uses the fixed day's recording.
func (m *maker) drawFiles(date time.Time) error {
	speech, err := fixed.Files.ReadFile("jfk.opus")
	if err != nil {
		return err
	}
	m.day.files["speech.opus"] = speech
	view := newView(m.rng)
	other := newView(m.rng)
	for !other.unlike(view) {
		other = newView(m.rng)
	}
	for _, p := range []picture{
		{"view-1.jpg", view, 0, 0, 1, 88},
		{"view-2.jpg", view, 1 + m.rng.IntN(2), 1 + m.rng.IntN(2), 0.96, 72},
		{"other.jpg", other, 0, 0, 1, 85},
	} {
		if m.day.files[p.name], err = p.jpeg(); err != nil {
			return err
		}
	}
	note := m.drawNote(date)
	b, err := RenderNote(note)
	if err != nil {
		return err
	}
	m.day.files["note.png"] = b
	m.day.Expect.Notes = []Note{{File: "note.png", Text: note}}
	m.day.Expect.Photos = Photos{
		Alike: [][2]string{{"view-1.jpg", "view-2.jpg"}},
		Apart: []string{"view-1.jpg", "other.jpg", "note.png"},
	}
	return nil
}

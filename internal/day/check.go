package day

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Depth is how many hits of an answer count.
const Depth = 10

// Result is the result of a day, in plain values, whatever produced them.
type Result struct {
	Memories   []Found
	Utterances []Said
	Refusals   []Said           // Text is the reason
	Vault      []Opened         // content of the opened vault
	Answers    map[string][]Hit // by the question's text, best first
	Alike      [][2]memory.EventID
	Gaps       []memory.EventID // known gaps
	Elsewhere  []Named          // logs, listings, and everything else that must hold no secret
}

// Found is a memory, in any state.
type Found struct {
	Name    string // its name in a complaint
	Type    memory.Type
	State   memory.State
	Text    string
	More    []string  // all other text in it: slot, details, place, tags, excerpts
	Steps   []string  // procedural
	Started time.Time // for an appointment
	Events  []memory.EventID
}

// Said is a statement about one event.
type Said struct {
	Event memory.EventID
	Text  string
}

// Opened is a decrypted vault entry.
type Opened struct {
	Label, Value string
}

// Hit is a result for a question. Events are its evidence, or the event of an utterance.
type Hit struct {
	Text   string
	Events []memory.EventID
}

// Named is a text with its source.
type Named struct{ Where, Text string }

// Check compares a result with the day's expectations, and returns what is wrong, or nothing. It
// never repeats a secret.
func (d *Day) Check(r Result) []string {
	j := judge{Day: d, lines: map[memory.EventID]int{}}
	for e := range d.Events() {
		j.lines[unbooted(e.ID)] = e.Line
	}
	j.secrets(r)
	j.questions(r)
	j.refused(r)
	j.types(r)
	j.procedures(r)
	j.photos(r)
	j.gaps(r)
	return j.wrong
}

type judge struct {
	*Day
	lines map[memory.EventID]int
	wrong []string
}

func unbooted(id memory.EventID) memory.EventID {
	id.Boot = 0
	return id
}

func (j *judge) failf(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// cites reports whether one of the events belongs to one of the lines.
func (j *judge) cites(events []memory.EventID, lines []int) bool {
	return slices.ContainsFunc(events, func(id memory.EventID) bool {
		n, ok := j.lines[unbooted(id)]
		return ok && slices.Contains(lines, n)
	})
}

func (f *Found) written() []string {
	return append(append([]string{f.Text}, f.More...), f.Steps...)
}

func (f *Found) says(values []string, at time.Time) bool {
	if !at.IsZero() && f.Started.Equal(at) {
		return true
	}
	return slices.ContainsFunc(f.written(), func(s string) bool { return holdsAny(s, values) })
}

// secrets: they are in the vault, and nowhere else.
func (j *judge) secrets(r Result) {
	var places []Named
	for _, m := range r.Memories {
		for _, s := range m.written() {
			places = append(places, Named{string(m.Type) + " memory " + m.Name, s})
		}
	}
	for _, u := range r.Utterances {
		places = append(places, Named{"utterance " + u.Event.String(), u.Text})
	}
	for _, u := range r.Refusals {
		places = append(places, Named{"refusal of " + u.Event.String(), u.Text})
	}
	for _, v := range r.Vault {
		places = append(places, Named{"vault label", v.Label})
	}
	for _, q := range slices.Sorted(maps.Keys(r.Answers)) {
		for _, h := range r.Answers[q] {
			places = append(places, Named{"answer to " + q, h.Text})
		}
	}
	places = append(places, r.Elsewhere...)
	for _, s := range j.Expect.Secrets {
		for _, p := range places {
			if i := slices.IndexFunc(s.Forms, func(f string) bool { return holds(p.Text, f) }); i >= 0 {
				j.failf("secret %q: its form %d stands in %s", s.Name, i+1, p.Where)
			}
		}
		labelled := slices.ContainsFunc(r.Vault, func(v Opened) bool { return holdsAny(v.Label, s.Label) })
		kept := slices.ContainsFunc(r.Vault, func(v Opened) bool { return plain(v.Value) == plain(s.Value) && holdsAny(v.Label, s.Label) })
		switch {
		case !labelled:
			j.failf("secret %q: no vault entry is labelled with any of %q", s.Name, s.Label)
		case !kept:
			j.failf("secret %q: the vault entry of that label has another value", s.Name)
		}
	}
}

// plain removes case and separators, as in "471 902".
func plain(s string) string {
	return strings.ReplaceAll(memory.Normal(s), " ", "")
}

func (j *judge) questions(r Result) {
	for _, q := range j.Expect.Questions {
		hits, asked := r.Answers[q.Question]
		hits = hits[:min(len(hits), Depth)]
		found := slices.ContainsFunc(hits, func(h Hit) bool { return j.cites(h.Events, q.Lines) })
		answer := q.Answer
		if len(answer) == 0 {
			answer = q.Current
		}
		told := len(answer) == 0 || slices.ContainsFunc(hits, func(h Hit) bool { return holdsAny(h.Text, answer) })
		switch {
		case !asked:
			j.failf("question %q: was not asked", q.Question)
		case !found:
			j.failf("question %q: none of %d hits is from line %v", q.Question, len(hits), q.Lines)
		case !told:
			j.failf("question %q: no hit holds any of %q", q.Question, answer)
		}
		if len(q.Current) > 0 {
			j.current(q, r)
		}
	}
}

// current: what is true now is active, what was true before is not.
func (j *judge) current(q Question, r Result) {
	known := false
	for _, m := range r.Memories {
		if m.State != memory.Active {
			continue
		}
		now := m.says(q.Current, q.CurrentAt)
		if now && j.cites(m.Events, q.Lines) {
			known = true
		}
		if !now && m.says(q.Former, q.FormerAt) && j.cites(m.Events, q.FormerLines) {
			j.failf("question %q: %s memory %s is active and has the former value, from line %v", q.Question, m.Type, m.Name, q.FormerLines)
		}
	}
	if !known {
		j.failf("question %q: no active memory from line %v has the current value, any of %q", q.Question, q.Lines, q.Current)
	}
}

func (j *judge) refused(r Result) {
	var lines []int
	for _, f := range j.Expect.Refused {
		lines = append(lines, f.Line)
	}
	for _, m := range r.Memories {
		if len(m.Events) == 0 {
			continue
		}
		only := !slices.ContainsFunc(m.Events, func(id memory.EventID) bool {
			n, ok := j.lines[unbooted(id)]
			return !ok || !slices.Contains(lines, n)
		})
		if only {
			n := j.lines[unbooted(m.Events[0])]
			l, _ := j.Line(n)
			j.failf("refused: %s memory %s rests on line %d alone, %q", m.Type, m.Name, n, l.Text)
		}
	}
	explained := 0
	for _, f := range j.Expect.Refused {
		if slices.ContainsFunc(r.Refusals, func(s Said) bool { return s.Text != "" && j.cites([]memory.EventID{s.Event}, []int{f.Line}) }) {
			explained++
		}
	}
	// A line may also be ignored without a refusal; most should not be.
	if 2*explained < len(lines) {
		j.failf("refused: %d of %d lines have a refusal with a reason, want half", explained, len(lines))
	}
}

func (j *judge) types(r Result) {
	count := map[memory.Type]int{}
	for _, m := range r.Memories {
		if m.State == memory.Active {
			count[m.Type]++
		}
	}
	for _, t := range memory.Types {
		if want := j.Expect.Types[string(t)]; count[t] < want {
			j.failf("types: %d active memories of type %s, want at least %d", count[t], t, want)
		}
	}
}

func (j *judge) procedures(r Result) {
	for _, p := range j.Expect.Procedures {
		best := -1
		for _, m := range r.Memories {
			if m.Type == memory.Procedural && m.State == memory.Active && j.cites(m.Events, p.Lines) && m.says(p.About, time.Time{}) {
				best = max(best, len(m.Steps))
			}
		}
		switch {
		case best < 0:
			j.failf("procedures: none from line %v about %q", p.Lines, p.About)
		case best < p.Steps-1:
			j.failf("procedures: the one about %q has %d steps, want %d", p.About, best, p.Steps)
		}
	}
}

func (j *judge) photos(r Result) {
	file := func(id memory.EventID) string {
		l, _ := j.Line(j.lines[unbooted(id)])
		return l.File
	}
	alike := func(a, b string) bool {
		return slices.ContainsFunc(r.Alike, func(p [2]memory.EventID) bool {
			x, y := file(p[0]), file(p[1])
			return x == a && y == b || x == b && y == a
		})
	}
	for _, p := range j.Expect.Photos.Alike {
		if !alike(p[0], p[1]) {
			j.failf("photos: %s and %s were not found to be alike", p[0], p[1])
		}
	}
	apart := j.Expect.Photos.Apart
	for i, a := range apart {
		for _, b := range apart[i+1:] {
			if alike(a, b) {
				j.failf("photos: %s and %s were taken to be alike", a, b)
			}
		}
	}
}

func (j *judge) gaps(r Result) {
	for _, g := range j.Expect.Gaps {
		if !j.cites(r.Gaps, []int{g.Line}) {
			j.failf("gaps: the loss of %d events of %s, line %d, is not known of", g.Missing, g.Device, g.Line)
		}
	}
}

// Package facts turns what was said, in English and Chinese, into typed
// candidates, by rules alone: the same words always give the same memories.
//
// The words:
//
//   - A clause is the part of a sentence that says one thing; a sentence is
//     split at its marks and at "and", "but", 但是 before a new subject.
//   - A clause has a subject (the speaker, another person, a thing), a verb with
//     its tense and negation, and a rest.
//   - A rule knows one verb, or one Chinese phrase, and makes a candidate of
//     the rest: its kind, its slot, its words.
//   - A time is a day, a time of day, or both, worked out from when it was said.
//   - Junk is a clause that cannot be a memory: a question, a command, a
//     greeting, a filler. It is refused with a reason.
//
// A statement stands by itself: "I" has become the speaker's name, and
// "tomorrow" has its date beside it. It stays in its own language.
package facts

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// Version of the extractor, as its manifest says.
const Version = "1.0.0"

// maxCandidates bounds what one text gives.
const maxCandidates = 24

// What is read of one text, and of each one before it: talk is shorter.
const (
	maxText   = 8 << 10 // bytes
	maxBefore = 2 << 10
	// maxSentences of one text: each may look back at the others.
	maxSentences = 100
)

// maxRefusals bounds what is said of one text, maxName the strings that name
// something (the contract's 256 bytes).
const (
	maxRefusals = 32
	maxName     = 256
)

// maxTokens bounds a sentence: the work on one grows with its square.
const maxTokens = 250

// Extractor finds facts. It is safe for concurrent use.
type Extractor struct{}

// New makes an extractor.
func New() *Extractor { return &Extractor{} }

// talk is what rules know of the moment: who speaks, when, and what was said.
type talk struct {
	ev      *abi.Event
	now     moment
	self    person // the speaker
	plans   []plan // appointments that are known, oldest first
	persons []person
	own     []sentence // of this text
	before  []sentence // of the turn before, once they were asked for
	out     *abi.Output
	called  person // by name, in this sentence
	dayed   bool   // an earlier clause of the sentence names a day
}

// Extract reads the text of ev and appends candidates and refusals to out. Its
// state holds the appointments that it made last, so that "we moved the
// dentist to Friday" keeps the hour. It returns no error.
func (x *Extractor) Extract(ev *abi.Event, out *abi.Output) error {
	whole := ev.Text
	ev = shortened(ev)
	t := talk{ev: ev, now: momentOf(ev.At, ev.Offset), self: speakerOf(ev, ev.Speaker), out: out}
	t.plans = decodePlans(ev.State)
	for i := range ev.Before { // appointments made just before, and persons named
		t.learn(&ev.Before[i])
	}
	text := ev.Text
	if len(text) < len(whole) {
		t.refuse("length", "only the first 8 KiB of a text are read", len(text), len(whole))
	}
	if reason := boilerplate(whole); reason != "" {
		t.refuse("boilerplate", reason, 0, len(whole))
		out.State = encodePlans(t.plans)
		return nil
	}
	if !t.procedure(text) {
		t.own = sentences(text)
		t.own = t.own[:min(len(t.own), maxSentences)]
		for _, s := range t.own {
			t.sentence(s)
		}
	}
	t.tidy()
	out.State = encodePlans(t.plans)
	return nil
}

// shortened is an event with as much text as is read, cut between characters.
func shortened(ev *abi.Event) *abi.Event {
	short := *ev
	short.Text = cut(ev.Text, maxText)
	short.Before = make([]abi.Turn, len(ev.Before))
	for i, b := range ev.Before {
		b.Text = cut(b.Text, maxBefore)
		short.Before[i] = b
	}
	return &short
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// learn reads an earlier turn for the persons in it and, where no state came
// with the event, for the appointments. It proposes nothing of it again.
func (t *talk) learn(b *abi.Turn) {
	for _, s := range sentences(b.Text) {
		t.persons = append(t.persons, personsIn(s.toks, b.Text)...)
	}
	if len(t.ev.State) > 0 || boilerplate(b.Text) != "" {
		return
	}
	var sink abi.Output
	ev := abi.Event{ID: b.ID, At: b.At, Offset: t.ev.Offset, Speaker: b.Speaker, Wearer: t.ev.Wearer, Text: b.Text}
	sub := talk{ev: &ev, now: momentOf(b.At, t.ev.Offset), self: speakerOf(t.ev, b.Speaker), out: &sink, plans: t.plans}
	for _, s := range sentences(b.Text) {
		sub.sentence(s)
	}
	t.plans = sub.plans
}

// sentence tries what concerns a whole sentence, then each of its clauses.
func (t *talk) sentence(s sentence) {
	if len(s.toks) > maxTokens {
		t.refuse("length", "a sentence of more words than anybody says", s.start, s.end)
		return
	}
	if kind, reason := t.junk(s); kind != "" {
		t.refuse(kind, reason, s.start, s.end)
		return
	}
	t.called = t.calledUpon(s)
	t.persons = append(t.persons, personsIn(s.toks, s.text)...)
	if t.resettled(s) || t.correction(s) || t.answer(s) {
		return
	}
	before := len(t.out.Candidates)
	t.dayed = false
	for _, c := range clauses(s) {
		t.clause(c)
		for _, w := range findWhens(c, t.now) {
			t.dayed = t.dayed || w.hasDay
		}
	}
	if len(t.out.Candidates) == before {
		if !t.fragment(s) {
			t.refuse("nothing", "says nothing that a rule knows", s.start, s.end)
		}
	}
}

func (t *talk) clause(s sentence) {
	if len(s.toks) == 0 {
		return
	}
	if s.chinese() {
		t.chinese(s)
		return
	}
	c, ok := t.parse(s)
	if ok {
		t.english(&c)
	}
}

func (t *talk) refuse(kind, reason string, start, end int) {
	t.out.Refusals = append(t.out.Refusals, abi.Refusal{Kind: kind, Reason: reason, Span: abi.Span{Start: start, End: end}})
}

// tidy drops refusals of a text that gave candidates and says nothing else of
// interest, and what is said twice.
func (t *talk) tidy() {
	seen := map[string]bool{}
	kept := t.out.Candidates[:0]
	for _, c := range t.out.Candidates {
		key := c.Type + "\x1f" + c.Text
		if c.Slot != nil {
			key = c.Type + "\x1f" + c.Slot.Subject + "\x1f" + c.Slot.Attribute + "\x1f" + strings.ToLower(c.Slot.Value)
		}
		if c.Text == "" || seen[key] || len(kept) == maxCandidates || !brief(&c) {
			continue
		}
		seen[key] = true
		kept = append(kept, c)
	}
	t.out.Candidates = kept
	t.out.Refusals = t.out.Refusals[:min(len(t.out.Refusals), maxRefusals)]
	if len(kept) > 0 {
		left := t.out.Refusals[:0]
		for _, r := range t.out.Refusals {
			if r.Kind != "nothing" && r.Kind != "filler" && r.Kind != "greeting" {
				left = append(left, r)
			}
		}
		t.out.Refusals = left
	}
}

// brief cuts the names in a candidate, and reports whether its slot is one: a
// value of many words is no value.
func brief(c *abi.Candidate) bool {
	for _, s := range [...]*string{&c.Actor, &c.Place, &c.Subject, &c.Predicate, &c.Title} {
		*s = cut(*s, maxName)
	}
	for i := range c.Entities {
		c.Entities[i].Name = cut(c.Entities[i].Name, maxName)
	}
	c.Steps = c.Steps[:min(len(c.Steps), abi.MaxSteps)]
	return c.Slot == nil || len(c.Slot.Subject) <= maxName && len(c.Slot.Attribute) <= maxName && len(c.Slot.Value) <= maxName
}

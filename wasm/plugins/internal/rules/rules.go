// Package rules turns what was said, in English and Chinese, into typed candidates, using only
// rules: the same words always give the same memories. The extractors facts, plans and howto are
// based on it. Each of them takes its part of one reading.
//
// The words:
//
//   - A clause is the part of a sentence that says one thing; a sentence is
//     split at its marks and at "and", "but", 但是 before a new subject.
//   - A clause has a subject (the speaker, another person, a thing), a verb with
//     its tense and negation, and a rest.
//   - A rule knows one verb, or one Chinese phrase, and makes a candidate from
//     the rest: its kind, its slot, its words.
//   - A time is a day, a time of day, or both, computed from when it was said.
//   - Junk is a clause that cannot be a memory: a question, a command, a
//     greeting, a filler, a story. It is refused with a reason.
//   - A piece is the part of a long text that is read at once.
//   - A part is what one extractor proposes from a reading.
//
// The packages below this one, each of which imports only those before it:
//
//   - syntax takes text apart; timex reads times.
//   - discourse has what is known about the talk, and makes candidates.
//   - refuse finds what can't be a memory; noted keeps what no rule takes.
//   - chinese and english have the rules for a clause, howto those for steps.
//   - ellipsis completes answers with their questions.
//
// [Extract] reads a text piece by piece. [piece] tries rules for several sentences and for a
// sentence that needs the previous turn: a list, steps, a correction (retaken.go), an answer
// (resolved.go), an agreement (agreed.go, agreed_zh.go), a word for what was named (referent.go).
// [sentence] then tries rules for a whole sentence (a reminder, what somebody relays), and passes
// each clause to [english.Clause] or [chinese.Clause].
//
// A statement can be understood by itself: "I" has become the speaker's name, and "tomorrow" has
// its date added. It stays in its own language.
package rules

import (
	"strings"
	"unicode"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/howto"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Part is what one extractor proposes from a reading.
type Part = discourse.Part

// The parts; see [discourse.Part].
const (
	Facts = discourse.Facts
	Plans = discourse.Plans
	HowTo = discourse.HowTo
)

// maxTokens is the greatest length of a sentence, because the work for one grows with the square of
// its length.
const maxTokens = 250

// Extract reads the text of ev and appends the candidates of one part to out; refusals are part of
// Facts, so that they are reported once. Its state holds the latest appointments, so that "we moved
// the dentist to Friday" keeps the hour. A text longer than a piece is read piece by piece.
// Traditional Chinese is read as simplified: see [simplified].
func Extract(ev *abi.Event, out *abi.Output, part Part) {
	var plans []discourse.Plan
	known := false
	if part != HowTo {
		plans, known = discourse.DecodePlans(ev.State)
	}
	ev, said := simplified(ev, plans)
	ev = withShortTurns(ev)
	t := discourse.Talk{Ev: ev, Now: timex.MomentOf(ev.At, ev.Offset), Self: discourse.SpeakerOf(ev, ev.Speaker), Out: out, Part: part, Plans: plans}
	ev.Text, t.Plain = english.Heard(chinese.Spaced(ev.Text))
	var cuts []cut
	ev.Text, cuts = withoutAsides(endsBefore(bracketed(ev.Text, t.Now)))
	if part != HowTo {
		for i := 0; len(ev.State) == 0 && i < len(ev.Before); i++ {
			learn(&t, &ev.Before[i])
		}
	}
	if p, ok := chinese.AskedAfter(&t); ok {
		t.About(p)
	}
	if reason := refuse.Boilerplate(ev.Text); reason != "" {
		t.Refuse("boilerplate", reason, 0, len(ev.Text))
	} else if refuse.DialledZh(&t) {
		t.Refuse("secret", "says how a safe is opened", 0, len(ev.Text))
	} else {
		for from := 0; from < len(ev.Text); {
			to := syntax.PieceEnd(ev.Text, from)
			piece(&t, from, to, part)
			from = to
		}
	}
	t.Tidy(part)
	asSaid(out, cuts)
	inOwnScript(out, t.Plans, said)
	switch {
	case part == HowTo:
	case known && !t.Replanned:
		out.State = ev.State
	default:
		out.State = discourse.EncodePlans(t.Plans)
	}
}

// piece reads the text from one byte to another.
func piece(t *discourse.Talk, from, to int, part Part) {
	toks := syntax.LexWithin(t.Ev.Text, from, to)
	first, _, _ := strings.Cut(t.Ev.Text[from:to], "\n")
	_, listed := headsTasks(t, first)
	if datedList(t, toks) {
		t.Tasks, listed = discourse.Tasks{Listed: true}, true
	}
	if !listed && !chinese.AskedPlans(t) && (howto.Sequence(t, toks) || howto.Procedure(t, toks)) {
		return
	}
	t.Own = english.Apart(t, syntax.Split(t.Ev.Text, toks))
	if len(t.Own) > syntax.MaxSentences {
		t.Refuse("length", "more sentences than anybody says in 8 KiB", t.Own[syntax.MaxSentences].Start, to)
		t.Own = t.Own[:syntax.MaxSentences]
	}
	for i := 0; i < len(t.Own); i++ {
		s := t.Own[i]
		if part != HowTo {
			if n := corrects(t, i); n > 0 {
				i += n - 1
				continue
			}
		}
		if i+1 < len(t.Own) && still(s, t.Own[i+1]) {
			t.Meet(s.Toks, s.Text)
			continue // the next sentence says that it is still true
		}
		if from := len(t.Out.Candidates); !howto.Tip(t, s) && part != HowTo && !task(t, s) && !resolved(t, s) && !agreedTo(t, s) && !fronted(t, s) && !dislocated(t, s) && !referred(t, s) {
			sentence(t, s)
			chinese.WithTurn(t, s, from)
		}
	}
}

// withShortTurns returns an event with only the part of the earlier turns that is read.
func withShortTurns(ev *abi.Event) *abi.Event {
	short := *ev
	short.Before = make([]abi.Turn, len(ev.Before))
	for i, b := range ev.Before {
		b.Text, _ = english.Heard(chinese.Spaced(syntax.Cut(b.Text, syntax.MaxBefore)))
		short.Before[i] = b
	}
	return &short
}

// learn reads an earlier turn for its appointments. It proposes nothing from it again.
func learn(t *discourse.Talk, b *abi.Turn) {
	if refuse.Boilerplate(b.Text) != "" {
		return
	}
	var sink abi.Output
	ev := abi.Event{ID: b.ID, At: b.At, Offset: t.Ev.Offset, Speaker: b.Speaker, Wearer: t.Ev.Wearer, Text: b.Text}
	sub := discourse.Talk{Ev: &ev, Now: timex.MomentOf(b.At, t.Ev.Offset), Self: discourse.SpeakerOf(t.Ev, b.Speaker), Out: &sink, Plans: t.Plans, Plain: !strings.ContainsFunc(b.Text, unicode.IsUpper)}
	for _, s := range english.Apart(&sub, syntax.Sentences(b.Text)) {
		sentence(&sub, s)
	}
	t.Plans = sub.Plans
}

// sentence tries rules for a whole sentence, then each of its clauses.
func sentence(t *discourse.Talk, s syntax.Sentence) {
	t.Said = s
	if len(s.Toks) > maxTokens {
		t.Refuse("length", "a sentence of more words than anybody says", s.Start, s.End)
		return
	}
	if refuse.Announced(s) {
		t.Refuse("boilerplate", "a broadcast or an announcement", s.Start, s.End)
		return
	}
	s = refuse.BeforeQuestion(t, s)
	if reason := refuse.Told(s); reason != "" {
		if reason == refuse.AJoke && !s.Chinese() && joked(t, s) {
			return
		}
		t.Refuse("story", reason, s.Start, s.End)
		return
	}
	if takesBackAround(s) {
		t.Refuse("story", "taken back in the same breath", s.Start, s.End)
		return
	}
	if quoted(t, s) {
		return
	}
	s = refuse.AfterCommand(refuse.Soothed(refuse.ToldYou(s)))
	if reminder(t, s) {
		t.Meet(s.Toks, s.Text)
		return
	}
	if kind, reason := refuse.Junk(t, s); kind != "" {
		t.Meet(s.Toks, s.Text) // "You know my friend Ines?"
		t.Refuse(kind, reason, s.Start, s.End)
		return
	}
	if t.Called = t.CalledUpon(s); t.Called.Name == "" {
		s = discourse.WithoutCalled(s)
		if n := len(s.Toks) - 3; n > 2 && s.At(n) == "by" && s.At(n+1) == "the" && s.At(n+2) == "way" {
			s = s.Sub(0, n)
		}
	}
	t.Meet(s.Toks, s.Text)
	s, told := chinese.Rang(t, s)
	if told || relayed(t, s) || english.Outage(t, s) || english.OnShift(t, s) || english.Rang(t, s) || english.ReachMe(t, s) || t.Misnamed(s) || refuse.Abandoned(t, s) || english.WhenFirst(t, s) || english.NotThen(t, s) || english.Resettled(t, s) || chinese.Resettled(t, s) || correction(t, s) || english.PartnerMet(t, s) || answer(t, s) || followUp(t, s) || chinese.Found(t, s) || chinese.Shifted(t, s) || stillSo(t, s) || isNow(t, s) || isNowZh(t, s) || chinese.Mistaken(t, s) {
		return
	}
	before := len(t.Out.Candidates)
	asked := chinese.AskedDay(t, s)
	t.Dayed, t.Held, t.LastDay, t.Denied, t.Beside = false, t.AskedDay(), asked, discourse.DenialZh{}, 0
	var rest []syntax.Sentence
	var last syntax.Sentence
	cited := false
	parts := timed(t, chinese.ThenAhead(t, english.JoinDoses(syntax.Clauses(s), s)), s)
	for i, c := range parts {
		if refuse.Supposes(t, c) {
			break // what follows is only true if this is
		}
		if i+1 < len(parts) && english.Introduces(t, c, parts[i+1]) {
			last, t.Beside = c, len(t.Out.Candidates)-before
			continue
		}
		made := len(t.Out.Candidates)
		cited = !s.Chinese() && (refuse.Quotes(s, c) || cited && refuse.StillQuoted(s, c))
		if !refuse.Idiomatic(c) && !leavesDayOpen(t, c) && !cited {
			clause(t, c)
			if len(t.Out.Candidates) > made {
				english.ButThere(t, c)
			} else if !english.Contrast(t, last, c) {
				rest = append(rest, c)
			}
		}
		last = c
		t.Dayed = t.Dayed || timex.NamesDay(c, t.Now)
		chinese.KeepDay(t, c)
	}
	chinese.Whom(t, s, before)
	if len(t.Out.Candidates) == before+1 {
		noted.Amend(t, &t.Out.Candidates[before], rest)
	}
	if n := t.Beside; n > 0 && len(t.Out.Candidates) == before+n && t.Part == Facts {
		noted.Note(t, s) // "Tom, my brother, is on a diet" says more than whose brother he is
	}
	if len(t.Out.Candidates) == before {
		t.LastDay = asked
		open := leavesDayOpen(t, s)
		if (open || !fragment(t, s)) && (t.Part != Facts || open && offered(s) || !advised(t, s) && !noted.Outlook(t, s) && !chinese.Opens(t, s) && !noted.Note(t, s) && !noted.NoteClauses(t, s) && !chinese.Failed(t, s) && !(s.Chinese() && saysOfZh(t, s))) {
			t.Refuse("nothing", "says nothing that a rule knows", s.Start, s.End)
		}
		if open {
			undate(t, before)
		}
	}
}

// timed joins a clause that is only a time to the next one: "last Friday, I went home".
func timed(t *discourse.Talk, all []syntax.Sentence, s syntax.Sentence) []syntax.Sentence {
	for i := 0; i+1 < len(all); i++ {
		c := all[i]
		timed := 0
		for _, w := range timex.FindWhens(c, t.Now) {
			timed += w.Next - w.First
		}
		for k := range c.Toks {
			if c.Toks[k].Kind == 'p' || syntax.Lead(c.At(k)) {
				timed++
			}
		}
		if timed < len(c.Toks) || len(c.Toks) == 0 {
			continue
		}
		next := all[i+1]
		first, last := 0, 0
		for k := range s.Toks {
			if s.Toks[k].Start <= c.Start {
				first = k
			}
			if s.Toks[k].Start < next.End {
				last = k + 1
			}
		}
		if last <= first {
			continue
		}
		all[i+1] = s.Sub(first, last)
		all = append(all[:i:i], all[i+1:]...)
		i--
	}
	return all
}

// Package rules turns what was said, in English and Chinese, into typed
// candidates, by rules alone: the same words always give the same memories. It
// is the ground of the extractors facts, plans and howto, each of which takes
// its part of one reading.
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
//     greeting, a filler, a story. It is refused with a reason.
//   - A piece is as much of a long text as is read at once.
//   - A part is what one extractor proposes of a reading.
//
// Where to begin: [talk.sentence] tries what concerns a whole sentence, and gives
// each clause to [talk.english] or [talk.chinese]. An English clause is parsed
// first (parse.go, subject.go, predicate.go). What has a person for its subject goes to
// [talk.personal], where each family of verbs has a function (lives, works, eats,
// owns), and "be" to [talk.is]; a thing goes to [talk.aboutThing]. In Chinese
// [talk.statedZh] lists the forms that are known, and [talk.eventZh] takes what is
// at a time. Each of these tries its functions in turn until one knows the clause.
//
// A statement stands by itself: "I" has become the speaker's name, and
// "tomorrow" has its date beside it. It stays in its own language.
package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// Part is what one extractor proposes of a reading.
type Part byte

// The parts. Each candidate is of one of them.
const (
	Facts Part = iota // what is so, and what happened
	Plans             // appointments, plans and promises, and what became of them
	HowTo             // how something is done
)

// partOf says whose a candidate is.
func partOf(c *abi.Candidate) Part {
	switch c.Kind {
	case "how-to":
		return HowTo
	case "plan", "promise", "appointment", "change", "cancellation":
		return Plans
	}
	return Facts
}

// maxCandidates bounds what one text gives to one extractor.
const maxCandidates = 48

// What is read of a text at once, and of each one before it: talk is shorter.
const (
	maxPiece  = 8 << 10 // bytes
	maxBefore = 2 << 10
	// maxSentences of one piece: each may look back at the others.
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

// talk is what rules know of the moment: who speaks, when, and what was said.
type talk struct {
	ev         *abi.Event
	now        moment
	self       person          // the speaker
	plans      []plan          // appointments that are known, oldest first
	replanned  bool            // they are others than before this text
	sexes      map[string]byte // of persons, as relatives before their names say
	persons    []met
	tasks      tasks      // what the lines of a list are
	own        []sentence // of this text
	before     []sentence // of the turn before, once they were asked for
	out        *abi.Output
	called     person // by name, in this sentence
	introduced string // the key of whom a clause has only named, who is no animal
	topic      topic  // whom Chinese clauses without a subject are about
	firm       string // the speaker's employer, where the text names it
	asZh       string // the Chinese word by which a clause gave somebody's number
	several    string // the word for the relatives whom a Chinese clause counted
	ofSelf     bool   // the relative that Chinese clauses named last is the speaker's
	noting     bool   // verbs that no list has are looked for
	part       Part
	said       sentence // the one whose clauses are read
	plain      bool     // the text has no capitals, as recognisers write it
	off        plan     // what a clause before has called off, with its candidate
	offAt      int      // 1 and the index of that candidate; 0: nothing was called off
	beside     int      // relations that a sentence tells beside a name
	held       []held   // days of earlier clauses of the sentence
	dayed      bool     // an earlier clause of the sentence names a day
	lastDay    when     // that a Chinese clause before names
	rejoined   bool     // what is read was made of a question and its answer

	denied     denialZh    // in the Chinese clause before
	quotations []quotation // of the text, once they were sought
	sought     bool
}

// Extract reads the text of ev and appends the candidates of one part to out;
// refusals go with Facts, so that they are told once. Its state holds the
// appointments that were made last, so that "we moved the dentist to Friday"
// keeps the hour. A text longer than a piece is read piece by piece.
func Extract(ev *abi.Event, out *abi.Output, part Part) {
	ev = withShortTurns(ev)
	t := talk{ev: ev, now: momentOf(ev.At, ev.Offset), self: speakerOf(ev, ev.Speaker), out: out, part: part}
	ev.Text, t.plain = heard(spacedZh(ev.Text))
	known := false
	if part != HowTo {
		t.plans, known = decodePlans(ev.State)
		for i := range ev.Before { // appointments made just before, and persons named
			t.learn(&ev.Before[i])
		}
	}
	if p, ok := t.askedAfterZh(); ok {
		t.about(p)
	}
	if reason := boilerplate(ev.Text); reason != "" {
		t.refuse("boilerplate", reason, 0, len(ev.Text))
	} else {
		for from := 0; from < len(ev.Text); {
			to := pieceEnd(ev.Text, from)
			t.piece(from, to, part)
			from = to
		}
	}
	t.tidy(part)
	switch {
	case part == HowTo:
	case known && !t.replanned:
		out.State = ev.State
	default:
		out.State = encodePlans(t.plans)
	}
}

// piece reads the text from one byte to another.
func (t *talk) piece(from, to int, part Part) {
	toks := lexWithin(t.ev.Text, from, to)
	first, _, _ := strings.Cut(t.ev.Text[from:to], "\n")
	_, listed := t.headsTasks(first)
	if t.datedList(toks) {
		t.tasks, listed = tasks{listed: true}, true
	}
	if !listed && (t.sequence(toks) || t.procedure(toks)) {
		return
	}
	t.own = t.apart(split(t.ev.Text, toks))
	if len(t.own) > maxSentences {
		t.refuse("length", "more sentences than anybody says in 8 KiB", t.own[maxSentences].start, to)
		t.own = t.own[:maxSentences]
	}
	for i := 0; i < len(t.own); i++ {
		s := t.own[i]
		if part != HowTo {
			if n := t.corrects(i); n > 0 {
				i += n - 1
				continue
			}
		}
		if i+1 < len(t.own) && still(s, t.own[i+1]) {
			t.meet(s.toks, s.text)
			continue // the next sentence says that it still is so
		}
		if from := len(t.out.Candidates); !t.tip(s) && part != HowTo && !t.task(s) && !t.resolved(s) && !t.agreedTo(s) && !t.referred(s) {
			t.sentence(s)
			t.withTurnZh(s, from)
		}
	}
}

// withShortTurns is an event with as much of the earlier turns as is read.
func withShortTurns(ev *abi.Event) *abi.Event {
	short := *ev
	short.Before = make([]abi.Turn, len(ev.Before))
	for i, b := range ev.Before {
		b.Text, _ = heard(spacedZh(cut(b.Text, maxBefore)))
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
		t.meet(s.toks, b.Text)
		if name := namePrefixZh(stripLeadZh(s.raw())); name != "" && s.chinese() {
			t.persons = append(t.persons, met{t.named(name), -1}) // 对了，丽娜跟马可分手了
		}
	}
	if len(t.ev.State) > 0 || boilerplate(b.Text) != "" {
		return
	}
	var sink abi.Output
	ev := abi.Event{ID: b.ID, At: b.At, Offset: t.ev.Offset, Speaker: b.Speaker, Wearer: t.ev.Wearer, Text: b.Text}
	sub := talk{ev: &ev, now: momentOf(b.At, t.ev.Offset), self: speakerOf(t.ev, b.Speaker), out: &sink, plans: t.plans, plain: !strings.ContainsFunc(b.Text, unicode.IsUpper)}
	for _, s := range sub.apart(sentences(b.Text)) {
		sub.sentence(s)
	}
	t.plans = sub.plans
}

// sentence tries what concerns a whole sentence, then each of its clauses.
func (t *talk) sentence(s sentence) {
	t.said = s
	if len(s.toks) > maxTokens {
		t.refuse("length", "a sentence of more words than anybody says", s.start, s.end)
		return
	}
	if announced(s) {
		t.refuse("boilerplate", "a broadcast or an announcement", s.start, s.end)
		return
	}
	s = t.beforeQuestion(s)
	if reason := told(s); reason != "" {
		if reason == aJoke && !s.chinese() && t.joked(s) {
			return
		}
		t.refuse("story", reason, s.start, s.end)
		return
	}
	if t.quoted(s) {
		return
	}
	s = soothed(toldYou(s))
	if t.reminder(s) {
		t.meet(s.toks, s.text)
		return
	}
	if kind, reason := t.junk(s); kind != "" {
		t.meet(s.toks, s.text) // "You know my friend Ines?"
		t.refuse(kind, reason, s.start, s.end)
		return
	}
	if t.called = t.calledUpon(s); t.called.name == "" {
		s = withoutCalled(s)
		if n := len(s.toks) - 3; n > 2 && s.at(n) == "by" && s.at(n+1) == "the" && s.at(n+2) == "way" {
			s = s.sub(0, n)
		}
	}
	t.meet(s.toks, s.text)
	if t.relayed(s) || t.outage(s) || t.reachMe(s) || t.misnamed(s) || t.abandoned(s) || t.whenFirst(s) || t.notThen(s) || t.resettled(s) || t.resettledZh(s) || t.correction(s) || t.partnerMet(s) || t.answer(s) || t.followUp(s) || t.foundZh(s) || t.stillSo(s) || t.isNow(s) || t.isNowZh(s) {
		return
	}
	before := len(t.out.Candidates)
	t.dayed, t.held, t.lastDay, t.denied, t.beside = false, t.askedDay(), t.askedDayZh(s), denialZh{}, 0
	var rest []sentence
	var last sentence
	parts := t.timed(clauses(s), s)
	for i, c := range parts {
		if t.supposes(c) {
			break // what follows is so only if this is
		}
		if i+1 < len(parts) && t.introduces(c, parts[i+1]) {
			last, t.beside = c, len(t.out.Candidates)-before
			continue
		}
		made := len(t.out.Candidates)
		if !idiomatic(c) && (s.chinese() || !quotes(s, c)) {
			t.clause(c)
			if len(t.out.Candidates) > made {
				t.butThere(c)
			} else if !t.contrast(last, c) {
				rest = append(rest, c)
			}
		}
		last = c
		t.dayed = t.dayed || namesDay(c, t.now)
		t.keepDay(c)
	}
	t.whomZh(s, before)
	if len(t.out.Candidates) == before+1 {
		t.amend(&t.out.Candidates[before], rest)
	}
	if n := t.beside; n > 0 && len(t.out.Candidates) == before+n && t.part == Facts {
		t.note(s) // "Tom, my brother, is on a diet" says more than whose brother he is
	}
	if len(t.out.Candidates) == before {
		t.lastDay = t.askedDayZh(s)
		if !t.fragment(s) && (t.part != Facts || !t.advised(s) && !t.outlook(s) && !t.opensZh(s) && !t.note(s) && !t.noteClauses(s) && !t.failedZh(s) && !(s.chinese() && t.saysOfZh(s))) {
			t.refuse("nothing", "says nothing that a rule knows", s.start, s.end)
		}
	}
}

// timed joins a clause that is a time alone to the one that follows: "last
// Friday, I went home".
func (t *talk) timed(all []sentence, s sentence) []sentence {
	for i := 0; i+1 < len(all); i++ {
		c := all[i]
		timed := 0
		for _, w := range findWhens(c, t.now) {
			timed += w.next - w.first
		}
		for k := range c.toks {
			if c.toks[k].kind == 'p' || lead(c.at(k)) {
				timed++
			}
		}
		if timed < len(c.toks) || len(c.toks) == 0 {
			continue
		}
		next := all[i+1]
		first, last := 0, 0
		for k := range s.toks {
			if s.toks[k].start <= c.start {
				first = k
			}
			if s.toks[k].start < next.end {
				last = k + 1
			}
		}
		if last <= first {
			continue
		}
		all[i+1] = s.sub(first, last)
		all = append(all[:i:i], all[i+1:]...)
		i--
	}
	return all
}

func (t *talk) clause(s sentence) {
	if len(s.toks) == 0 {
		return
	}
	if made := len(t.out.Candidates); s.chinese() {
		t.chinese(s)
		t.outlast(made, !strings.ContainsAny(s.raw(), "不没") && (completedZh(s.raw()) || containsAny(s.raw(), beforeZh[:]...)))
		return
	}
	if t.andKin(s) {
		return
	}
	parts := shared(s)
	c, ok := t.parse(parts[0])
	if !ok {
		return
	}
	for i := range parts {
		more, made := c, len(t.out.Candidates)
		if i > 0 {
			if more, ok = t.continued(parts[i], &c); !ok {
				continue
			}
		}
		t.english(&more)
		t.hold(&more)
		if more.usedTo {
			t.onceDid(&more, made)
		}
		t.outlast(made, more.past || more.perfect || more.usedTo)
		if i == 0 {
			c = more
		}
	}
}

func (t *talk) refuse(kind, reason string, start, end int) {
	t.out.Refusals = append(t.out.Refusals, abi.Refusal{Kind: kind, Reason: reason, Span: abi.Span{Start: start, End: end}})
}

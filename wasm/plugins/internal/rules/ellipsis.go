package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// "In Leeds" says nothing by itself. After "where does your brother live?" it means "my brother lives in Leeds". The
// question is put into the order of a statement, in the words of whoever answers, and what it asks for is filled in.
// The ordinary rules read that statement.

// inquiry is a question in the order of a statement, as whoever answers would say it.
type inquiry struct {
	asked
	word   string   // what, where, when, who, how; "" if it asks for yes or no
	noun   string   // after "what", "which" and "how": "bus", "old", "many"
	nouns  string   // what "how many" counts
	subj   string   // "my brother"; "" of "who is coming?"
	aux    string   // "does", "is", "has"
	rest   []string // after the subject: "live", "allergic to anything"
	denies bool     // "you don't smoke?"
	now    moment   // when the answer was given
	plain  bool     // the question has the order of a statement: "you're from Cork?"
	names  bool     // it only names what the answer leaves open; see referent.go
}

// resolved reads an answer that hangs on the question of another speaker just before. It reports whether the
// sentence needs no other reading.
func (t *talk) resolved(s sentence) bool {
	if b := t.justSaid(); b != nil && hasHan(b.Text) {
		return t.agreesZh(s) || t.resolvedZh(s)
	}
	if t.rejoined || len(t.ev.Before) == 0 || hasHan(s.raw()) || len(s.toks) > 40 || s.ends == "?" {
		return false
	}
	i := slices.IndexFunc(t.own, func(o sentence) bool { return o.start == s.start })
	if i > 1 || i == 1 && !t.own[0].onlyYesOrNo() || t.justSaid() == nil {
		return false
	}
	a := reply{sentence: s}
	if i == 1 {
		a.sentence = t.own[0]
		a.opens()
		a.sentence, a.from = s, 0
	}
	if i == 0 && s.onlyYesOrNo() && len(t.own) > 1 && !t.own[1].ownClause(0) && t.own[1].ends != "?" {
		return true // "Yeah. Two boys."
	}
	q, ok := t.inquired()
	if !ok || hedged(s) || conditioned(s) {
		return false
	}
	if a.opens(); a.mixed {
		return false
	}
	statement, rest := q.answeredBy(&a)
	if statement == "" {
		return false
	}
	return t.readJoined(&q, s, statement, rest)
}

// hangs reports words without a subject or a verb of their own that follow a question of another speaker. They are
// not worth noting without it.
func (t *talk) hangs(s sentence) bool {
	b := t.justSaid()
	if t.rejoined || b == nil || len(t.own) == 0 || s.start != t.own[0].start || s.chinese() {
		return false
	}
	if !t.askedJust() {
		return false
	}
	a := reply{sentence: s}
	a.opens()
	head, tail := a.parts()
	if name, _ := tail.byName(); len(name.toks) > 0 {
		return true // "Kate is, I'm not"
	}
	if len(tail.toks) > 0 && len(head.toks) > 0 && (preposition(head.at(0)) || head.at(0) == "besides" || lead(head.at(0)) || len(head.toks) < 4 && sexOf("", head.at(len(head.toks)-1)) != 0) {
		return false // "Jon, my shop is doing well", "besides the classes, I offer one-on-one mentoring"
	}
	return len(head.toks) > 0 && !head.stated()
}

// readJoined reads a statement that was made of a question and an answer, and what follows it in the answer.
func (t *talk) readJoined(q *inquiry, s sentence, statement, rest string) bool {
	from, refused, part, said, called := len(t.out.Candidates), len(t.out.Refusals), t.part, t.said, t.called
	defer t.otherText()()
	t.rejoined, t.part = true, Facts // notes are made for each part, or it would read the answer alone again; tidy drops them
	defer func() { t.rejoined, t.part, t.said, t.called = false, part, said, called }()
	read := func(text string) {
		for _, o := range sentences(text) {
			t.sentence(o)
		}
	}
	read(statement)
	// A note without a time is too vague to be kept of a question and half a sentence, if it is not of one's health.
	t.out.Candidates = append(t.out.Candidates[:from], slices.DeleteFunc(t.out.Candidates[from:], func(c abi.Candidate) bool {
		if q.names && (c.Slot == nil && c.Started == t.ev.At || c.Kind == "promise" && c.Started == 0) {
			return true // a deed of some time, or one to come that is over in a minute
		}
		if c.Kind == "noted" && c.Started == t.ev.At && q.aux == "did" && q.word == "" && rest == "" && s.onlyYesOrNo() {
			return true // "did you take the bread out?", "yes"
		}
		return c.Kind == "noted" && c.Started == 0 && q.noun != "much" && !strings.Contains(q.raw(), "allerg")
	})...)
	if len(t.out.Candidates) == from {
		t.out.Refusals = t.out.Refusals[:refused]
		return false
	}
	for i := from; i < len(t.out.Candidates); i++ {
		c := &t.out.Candidates[i]
		if c.Confidence = min(c.Confidence, answeredSure); c.Kind == "noted" {
			c.Confidence = min(c.Confidence, clauseSure)
		}
		if c.Started == t.ev.At && c.Ended == 0 {
			c.Started = 0 // the question does not say when it was
		}
	}
	if more := len(t.out.Candidates); rest != "" {
		read(rest)
		if kept := t.out.Candidates[more:]; q.subj == "I" || !strings.HasPrefix(rest, q.subj+" ") { // "I come out in a rash": of what?
			kept = slices.DeleteFunc(kept, func(c abi.Candidate) bool { return c.Kind == "noted" })
			t.out.Candidates = t.out.Candidates[:more+len(kept)]
		}
	}
	t.citesBoth(from, s, q.start, q.end)
	t.out.Refusals = t.out.Refusals[:refused]
	return true
}

// citesBoth makes the candidates from number from on cite an answer, and a part of the turn before, which asked.
func (t *talk) citesBoth(from int, answer sentence, start, end int) {
	t.standsFor(from, answer)
	for i := from; i < len(t.out.Candidates); i++ {
		c := &t.out.Candidates[i]
		c.Spans = append(c.Spans[:min(1, len(c.Spans)):1], abi.Span{Turn: -1, Start: start, End: end})
	}
}

// inquired is the last question of the turn before, if it can be made a statement of.
func (t *talk) inquired() (inquiry, bool) {
	b := t.justSaid()
	by, all := speakerOf(t.ev, b.Speaker), t.sentencesOf(b)
	for k := len(all) - 1; k >= 0; k-- {
		o := all[k]
		if o.chinese() || len(o.toks) > 30 {
			return inquiry{}, false
		}
		if !t.asks(b, o) {
			continue
		}
		q := inquiry{asked: asked{o, -1, by, t.self}, now: t.now}
		return q, q.parse()
	}
	return inquiry{}, false
}

// asks reports a question of a turn, with its mark or without.
func (t *talk) asks(b *abi.Turn, o sentence) bool {
	if o.ends != "" {
		return o.ends == "?"
	}
	first := 0
	for lead(o.at(first)) || first < len(o.toks) && o.toks[first].kind == 'p' {
		first++
	}
	return question(o, first) || (&talk{ev: t.ev, plain: plainText(b.Text)}).unmarked(o, first)
}

// askedJust reports whether the turn before asks.
func (t *talk) askedJust() bool {
	b := t.justSaid()
	return b != nil && slices.ContainsFunc(t.sentencesOf(b), func(o sentence) bool { return t.asks(b, o) })
}

// answeredBy makes a statement of the question and an answer, and gives what the answer says beside it.
func (q *inquiry) answeredBy(a *reply) (statement, rest string) {
	head, tail := a.parts()
	if s := q.tasted(a); s != "" {
		return s, ""
	}
	if q.word == "where" && head.at(0) == "still" && placing(head.at(1)) {
		head = head.sub(1, len(head.toks)) // "still in Galway"
	}
	if q.word == "who" && q.subj == "" && len(head.toks) == 0 {
		head, tail = tail.byName()
	}
	if head.stated() {
		if !a.yes || len(head.toks) > 5 || head.at(0) != "always" && head.at(0) != "have" && head.at(0) != "has" {
			return "", ""
		}
		head = sentence{} // "yes, always have been"
	}
	if len(tail.toks) > 0 {
		rest = q.ofSubject(tail)
	}
	switch {
	case q.word == "" && q.aux == "have" && len(q.rest) > 1 && q.rest[0] == "seen" && len(tail.toks) == 0 && !a.no && placing(head.at(0)):
		q.subj, q.aux = strings.Join(q.rest[1:], " "), "is" // "have you seen my keys?", "on the table"
		if strings.HasSuffix(q.subj, "s") {
			q.aux = "are"
		}
		return q.says(false, words(head)), ""
	case q.passing():
		return "", ""
	case q.word == "" && modals[q.aux] && q.aux != "will":
		return "", ""
	case q.word == "":
		return q.yesOrNo(a, head, tail, rest)
	case a.yes || a.no || a.accepts:
		return "", ""
	case len(head.toks) == 0 && q.word == "when" && q.be():
		return q.filledAfter(tail)
	case len(head.toks) == 0:
		return q.copied(tail), ""
	case !head.fills():
		return "", ""
	}
	return q.filled(head), rest
}

// byName is who is named in "Jenny is, she finishes at two" and "my mum is", and what follows.
func (s sentence) byName() (name, rest sentence) {
	n := 1
	if (s.at(0) == "my" || s.at(0) == "our") && kin(s.at(1)) {
		n = 2
	}
	if len(s.toks) < n+1 || n == 1 && !(s.toks[0].cap && nameWord(s.at(0)) || calledSo[s.at(0)]) || !asking[s.at(n)] || len(s.toks) > n+1 && s.at(n+1) != "," {
		return name, s
	}
	if len(s.toks) > n+2 {
		rest = s.sub(n+2, len(s.toks))
	}
	return s.sub(0, n), rest
}

// filledAfter reads "it's on the second of June": what a question asks for, after a pronoun.
func (q *inquiry) filledAfter(tail sentence) (statement, rest string) {
	base, is := contraction(tail.at(0))
	i := 1
	if is == "" {
		is, i = tail.at(1), 2
	}
	if base != "it" && base != "they" || is != "is" && is != "are" || (base == "it") != (q.aux == "is") || i >= len(tail.toks) {
		return "", ""
	}
	b := reply{sentence: tail, from: i}
	head, more := b.parts()
	if len(more.toks) > 0 {
		rest = more.raw()
	}
	if !head.fills() || head.stated() {
		return "", ""
	}
	return q.filled(head), rest
}

// ofSubject is a clause that follows in an answer, with the subject of the question for "he" and "she".
func (q *inquiry) ofSubject(s sentence) string {
	base, rest := contraction(s.at(0))
	raw := s.raw()
	if strings.HasSuffix(q.subj, "'s name") {
		return "" // the one who is named
	}
	if base != "he" && base != "she" || q.subj == "" || q.subj == "I" || q.subj == "we" || q.of.name == q.subj {
		return raw
	}
	if sex := sexOf(last(strings.ToLower(q.subj)), q.subj); base == "he" && sex == female || base == "she" && sex == male {
		return raw
	}
	after := s.text[s.toks[0].end:s.end]
	switch rest {
	case "is":
		if _, past, _ := lemma(s.at(1)); s.at(1) == "been" || past && s.at(1) != "born" {
			return q.subj + " has" + after
		}
		return q.subj + " is" + after
	case "":
		return q.subj + after
	}
	return q.subj + " " + rest + after
}

// passing reports a question whose answer is not worth a statement: it is about this moment, about the talk, or secret.
func (q *inquiry) passing() bool {
	w := lowered(q.rest)
	k := 0
	for k < len(w) && (adverb(w[k]) || w[k] == "not") {
		k++
	}
	first := ""
	if k < len(w) {
		first = w[k]
	}
	l, _, ing := lemma(first)
	subject := strings.ToLower(q.subj)
	noun := last(subject)
	person := q.subj == "I" || subject == "we" || subjectPronoun(subject) || kin(noun) || calledSo[noun] || q.subj != "" && !strings.Contains(q.subj, " ") && capitalised(q.subj)
	switch {
	case q.aux == "should" || q.aux == "shall" || q.aux == "would" && q.subj != "I" || subject == "they" || subject == "it":
		return true
	case minds[l] || passingStates[first] && !(first == "up" && q.word == "what") && (q.aux == "is" || q.aux == "are" || q.aux == "was" || q.aux == "were" || q.aux == "am"):
		return true
	case q.aux == "have" && (q.word == "" && first == "got" || first == "have") && len(w) > k+2 && moments[w[len(w)-1]] || l == "have" && len(w) > 0 && moments[w[len(w)-1]]:
		return true
	case (q.word == "where" || q.word == "what") && person && len(w) == k && q.aux != "have":
		return true // "where are you?"
	case q.word == "how" && q.noun == "" && (l != "get" && l != "travel" && l != "commute"), q.word == "why":
		return true
	case q.word == "what" && len(w) == k && openNouns[noun], q.word == "what" && (first == "like" || first == "for" || first == "wrong" || ing && l != "do" && l != "take" && l != "study" && l != "train"):
		return true
	case q.word == "what" && (q.aux == "did") && (l == "do" || l == "have" || l == "get" || l == "eat" || l == "make"):
		return true
	}
	for _, s := range [...]string{subject, strings.Join(w, " ")} {
		if containsAny(s, "password", "passcode", "code", "pin", "card number", "account", "sort code", "security") {
			return true
		}
	}
	return false
}

// minds are verbs whose questions are about no more than the talk, or ask for something.
var minds = set("know think mean mind fancy remember see hear understand feel guess say believe agree hope care wonder suppose realise realize recognise need want find look sound happen manage sleep tell notice mention try help wait")

// passingStates are how somebody is just now.
var passingStates = set("free available busy ok okay alright sure ready serious hungry thirsty tired cold hot kidding joking done there right home in out up around off back awake asleep happy sad angry fine well better worried nervous excited interested able about lost late early cross upset")

// moments are what one is asked for and gives at once.
var moments = set("minute moment second time idea question light pen lighter problem fun clue")

// openNouns are what one asks for and no answer is worth keeping.
var openNouns = set("plan plans point matter problem idea deal story news time weather opinion take thoughts excuse question rush catch secret next occasion score tip advice luck chance objection volunteer dessert cash change word answer date day hurry difference hobby damage situation verdict mood")

package rules

import "strings"

// "My birthday isn't in June, it's on July 12th": "it" is what the sentence has just named, and
// nothing of which the talk was about before.

// notThen takes a sentence that denies one time of its subject and says another: the plan that is
// known of the denied day moves, and of anything else it says when it is.
func (t *talk) notThen(s sentence) bool {
	if s.chinese() || s.ends == "?" || conditioned(s) || len(s.toks) > 40 {
		return false
	}
	head, is, not := s.deniedBe()
	if not == 0 {
		return false
	}
	wrong, ok := whenAt(s, not, t.now)
	if !ok || !wrong.hasDay || wrong.habit {
		return false
	}
	at := instead(s, wrong.next)
	right, ok := whenAt(s, at, t.now)
	if at == 0 || !ok || right.void || right.habit || !right.hasDay && !right.clock || !s.closes(right.next) {
		return false
	}
	made := len(t.out.Candidates)
	t.isThen(s, s.text[s.toks[head].start:is], s.text[s.toks[at].start:s.toks[right.next-1].end], &wrong)
	if len(t.out.Candidates) == made && t.part == Facts {
		t.noteThen(s, &right)
	}
	return true // in each part: no other plan is meant
}

// noteThen notes a sentence at the time that it says, and not at the one that it denies.
func (t *talk) noteThen(s sentence, w *when) {
	if !t.note(s) {
		t.refuse("nothing", "says nothing that a rule knows", s.start, s.end)
		return
	}
	a := &t.out.Candidates[len(t.out.Candidates)-1]
	if a.Ended = 0; a.Started != 0 {
		a.Started = w.began()
	}
}

// began is when a day begins, or its hour where that is known, in ms since 1970.
func (w *when) began() int64 {
	if w.clock {
		return w.unix()
	}
	return moment{w.day, 0, w.zone}.unix()
}

// namedBefore is the subject of the clause before c in this text, where that is a thing with a name of its
// own: "the deadline" of "the deadline is tight, it's on Tuesday".
func (t *talk) namedBefore(c *clause) string {
	var before sentence
	for _, s := range t.own {
		for _, o := range clauses(s) {
			if o.end <= c.start {
				before = o
			}
		}
	}
	o, ok := clause{}, false
	if len(before.toks) > 0 {
		o, ok = t.parse(before)
	}
	if !ok || o.kind != 't' || pronoun(o.thing) || schedule[last(o.thing)] {
		return ""
	}
	end := o.start
	for i := 1; i < len(o.words) && end == o.start; i++ {
		if tok := o.toks[o.words[i].tok]; auxiliary(o.w(i)) || o.w(i) == o.w(o.vi) {
			if end = tok.start; o.words[i-1].tok == o.words[i].tok {
				end += len(o.w(i - 1)) // the deadline's
			}
		}
	}
	return o.text[o.toks[o.words[0].tok].start:end]
}

// schedule words say when something is, and not what.
var schedule = set("time date day plan plans schedule change news problem thing")

// deniedBe finds "is not" after the subject of a sentence: the token that the subject begins with,
// the byte at which it ends, and the token after "not"; not is 0 where there is none.
func (s sentence) deniedBe() (head, end, not int) {
	for lead(s.at(head)) || s.at(head) == "," {
		head++
	}
	if thought := s.at(head) == "i" && s.at(head+1) == "thought"; thought { // "I thought the party was on Saturday, but it's on Sunday"
		head += 2 + boolInt(s.at(head+2) == "that")
		for i := head + 1; i < len(s.toks) && i < head+8 && s.toks[i].kind != 'p'; i++ {
			if s.at(i) == "was" {
				return head, s.toks[i].start, i + 1
			}
		}
		return 0, 0, 0
	}
	if base, _ := contraction(s.at(head)); subjectPronoun(base) || pronoun(base) {
		return 0, 0, 0
	}
	for i := head + 1; i < len(s.toks) && i < head+8; i++ {
		base, rest := contraction(s.at(i))
		switch {
		case rest == "not" && base == "is":
			return head, s.toks[i].start, i + 1
		case rest == "is" && s.at(i+1) == "not":
			return head, s.toks[i].start + len(written(s.text[s.toks[i].start:s.toks[i].end], base)), i + 2
		case s.at(i) == "is" && s.at(i+1) == "not":
			return head, s.toks[i].start, i + 2
		case s.toks[i].kind == 'p' || auxiliary(s.at(i)):
			return 0, 0, 0
		}
	}
	return 0, 0, 0
}

// instead is the token after ", it's" or "but", from token i on; 0: the sentence does not go on so.
func instead(s sentence, i int) int {
	said := false
	for ; i < len(s.toks); i++ {
		switch s.at(i) {
		case ",", "-", "–", "—", "no", "actually", "rather", "is":
		case "it's", "it", "that's", "but":
			said = true
		default:
			if said {
				return i
			}
			return 0
		}
	}
	return 0
}

// closes reports whether nothing is said from token i on.
func (s sentence) closes(i int) bool {
	for ; i < len(s.toks); i++ {
		switch s.at(i) {
		case "instead", "actually", "now", "then", ",":
		default:
			return false
		}
	}
	return true
}

// isThen says of a subject when it is, as if the sentence were "SUBJECT is TIME". wrong is a day
// on which it is not, or nil.
func (t *talk) isThen(s sentence, subject, time string, wrong *when) {
	all := sentences(strings.TrimSpace(subject) + " is " + time)
	if len(all) != 1 {
		return
	}
	from := len(t.out.Candidates)
	c, ok := t.parse(all[0])
	if p, known := t.plannedOn(&c, wrong); ok && known {
		t.moved(p.move(together(c.whens)), s, 0.86)
		return
	}
	t.clause(all[0])
	if len(t.out.Candidates) == from && t.part == Facts {
		t.note(all[0])
	}
	t.standsFor(from, s)
}

// itIsEvent takes "it's Mia's sports day on Friday" as "Mia's sports day is on Friday".
func (t *talk) itIsEvent(c *clause, w *when) {
	const most = 6 // words
	n := len(c.words)
	if n-c.vi < 2 || n-c.vi-1 > most || t.rejoined || w.day < t.now.day || w.first < c.words[n-1].tok {
		return
	}
	what := c.text[c.toks[c.words[c.vi+1].tok].start:c.toks[c.words[n-1].tok].end]
	noun := c.w(n - 1)
	if _, event := eventNoun(noun); !event && !occasions[noun] || (noun == "day" || noun == "evening") && n-c.vi < 4 && !strings.HasPrefix(c.w(n-2), "parents") {
		return
	}
	if first := c.w(c.vi + 1); first == "a" || first == "an" || first == "only" || first == "been" || first == "like" {
		return // "it's a party on Friday": what is?
	}
	t.rejoined = true
	t.isThen(c.sentence, what, c.text[c.toks[w.first].start:c.toks[c.whens[len(c.whens)-1].next-1].end], nil)
	t.rejoined = false
}

// occasions are of somebody or of something: "Milo's nativity", "parents' evening".
var occasions = set("birthday anniversary nativity graduation day evening")

// plannedOn is the known plan of a clause's subject on a day; nil: on any.
func (t *talk) plannedOn(c *clause, on *when) (plan, bool) {
	attr, noun := c.eventIn()
	words := []string{attr, noun}
	if attr == "" {
		words = []string{last(c.thing)}
	}
	if c.kind != 't' || attr == "" && on == nil {
		return plan{}, false
	}
	return t.findOf(t.whose(c), func(p *plan) bool {
		return p.day >= t.now.day && (on == nil || p.day == on.day || on.grain == 'M' && p.day > on.day && p.day < addMonths(on.day, 1))
	}, words...)
}

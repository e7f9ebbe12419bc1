package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// reschedule takes "we moved the dentist to Friday", "the dentist has been
// pushed to Friday", "I cancelled the meeting".
func (t *talk) reschedule(c *clause) bool {
	i := c.vi
	verb := c.verb
	if verb == "be" || c.kind == 't' && (verb == "get" || verb == "have") {
		for k := i; k < min(len(c.words), i+5); k++ {
			if l, past, _ := lemma(c.w(k)); past && moves(l) {
				verb, i = l, k
			}
		}
	}
	if verb == "call" && c.w(i+1) == "off" {
		verb = "cancel"
	}
	if !moves(verb) && verb != "cancel" || c.neg || c.intend && (verb != "cancel" || c.past) || c.modal || conditioned(c.sentence) {
		return false
	}
	attr, noun := c.eventIn()
	if (c.w(i+1) == "to" || c.w(i+1) == "into") && i+2 < len(c.words) && attr == "" {
		return false // "Anna is moving to Berlin in March", like somebody before her
	}
	whose := t.whose(c)
	it := c.find(0, len(c.words), "it") >= 0 || c.find(0, len(c.words), "that") >= 0
	words := []string{}
	with := c.withWhom()
	if attr != "" {
		head := noun
		if h, _, cut := strings.Cut(noun, " "); cut && (len(with.words) > 0 || h != "meeting" && h != "call") {
			head = h
		}
		words = []string{attr, noun, head}
	} else if !it {
		for k := i + 1; k < len(c.words); k++ { // "moved the slides to Friday": a word of the plan's
			if w := c.w(k); len(w) > 3 && !determiner(w) && !auxiliary(w) && !adverb(w) {
				words = append(words, w)
			}
		}
		if c.kind == 't' {
			words = append(words, c.thing)
		}
		if len(words) == 0 {
			return false
		}
	}
	if verb == "cancel" {
		p, known := t.ends(c, attr, c.words[i].tok, len(c.toks), words...)
		switch {
		case !known && whose.named && !whose.known:
			t.asSaid(c)
			return true
		case !known && attr == "":
			return false
		case !known && c.kind == 'p' && hosted[attr]: // "my sister called off the wedding"
			p.subject, p.shown = c.subj.key, c.subj.name
		}
		t.emit(p, t.rewrite(c), "cancellation", 0.85, c.sentence, true)
		return true
	}
	for k := range c.whens {
		if c.whens[k].habit {
			return false // "my Wednesday meeting's been moved to Thursdays"
		}
	}
	sort, _, _ := strings.Cut(noun, " ")
	fits := withThem(sort, with)
	was := dayBefore(c.whens, c.words[i].tok)
	p, known := t.findOf(whose, func(p *plan) bool { return was.mayBe(p.day, t.now.day) && (fits == nil || fits(p)) }, words...)
	to := together(c.whens)
	if to != nil && len(c.whens) == 1 && to.weekday && c.past && c.at(to.first) == "on" {
		to = nil // "they changed it on Wednesday": that was when they did
	}
	switch {
	case !known && (whose.named && !whose.known || len(with.words) > 0 && !strings.Contains(noun, " ")) && (to != nil || attr != ""):
		t.asSaid(c) // of whom, or of which appointment at the bank?
		return true
	case to == nil || !known && attr == "":
		return false
	case !known:
		p = plan{subject: t.self.key, attribute: attr, what: noun, label: t.label(c), day: t.now.day}
		if was != nil && t.knowsPlan(attr) {
			other := plan{day: was.day}
			p.attribute += " " + other.value() // one of another day is another one
		}
		switch {
		case whose.named:
			p.subject, p.shown = whose.key, whose.name
		case c.kind == 'p' && hosted[attr]: // "Jule's moving the party to Friday"
			p.subject, p.shown = c.subj.key, c.subj.name
		}
	}
	t.moved(p.move(to), c.sentence, 0.88)
	return true
}

// hosted are events of whoever gives them.
var hosted = set("party wedding housewarming barbecue exhibition concert show")

// dayBefore is the day that stands before a token: of "my appointment tomorrow was moved to Friday" the
// first; nil: none does.
func dayBefore(whens []when, tok int) *when {
	for i := range whens {
		if w := &whens[i]; w.next <= tok && w.hasDay && !w.habit && w.grain == 'd' {
			return w
		}
	}
	return nil
}

// mayBe reports whether a plan of a day can be the one of w, where w is nil or may be a weekday of
// this week or the next.
func (w *when) mayBe(day, now int) bool {
	return w == nil || day == w.day || w.weekday && day > now-7 && day < now+14 && (day-w.day)%7 == 0
}

// knowsPlan reports whether an appointment of that name is known.
func (t *talk) knowsPlan(attr string) bool {
	return slices.ContainsFunc(t.plans, func(p plan) bool { return p.attribute == attr })
}

func moves(v string) bool {
	switch v {
	case "move", "reschedule", "push", "shift", "postpone", "change", "bring", "switch":
		return true
	}
	return false
}

// moved proposes the new time of a plan.
func (t *talk) moved(p plan, s sentence, confidence float64) {
	w := p.when(t.now.offset)
	text, name := "", p.shown
	if head, _, ok := strings.Cut(p.label, "'s "+p.what); name == "" && ok && p.what != "" && capitalised(last(head)) {
		name = last(head) // "Mei is going to Anna's wedding"
	}
	if name == "" {
		name = t.nameOf(p.subject)
	}
	if p.chinese || s.chinese() {
		text = name + "的" + strings.TrimPrefix(p.what, "的") + "改到" + w.chinese() + "。"
		if p.what == "" || p.what == "plan" || p.what == "promise" {
			text = p.label + "：改到" + w.chinese() + "。"
		}
		p.chinese = true
	} else {
		what := p.what
		if what == "" || what == "plan" || what == "promise" {
			text = strings.TrimRight(p.label, " .,") + ", now on " + w.english() + "."
		} else {
			if p.attribute == strings.ReplaceAll(what, " ", "_")+"_appointment" {
				what += " appointment"
			}
			text = ofMany(name) + " " + what + " is now on " + w.english() + "."
		}
	}
	a := t.emit(p, sentenceCase2(text), "change", confidence, s, false)
	a.EventType = "appointment"
	if p.shown != "" {
		a.Actor = p.shown
	}
	a.Tags = append(a.Tags, "correction")
}

func sentenceCase2(s string) string {
	if strings.HasSuffix(s, "。") {
		return s
	}
	return sentenceCase(s)
}

// correction takes a sentence that only changes a time that was said before:
// "actually, no, Thursday", "make it four", "不对，是周四".
func (t *talk) correction(s sentence) bool {
	if len(t.plans) == 0 {
		return false
	}
	whens := findWhens(s, t.now)
	if w, ok := t.makeIt(s); ok && len(whens) == 0 {
		whens = []when{w}
	}
	if len(whens) == 0 || s.denies(0) {
		return false
	}
	proposed := t.agreed(whens)
	marked, others, said := proposed, 0, false
	timed := map[int]bool{}
	for _, w := range whens {
		for k := w.first; k < w.next; k++ {
			timed[k] = true
		}
	}
	for i := 0; i < len(s.toks); i++ {
		if timed[i] || s.toks[i].kind == 'p' {
			continue
		}
		if s.toks[i].kind == 'c' {
			if w, n := prefixZh(s, i, "不对", "改成", "改到", "改为", "还是", "应该是", "不是", "说错了", "推迟到", "提前到", "换到", "换成", "等等"); n > 0 {
				marked, said = true, w != ""
				i += n - 1
				continue
			}
			if strings.Contains("是了吧那就哦啊嗯我", s.at(i)) {
				continue
			}
			others++
			continue
		}
		switch s.at(i) {
		case "actually", "no", "sorry", "wait", "instead", "rather", "mean", "meant", "correction", "scratch", "nope", "not":
			marked, said = true, true
		case "make", "change":
			if s.at(i+1) == "it" || s.at(i+1) == "that" {
				marked, said = true, true
				i++
				continue
			}
			others++
		case "it", "it's", "that", "that's", "is", "i", "the", "to", "let's", "say", "oh", "so", "ok", "okay", "better", "be", "then", "on", "at", "for", "we", "said", "will", "must", "they", "and", "but", "now", "hang", "hold", "yes", "well", "um", "uh", "one",
			"works", "fine", "good", "great", "perfect", "me", "i'll", "come", "suits", "sounds", "sure", "lovely", "all", "right":
		default:
			others++
		}
	}
	if !marked || others > 1 {
		return false
	}
	p, ok := t.meant()
	if !ok || proposed && !said && p.at >= t.ev.Before[len(t.ev.Before)-1].At {
		return false // "Saturday works", of what was asked, and not of a plan made beside it
	}
	w := &whens[len(whens)-1]
	if len(whens) > 1 { // "not Tuesday, Thursday"; "Thursday, not Tuesday"
		for k := range whens {
			if whens[k].first == 0 || s.at(whens[k].first-1) != "not" && s.at(whens[k].first-2) != "not" {
				w = &whens[k]
			}
		}
	}
	t.moved(p.move(w), s, 0.8)
	t.cite()
	return true
}

// cite adds the turn before as evidence of the last candidate: it says what is
// corrected.
func (t *talk) cite() {
	n := len(t.ev.Before)
	if n == 0 || t.ev.Before[n-1].Text == "" {
		return
	}
	c := &t.out.Candidates[len(t.out.Candidates)-1]
	c.Spans = append(c.Spans, abi.Span{Turn: -1, Start: 0, End: len(t.ev.Before[n-1].Text)})
}

// fragment takes what has no verb: "Dentist on Thursday at three".
func (t *talk) fragment(s sentence) bool {
	if s.chinese() || s.ends == "?" || len(s.toks) > 14 {
		return false
	}
	whens := findWhens(s, t.now)
	if len(whens) == 0 || whens[0].habit || !whens[0].hasDay || whens[0].day < t.now.day || whens[0].grain != 'd' || s.at(0) == "there's" {
		return false
	}
	if took, denied := t.deniedEvent(s, whens); denied {
		return took
	}
	if _, event := eventNoun(s.at(0)); lemmaSet[s.at(0)] && (!event || preposition(s.at(1)) || determiner(s.at(1))) && !preposition(s.at(0)) {
		return false // "Save me a seat at the concert on Friday"
	}
	for i := range s.toks {
		if l, _, ing := lemma(s.at(i)); l != "" && i > 0 && !ing || s.at(i) == "this" && i == 0 || subjectPronoun(first(contraction(s.at(i)))) {
			if _, event := eventNoun(s.at(i)); !event {
				return false
			}
		}
	}
	for i := range s.toks {
		if a, ok := eventNoun(s.at(i)); ok && !ofEvents[s.at(i+1)] && !s.verbWithin(0, len(s.toks)) {
			c := clause{sentence: s, whens: whens, subj: t.self, kind: 't'}
			p := plan{subject: t.self.key, attribute: a, what: s.at(i), day: whens[0].day, minute: whens[0].minute, clock: whens[0].clock, label: s.raw()}
			text := possessive(t.self.name) + " " + t.rewrite(&c)
			of := clause{sentence: s, whens: whens, subj: t.self, kind: 't', vi: -1}
			of.words = t.wordsOf(&of)
			if whose := t.whose(&of); t.other(whose) {
				if !whose.known {
					return false
				}
				p.subject, text = whose.key, t.rewrite(&c)
			}
			t.another(&p, false)
			t.emit(p, text, "appointment", 0.7, s, false)
			return true
		}
	}
	return false
}

// makeIt reads "make it four", in the half of the day of the latest plan.
func (t *talk) makeIt(s sentence) (when, bool) {
	p, ok := t.meant()
	for i := 0; ok && i+2 < len(s.toks); i++ {
		if (s.at(i) != "make" && s.at(i) != "say") || (s.at(i+1) != "it" && s.at(i+1) != "that") {
			continue
		}
		if h, ok := number(s.at(i + 2)); ok && h >= 1 && h <= 12 && s.at(i+2) != "a" && s.at(i+2) != "an" {
			w := when{first: i + 2, next: i + 3, clock: true, minute: h % 12 * 60, zone: t.now.offset}
			if m, ok := number(s.at(i + 3)); ok && m >= 10 && m < 60 {
				w.minute, w.next = w.minute+m, i+4
			}
			if p.minute >= 12*60 || !p.clock && h < 7 {
				w.minute += 12 * 60
			}
			return w, true
		}
	}
	return when{}, false
}

// together is the last day and the last time of day of several expressions:
// "from Tuesday to Friday, four fifteen in the afternoon"; nil where there is
// neither.
func together(whens []when) *when {
	var to *when
	for k := range whens {
		w := whens[k]
		if w.habit || !w.hasDay && !w.clock {
			continue
		}
		if to != nil {
			if !w.hasDay {
				w.day, w.hasDay, w.grain = to.day, to.hasDay, to.grain
			}
			if !w.clock || w.byPart && to.clock {
				w.minute, w.clock, w.byPart = to.minute, to.clock, to.byPart
			}
		}
		to = &w
	}
	return to
}

// nameOf is the name of a slot's subject.
func (t *talk) nameOf(subject string) string {
	switch {
	case subject == t.self.key:
		return t.self.name
	case subject == "user" || strings.HasPrefix(subject, "user's ") || strings.HasPrefix(subject, "user的"):
		return speakerOf(t.ev, "").name + strings.TrimPrefix(subject, "user")
	case subject != "" && subject[0] >= 'a' && subject[0] <= 'z':
		return string(subject[0]-32) + subject[1:]
	}
	return subject
}

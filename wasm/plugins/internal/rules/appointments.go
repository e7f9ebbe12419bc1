package rules

import (
	"slices"
	"strings"
)

// recentTalk is how long, in ms, what was talked about is still meant by
// "make it four".
const recentTalk = 3 * 60 * 1000

// profession reports whether s is somebody whom one has appointments with.
func profession(s string) bool {
	switch s {
	case "dentist", "doctor", "vet", "optician", "hairdresser", "physio", "therapist", "gp", "barber", "mechanic", "hospital", "optometrist", "orthodontist", "hygienist",
		"chiropractor", "osteopath", "podiatrist", "psychiatrist", "paediatrician", "pediatrician", "obstetrician", "midwife", "notary", "solicitor", "surgeon", "nutritionist",
		"dietician", "beautician", "masseur", "masseuse", "acupuncturist", "gynaecologist", "gynecologist":
		return true
	}
	if stem, ok := strings.CutSuffix(s, "therapist"); ok {
		return stem != ""
	}
	switch stem, _ := strings.CutSuffix(s, "ologist"); stem {
	case "dermat", "cardi", "neur", "ur", "onc", "rheumat", "audi", "psych", "radi", "allerg", "immun", "endocrin", "ophthalm", "haemat", "hemat", "pulmon", "gastroenter":
		return stem != s
	}
	return false
}

// holdsWord reports whether text, in lower case, has the word; a Chinese one anywhere.
func holdsWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if word[0] >= 0x80 || !letterAt(text, i-1) && (!letterAt(text, i+len(word)) || text[i+len(word)] == 's' && !letterAt(text, i+len(word)+1)) {
			return true
		}
		from = i + 1
	}
	return false
}

func letterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i]|32 >= 'a' && s[i]|32 <= 'z' || s[i] >= '0' && s[i] <= '9')
}

// noun is the word by which an appointment is known: who or what it is with.
func (p *plan) noun() string {
	if who, ok := strings.CutSuffix(p.attribute, "_appointment"); ok && !p.chinese {
		return strings.ReplaceAll(who, "_", " ")
	}
	switch p.what {
	case "plan", "promise":
		return ""
	}
	return p.what
}

// meant is the appointment that the talk is about: the one that was named in
// the last turns, or the one that was made in them.
func (t *talk) meant() (plan, bool) {
	for i := len(t.ev.Before) - 1; i >= max(0, len(t.ev.Before)-6); i-- {
		b := &t.ev.Before[i]
		if t.ev.At-b.At > recentTalk {
			break
		}
		text := strings.ToLower(b.Text)
		for k := len(t.plans) - 1; k >= 0; k-- {
			if holdsWord(text, t.plans[k].noun()) {
				return t.plans[k], true
			}
		}
		if holdsWord(text, "appointment") {
			return t.onlyVisit()
		}
		for _, tok := range lex(text) {
			if _, event := eventNoun(tok.s); event {
				return plan{}, false // of one that nobody knows yet
			}
		}
	}
	if n := len(t.plans); n > 0 && t.ev.At-t.plans[n-1].at <= recentTalk {
		return t.plans[n-1], true
	}
	return plan{}, false
}

// onlyVisit is the one appointment that is still to come, if it is one.
func (t *talk) onlyVisit() (plan, bool) {
	var found []plan
	for _, p := range t.plans {
		if strings.HasSuffix(p.attribute, "appointment") && p.day >= t.now.day {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return plan{}, false
	}
	return found[0], true
}

// resettled takes a sentence that names a known appointment and says another
// time of it, however it is said: "no dentist tomorrow after all, I'm going on
// Friday at two instead", "you're down at the vet for Friday at five".
func (t *talk) resettled(s sentence) bool {
	if len(t.plans) == 0 || s.chinese() || s.ends == "?" {
		return false
	}
	marked, yours, verb := false, false, 0
	for i := range s.toks {
		switch w := s.at(i); w {
		case "if", "could", "would", "might", "unless", "should", "whether", "maybe":
			return false
		case "instead", "now", "anymore", "actually", "rather":
			marked = true
		case "any", "no":
			marked = marked || s.at(i+1) == "more" || s.at(i+1) == "longer"
		case "after":
			marked = marked || s.at(i+1) == "all"
		case "you", "your":
			yours = true
		default:
			if base, _ := contraction(w); base == "you" {
				yours = true
			} else if l, past, _ := lemma(w); past && moves(l) {
				marked, verb = true, i
			}
		}
	}
	if !marked && tells(s) {
		return false
	}
	p, ok := t.settled(s, marked, yours)
	if !ok || !dayBefore(findWhens(s, t.now), verb).mayBe(p.day, t.now.day) {
		return false
	}
	to, ok := t.settledFor(s)
	if !ok || to.hasDay && to.unix() < t.ev.At && (to.clock || to.day < t.now.day) || !to.clock && (to.day == p.day || !marked) {
		return false
	}
	t.moved(p.move(to), s, 0.86)
	return true
}

// tells reports whether a sentence tells what happened.
func tells(s sentence) bool {
	for i := range s.toks {
		if l, past, _ := lemma(s.at(i)); past {
			switch l {
			case "get", "call", "say", "tell", "put", "have", "book", "write", "hear", "agree", "forget":
			case "be":
				if s.at(i) != "been" {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}

// settled is the known appointment that a sentence names.
func (t *talk) settled(s sentence, marked, yours bool) (plan, bool) {
	at, others := -1, 0
	for i := range s.toks {
		w, _ := contraction(s.at(i))
		if _, event := eventNoun(w); !event || ofEvents[s.at(i+1)] || w == "appointment" || w == "call" {
			continue
		}
		if apart(s.at(i-1)) || apart(s.at(i-2)) {
			return plan{}, false
		}
		if at >= 0 && s.at(at) != s.at(i) {
			others++
		}
		at = i
	}
	if at < 0 || others > 0 {
		return plan{}, false
	}
	word, _ := contraction(s.at(at))
	switch before := s.at(at - 1); {
	case s.owned(at) || strings.HasSuffix(before, "'s") || before == "his" || before == "her" || before == "their":
		return plan{}, false // my son's dentist
	case !marked && (before == "a" || before == "an" || before == "another"):
		return plan{}, false
	}
	var best plan
	found := false
	for k := len(t.plans) - 1; k >= 0; k-- {
		p := t.plans[k]
		if p.noun() != word && !(word == "flight" && p.what == "plan" && holdsWord(p.hay(), word)) || p.day < t.now.day || !profession(word) && !marked || s.mine(at) && p.subject != t.self.key {
			continue
		}
		if p.subject == t.self.key && !yours {
			return p, true // one's own, before anybody else's
		}
		if to, ok := t.addressee(); !found && (yours && (!ok || p.subject == to.key) || marked) {
			best, found = p, true
		}
	}
	return best, found
}

// settledFor is the day and time of a sentence that holds from now on: of
// those that it doesn't deny, the last.
func (t *talk) settledFor(s sentence) (*when, bool) {
	var to *when
	whens := findWhens(s, t.now)
	for k := range whens {
		w := &whens[k]
		switch {
		case w.habit || w.since:
			return nil, false
		case w.hasDay && denied(s, w):
		case w.hasDay && (w.grain == 'd' || w.grain == 0):
			to = w
		case to == nil && w.clock && !w.byPart && !w.hasDay && s.standsNow(w):
			to = w
		case to != nil && w.clock && !to.clock:
			to.minute, to.clock, to.byPart, to.sure = w.minute, w.clock, w.byPart, w.sure
		}
	}
	return to, to != nil
}

// standsNow reports whether a time of day is the new one of something that was changed: "they changed my
// flight, it's at nine fifteen now".
func (s sentence) standsNow(w *when) bool {
	changed := false
	for i := range w.first {
		l, past, _ := lemma(s.at(i))
		changed = changed || past && moves(l)
	}
	for i := max(0, w.first-3); i < w.first && changed; i++ {
		if s.at(i) == "it's" || s.at(i) == "it" || s.at(i) == "now" {
			return true
		}
	}
	return false
}

// denied reports whether a time is one that no longer holds: "not on Tuesday",
// "isn't tomorrow any more", "from Tuesday".
func denied(s sentence, w *when) bool {
	if s.at(w.first) == "from" {
		return true
	}
	for i := w.first - 1; i >= max(0, w.first-4) && s.toks[i].kind != 'p'; i-- {
		if _, rest := contraction(s.at(i)); rest == "not" || slices.Contains([]string{"not", "no", "never", "than", "was", "of"}, s.at(i)) {
			return true
		}
	}
	return false
}

// agreed reports whether a sentence says the day that the other has just
// proposed in a question: "Friday at four works".
func (t *talk) agreed(whens []when) bool {
	n := len(t.ev.Before)
	if n == 0 {
		return false
	}
	b := &t.ev.Before[n-1]
	if b.Speaker == t.ev.Speaker || t.ev.At-b.At > recentTalk || !strings.ContainsAny(b.Text, "?？") {
		return false
	}
	for _, s := range sentences(b.Text) {
		for _, w := range findWhens(s, momentOf(b.At, t.ev.Offset)) {
			for k := range whens {
				if w.hasDay && !w.habit && whens[k].hasDay && whens[k].day == w.day {
					return true
				}
			}
		}
	}
	return false
}

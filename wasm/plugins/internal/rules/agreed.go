package rules

import (
	"slices"
	"strings"
)

// One person proposes something for a day, and the other agrees: "shall we say Thursday for the curry?", "Thursday's fine".
// Then it is a plan: of both, after an invitation; of whoever was asked to do it; or of whoever offered to.

// proposal is what was proposed, in the words of whoever agrees.
type proposal struct {
	who  string   // "Tom and I", "I", "Tom"
	what []string // from the verb on
	mind bool     // "would you mind …", to which "no" agrees
}

// proposals are how one proposes something, the longer first, and whom what follows is about: b both, y whoever is asked, m
// whoever speaks. "ing" says that a gerund follows.
var proposals = []struct {
	words [][]string
	who   byte
	ing   bool
}{
	{wordLists("would you mind|do you mind"), 'y', true},
	{wordLists("do you want me to|would you like me to|shall i|i could|i can"), 'm', false},
	{wordLists("do you fancy|fancy"), 'b', true},
	{wordLists("do you want to|would you like to|want to|shall we|should we|why don't we|how about we|can we|could we|we could|let's"), 'b', false},
	{wordLists("can you|could you|will you|would you"), 'y', false},
}

// agreedTo reads an agreement to what another speaker has just proposed for a day. It reports whether the sentence needs no
// other reading.
func (t *talk) agreedTo(s sentence) bool {
	b := t.justSaid()
	if b == nil || t.rejoined || t.part == HowTo || s.chinese() || hasHan(b.Text) || len(t.own) == 0 || t.own[0].start != s.start || len(s.toks) > 20 {
		return false
	}
	all := t.sentencesOf(b)
	if len(all) == 0 || len(all[len(all)-1].toks) > 30 {
		return false
	}
	o := all[len(all)-1]
	q := inquiry{asked: asked{o, -1, speakerOf(t.ev, b.Speaker), t.self}, now: t.now, names: true}
	var day *when
	for _, w := range findWhens(o, t.now) {
		if w.habit && w.days == nil || w.since || w.hasDay && day != nil || !w.hasDay && !w.clock {
			return false
		}
		if w.hasDay && w.day >= t.now.day {
			day = &w
		}
	}
	p, ok := q.proposed(day)
	if !ok || !s.agrees(p.mind) {
		return false
	}
	said := p.who + " will " + strings.Join(p.what, " ")
	for _, w := range findWhens(s, t.now) { // "sure, at six"
		if w.habit || w.since || w.hasDay && (day != nil && w.day != day.day || w.day < t.now.day) {
			return false
		}
		if from := w.first - boolInt(w.first > 0 && preposition(s.at(w.first-1))); w.hasDay && day == nil || !w.hasDay && w.clock {
			said += " " + s.text[s.toks[from].start:s.toks[w.next-1].end]
		}
		if w.hasDay {
			day = &w
		}
	}
	return day != nil && t.readJoined(&q, s, said, "")
}

// proposed takes the last proposal of a sentence apart.
func (q *inquiry) proposed(day *when) (p proposal, ok bool) {
	if q.by.name == "" || !capitalised(q.by.name) || conditioned(q.sentence) {
		return p, false
	}
	from, who, ing := 0, byte(0), false
	for i := 0; i < min(len(q.toks), 12) && from == 0; i++ {
		if i > 0 && q.toks[i-1].kind != 'p' && !lead(q.at(i-1)) {
			break
		}
		for _, form := range proposals {
			k := slices.IndexFunc(form.words, func(words []string) bool { return q.has(i, words) })
			if k >= 0 {
				words := form.words[k]
				from, who, ing, p.mind = i+len(words), form.who, form.ing, words[len(words)-1] == "mind"
				break
			}
		}
	}
	to := from
	for to < len(q.toks) && q.toks[to].kind != 'p' && !joins[q.at(to)] && q.at(to) != "or" && q.at(to) != "so" {
		to++
	}
	if from == 0 || to-from < 2 || day != nil && day.next > to || slices.ContainsFunc(q.toks[from:to], func(k token) bool { return pronounsMeant[k.s] && k.s != "this" }) {
		return p, false
	}
	rest := q.sub(from, to)
	if rest.at(0) == "please" {
		rest = rest.sub(1, len(rest.toks))
	}
	words := strings.Fields(rest.raw())
	verb, _, doing := lemma(rest.at(0))
	switch {
	case day != nil && rest.at(0) == "say" && rest.has(day.next-from, []string{"for"}): // "say Thursday for the curry"
		words = append(append([]string{"have"}, strings.Fields(rest.text[rest.toks[day.next-from].end:rest.end])...), "on", rest.text[rest.toks[day.first-from].start:rest.toks[day.next-from-1].end])
	case ing && doing:
		words[0] = verb
	case ing && (rest.at(0) == "a" || rest.at(0) == "some"):
		words = append([]string{"have"}, words...)
	case verb == "come" && (rest.at(1) == "to" || rest.at(1) == "over" || rest.at(1) == "round"):
		who = 'y'
	case ing || doing || verb == "" && !determiner(rest.at(1)) || vagueDeeds[verb] && !determiner(rest.at(1)) && (verb != "have" || preposition(rest.at(1)) || len(rest.toks) < 3):
		return p, false
	}
	for i := 0; i < len(words); i++ {
		switch w := strings.ToLower(words[i]); {
		case i > 0 && words[i-1] == "with" && (w == "us" || w == "me") && who == 'b':
			words = slices.Delete(words, i-1, i+1) // both go
			i--
		case w == "ours":
			words[i] = possessive(q.by.name)
		case w == "us" || w == "our" || w == "we":
			return p, false
		}
	}
	said := q.asSaid(words, false)
	if said == "" {
		return p, false
	}
	p.what = strings.Fields(said)
	switch p.who = q.by.name; who {
	case 'b':
		p.who += " and I"
	case 'y':
		p.who = "I"
	}
	return p, true
}

// vagueDeeds say without an object nothing that one would want to find.
var vagueDeeds = set("say make do be like let pass get come have")

// agreeing are the words by which somebody agrees, and refusing those by which they do not, or not for sure.
var (
	agreeing = wordLists("of course|course|course i can|go on|go on then|that's fine|that's no problem|not a problem|fine|fine by me|fine with me|happy to|will do|why not|sounds good|sounds great|sounds lovely|" +
		"i'd love to|we'd love to|love to|i'd love that|that'd be great|that'd be lovely|that'd be brilliant|that would be great|that would be lovely|that would be brilliant|would you|deal|good idea|great idea|brilliant|definitely|can do|i can do that")
	refusing = set("but can't cannot won't unless if maybe might think rather sorry how what instead wish though wouldn't couldn't except unfortunately busy away depends later see let")
)

// troubles are what there is none of: "no bother".
var troubles = set("problem worries bother trouble hassle")

// agreeable are words that agree by themselves.
var agreeable = set("sure ok okay perfect lovely great absolutely exactly")

// agrees reports a sentence that agrees to a proposal for a day; to "would you mind" one agrees by a "no".
func (s sentence) agrees(mind bool) bool {
	i, no, yes := 0, false, false
	for ; i < len(s.toks) && (lead(s.at(i)) || s.toks[i].kind == 'p'); i++ {
		w := s.at(i)
		no = no || w == "nope" || w == "no" && !troubles[s.at(i+1)]
		yes = yes || (yesWords[w] || agreeable[w]) && (i+1 == len(s.toks) || s.toks[i+1].kind == 'p' || s.at(i+1) == "please")
	}
	for k := range s.toks {
		if w := s.at(k); refusing[w] && !(w == "though" && s.at(k-1) == "me") || w == "not" && s.at(k+1) != "a" && s.at(k-1) != "why" && s.at(k+1) != "at" {
			return false
		}
	}
	troubled := troubles[s.at(i)] && s.at(i-1) == "no" // "no bother"
	if mind != no && !troubled && !(mind && s.has(i, []string{"not", "at", "all"})) {
		return false
	}
	if i >= len(s.toks) || yes || troubled {
		return s.ends != "?" && (mind || yes || troubled)
	}
	for _, words := range agreeing {
		if i > 0 && words[0] == s.at(i-1) && s.has(i-1, words) { // "good" leads, too
			return s.ends != "?"
		}
		if n := i + len(words); s.has(i, words) && (n >= len(s.toks) || s.toks[n].kind == 'p' || s.at(n) == "then" || len(words) > 1) {
			return s.ends != "?" || s.at(i) == "would"
		}
	}
	for k := i; k < len(s.toks); k++ { // "Thursday's fine"
		base, rest := contraction(s.at(k))
		if suits := s.at(k+1) == "works" || s.at(k+1) == "suits" || (rest == "is" || s.at(k+1) == "is") && (s.at(k+1) == "fine" || s.at(k+2) == "fine" || s.at(k+1) == "good" || s.at(k+1) == "perfect" || s.at(k+1) == "great"); suits && k < i+4 {
			return (weekdayOf(base, false) >= 0 || base == "tomorrow" || base == "tonight" || base == "that" || dayPlace(s, k)) && s.ends != "?"
		}
	}
	return false
}

// dayPlace reports the last word of a day of the month at token k: "the sixteenth".
func dayPlace(s sentence, k int) bool {
	_, n := day31(s.at(k))
	return n > 0
}

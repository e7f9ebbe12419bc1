package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// answerWithin is how soon after a question, in ms, its answer comes.
const answerWithin = 60 * 1000

// asked is a question that a later sentence answers.
type asked struct {
	sentence
	turn int    // 0: of this turn itself
	by   person // who asked
	of   person // who was asked
}

// question is the one that was asked just before: earlier in this turn, or by
// another speaker in the turn before.
func (t *talk) question(s sentence) (asked, bool) {
	var q asked
	for _, o := range t.own {
		if o.start >= s.start {
			break
		}
		if o.ends == "?" || o.ends == "？" {
			to, _ := t.addressee()
			q = asked{o, 0, t.self, to}
		}
	}
	if q.toks != nil {
		return q, true
	}
	b := t.justSaid()
	if b == nil {
		return q, false
	}
	for _, o := range t.sentencesOf(b) {
		if o.ends == "?" || o.ends == "？" {
			q = asked{o, -1, speakerOf(t.ev, b.Speaker), t.self}
		}
	}
	return q, q.toks != nil
}

// sentencesOf are those of the turn before this one.
func (t *talk) sentencesOf(before *abi.Turn) []sentence {
	if t.before == nil {
		t.before = sentences(before.Text)
	}
	return t.before
}

// justSaid is the turn before this one, if it is of another speaker and may be answered. Else it is nil.
func (t *talk) justSaid() *abi.Turn {
	n := len(t.ev.Before)
	if n == 0 || t.ev.Before[n-1].Speaker == t.ev.Speaker || t.ev.At-t.ev.Before[n-1].At > answerWithin {
		return nil
	}
	return &t.ev.Before[n-1]
}

// thing is what a question asks for the place or the holder of, "Daniel's
// charger": after "where is", "have you seen", "who has", or all of "the
// charger?".
func (q *asked) thing() (string, bool) {
	i := 0
	for lead(q.at(i)) || q.at(i) == "," {
		i++
	}
	switch base, rest := contraction(q.at(i)); {
	case base == "where" && (rest == "is" || rest == "are"):
		i++
	case base == "where" || base == "have" || base == "do" || base == "did" || base == "who":
		for i++; i < len(q.toks) && !determiner(q.at(i)); i++ {
			if q.toks[i].kind == 'p' {
				return "", false
			}
		}
	}
	what := ""
	switch q.at(i) {
	case "my":
		what = possessive(q.by.name) + " "
	case "your":
		if q.of.name == "" {
			return "", false
		}
		what = possessive(q.of.name) + " "
	case "the", "our":
	default:
		return "", false
	}
	first := i + 1
	for i = first; i < len(q.toks) && q.toks[i].kind != 'p' && !auxiliary(q.at(i)) && !preposition(q.at(i)); i++ {
		if w := q.at(i); w == "gone" || w == "now" || w == "again" || w == "these" || w == "anyway" {
			break
		}
	}
	if i == first || i-first > 4 {
		return "", false
	}
	return what + strings.ToLower(q.text[q.toks[first].start:q.toks[i-1].end]), true
}

// placed takes "it's in the drawer" as the place of what was asked for.
func (t *talk) placed(c *clause, i int) bool {
	if c.thing != "it" && c.thing != "they" || c.neg || c.past || c.verb != "be" || len(c.words)-i < 2 {
		return false
	}
	switch c.w(i) {
	case "in", "on", "under", "behind", "at", "next", "inside", "near", "above", "beside", "below":
	default:
		return false
	}
	q, ok := t.question(c.sentence)
	if !ok {
		return false
	}
	switch base, _ := contraction(q.at(0)); base {
	case "when", "what", "why", "how":
		return false
	}
	what, ok := q.thing()
	if !ok {
		return false
	}
	where, next := c.object(i)
	if where == "" || c.firstTime() != nil || next <= i || !whereWords(c.sentence, c.words[i].tok, c.words[next-1].tok+1) || !findable(what) {
		return false
	}
	verb := " is "
	if c.thing == "they" {
		verb = " are "
	}
	t.answered(&q, c.sentence, what, "location", where, stand(what)+verb+where+".", "place", false)
	return true
}

// stand begins a statement with a thing.
func stand(what string) string {
	if strings.Contains(what, "'s ") {
		return what
	}
	return "The " + what
}

// answered proposes what an answer says together with its question.
func (t *talk) answered(q *asked, s sentence, subject, attribute, value, text, kind string, many bool) {
	a := abi.Candidate{Type: "semantic", Kind: kind, Text: text, Lang: "en", Confidence: 0.8, Sensitivity: "personal", Tags: []string{kind},
		Spans: []abi.Span{{Start: s.start, End: s.end}, {Turn: q.turn, Start: q.start, End: q.end}},
		Slot:  &abi.Slot{Subject: strings.ToLower(subject), Attribute: attribute, Value: value, Many: many}, Subject: subject, Predicate: attribute, Object: value}
	for _, p := range [...]person{q.by, q.of} { // one's own thing has the key that it has elsewhere
		if rest, ok := strings.CutPrefix(subject, possessive(p.name)+" "); ok && p.key != "" {
			a.Slot.Subject = possessive(p.key) + " " + strings.ToLower(rest)
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// answer takes the sentences that say something only as an answer: "Mrs.
// Okafor does", "Rufus".
func (t *talk) answer(s sentence) bool {
	if s.chinese() || s.ends == "?" || len(s.toks) > 10 {
		return false
	}
	q, ok := t.question(s)
	if !ok {
		return false
	}
	i := 0
	for i < len(s.toks) && (lead(s.at(i)) || s.toks[i].kind == 'p' || s.at(i) == "it's" || s.at(i) == "he's" || s.at(i) == "she's" || s.at(i) == "called" || s.at(i) == "named") {
		i++
	}
	first := i
	for i < len(s.toks) && i < first+4 && (s.toks[i].cap && s.toks[i].kind == 'w' && (nameWord(s.at(i)) || abbreviation(s.at(i))) || i > first && s.at(i) == "." && abbreviation(s.at(i-1))) {
		if base, rest := contraction(s.at(i)); rest != "" && base != "" {
			break
		}
		i++
	}
	if i == first {
		return false
	}
	name := s.text[s.toks[first].start:s.toks[i-1].end]
	rest := strings.Trim(strings.ToLower(s.text[s.toks[i-1].end:s.end]), " ,.!")
	raw := strings.ToLower(q.raw())
	switch base, _ := contraction(q.at(0)); {
	case base == "who" && (strings.Contains(raw, "who has ") || strings.Contains(raw, "who's got ") || strings.Contains(raw, "who has got ")):
		if rest != "" && rest != "does" && rest != "has it" && rest != "has" && rest != "has them" {
			return false
		}
		what, ok := q.thing()
		if !ok {
			return false
		}
		article := ""
		if !strings.Contains(what, "'s ") {
			article = "the "
		}
		t.answered(&q, s, what, "location", "with "+name, name+" has "+article+what+".", "place", false)
		return true
	case rest == "" && (strings.Contains(raw, " called") || strings.Contains(raw, "name")) && strings.Contains(raw, "what"):
		animal, ok := t.animal(raw)
		if !ok {
			return false
		}
		owner := t.self
		if holdsWord(raw, "my") || holdsWord(raw, "our") {
			owner = q.by
		}
		t.answered(&q, s, owner.name, "pets", name, possessive(owner.name)+" "+animal+" is called "+name+".", "family", true)
		t.out.Candidates[len(t.out.Candidates)-1].Slot.Subject = owner.key
		return true
	}
	return false
}

// animal is the one that a question names, or that was named just before.
func (t *talk) animal(question string) (string, bool) {
	texts := []string{question}
	for i := len(t.ev.Before) - 1; i >= max(0, len(t.ev.Before)-3); i-- {
		if t.ev.At-t.ev.Before[i].At <= answerWithin {
			texts = append(texts, t.ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, tok := range lex(text) {
			if w, _ := contraction(tok.s); pet(w) {
				return w, true
			}
		}
	}
	return "", false
}

var petsZh = [...]string{"猫", "狗", "兔子", "仓鼠", "鹦鹉", "乌龟", "金鱼", "小鸟"}

// animalZh is the animal that 叫团子 names: one named earlier in this text, or
// in the turns just before.
func (t *talk) animalZh(s sentence) (string, bool) {
	texts := []string{s.text[:s.start]}
	for i := len(t.ev.Before) - 1; i >= max(0, len(t.ev.Before)-3); i-- {
		if t.ev.At-t.ev.Before[i].At <= answerWithin {
			texts = append(texts, t.ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, a := range petsZh {
			if strings.Contains(text, a) {
				return a, true
			}
		}
	}
	return "", false
}

package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// An event of another person is only theirs: "Paul's dentist appointment has been moved" says
// nothing about the speaker's own. A change applies to the plan of the person whom it names, and if
// it is not known whose an event is, it changes nothing.

// Possessor is whose an event is, according to a sentence.
type Possessor struct {
	Person
	Said  string // in the sentence's words, in lower case: "team", 我弟
	Named bool   // the sentence says whose
	Known bool   // and it is known who that is
}

// WhoseIs returns a known possessor.
func WhoseIs(p Person) Possessor { return Possessor{Person: p, Named: true, Known: true} }

// Other reports whether an event belongs to somebody other than the speaker.
func (t *Talk) Other(o Possessor) bool { return o.Named && o.Key != t.Self.Key }

// Whose returns whose the event of a clause is: "my", "Paul's", "the neighbours'".
func (t *Talk) Whose(c *Clause) Possessor {
	i := c.EventAt()
	if i < 0 {
		if c.Kind == 't' && c.Own && c.Subj.Key != t.Self.Key {
			return WhoseIs(c.Subj)
		}
		return Possessor{}
	}
	for k := i - 1; k >= max(0, i-4); k-- {
		switch w := c.W(k); {
		case w == "'s":
			return t.ownerAt(c, k-1)
		case c.plurals(k):
			return t.ownerAt(c, k)
		case w == "my" || w == "our" || w == "your" || w == "his" || w == "her" || w == "their":
			return t.ownerBy(c, w)
		case w == "," || syntax.Determiner(w) || syntax.Preposition(w) || syntax.Auxiliary(w) || k == c.Vi && k > 0:
			return Possessor{}
		}
	}
	return Possessor{}
}

// plurals reports whether word k is a plural that owns what follows: "neighbours'".
func (c *Clause) plurals(k int) bool {
	if k < 0 || !strings.HasSuffix(c.W(k), "s") {
		return false
	}
	rest := c.Text[c.Toks[c.Words[k].Tok].End:]
	return strings.HasPrefix(rest, "' ") || strings.HasPrefix(rest, "’ ")
}

// ownerBy returns whom "my", "your", "his", "her" or "their" means.
func (t *Talk) ownerBy(c *Clause, w string) Possessor {
	switch w {
	case "my", "our":
		return WhoseIs(t.Self)
	case "your":
		if p, ok := t.Addressee(); ok {
			return WhoseIs(p)
		}
	case "his", "her":
		other := byte(syntax.Male)
		if w == "his" {
			other = syntax.Female
		}
		if c.Kind == 'p' && t.Sex(c.Subj) != other {
			return WhoseIs(c.Subj) // "Priya moved her exam"
		}
		if p, ok := t.HeOrShe(c, w); ok {
			return WhoseIs(p)
		}
	case "their":
		if c.Kind == 'p' && strings.Contains(c.Subj.Name, " and ") {
			return WhoseIs(c.Subj)
		}
	}
	return Possessor{Named: true}
}

// ownerAt returns whom the words before "'s" name; the last of them is word e.
func (t *Talk) ownerAt(c *Clause, e int) Possessor {
	if e < 0 {
		return Possessor{}
	}
	noun, first := c.W(e), e
	if c.Capital(e) && syntax.NameWord(noun) {
		for first > 0 && first-1 != c.Vi && c.Capital(first-1) && syntax.NameWord(c.W(first-1)) {
			first--
		}
		if c.W(first-1) == "and" && first > 1 && c.Capital(first-2) && syntax.NameWord(c.W(first-2)) {
			first -= 2
		}
		return WhoseIs(t.Named(c.Join(first, e+1)))
	}
	if syntax.WeekdayOf(noun, false) >= 0 || syntax.MonthOf(noun) > 0 || dayWords[noun] {
		return Possessor{} // "tomorrow's meeting"
	}
	one := syntax.Singular(noun)
	if afterName[noun] && c.Capital(e-1) && syntax.NameWord(c.W(e-1)) {
		return WhoseIs(t.Named(c.Join(e-1, e+1))) // "Deepa aunty's flight"
	}
	if !syntax.Kin(noun) && !syntax.Kin(one) && !syntax.Pet(one) && !syntax.Offspring[one] && !syntax.Profession(one) && !Trade(one) {
		return Possessor{Said: noun, Named: true}
	}
	d := e - 1
	for d > 0 && e-d < 3 && !syntax.Determiner(c.W(d)) && c.W(d) != "'s" && !c.plurals(d) {
		d--
	}
	owner := Possessor{Named: true}
	switch w := c.W(d); {
	case w == "'s":
		owner = t.ownerAt(c, d-1)
	case c.plurals(d):
		owner = t.ownerAt(c, d)
	case w == "the" || CalledSo[noun]:
		owner = WhoseIs(t.Self)
	case syntax.Determiner(w):
		owner = t.ownerBy(c, w)
	}
	if CalledSo[noun] && !syntax.Determiner(c.W(d)) && c.W(d) != "'s" {
		d = e - 1
	}
	if !owner.Known {
		return Possessor{Named: true}
	}
	rest := strings.ToLower(c.Join(d+1, e+1))
	return WhoseIs(Person{Possessive(owner.Name) + " " + rest, Possessive(owner.Key) + " " + rest})
}

// afterName are words for relatives that some families say after their names.
var afterName = syntax.Set("aunty auntie aunt uncle bhai didi nani dadi masi")

// dayWords are times that own events: "today's match".
var dayWords = syntax.Set("today tomorrow yesterday tonight morning afternoon evening week weekend month year day night")

// FindOf is findThat among the plans of a possessor: first those with them as their subject, then
// those that name them. If no possessor is named, it searches all plans.
func (t *Talk) FindOf(o Possessor, fits func(*Plan) bool, words ...string) (Plan, bool) {
	if !o.Named {
		return t.findThat(fits, words...)
	}
	for _, of := range [...]func(*Plan) bool{
		func(p *Plan) bool { return o.Key != "" && p.Subject == o.Key },
		func(p *Plan) bool { return t.Names(p, o) },
	} {
		p, ok := t.findThat(func(p *Plan) bool { return of(p) && (fits == nil || fits(p)) }, words...)
		if ok {
			p.Shown = o.Name
			return p, true
		}
	}
	return Plan{}, false
}

// Names reports whether a plan's words name this possessor, and no other.
func (t *Talk) Names(p *Plan, o Possessor) bool {
	if o.Key != "" && (strings.HasPrefix(p.Subject, o.Key+"'s ") || strings.HasPrefix(p.Subject, o.Key+"的")) {
		return false // of a relative of theirs
	}
	hay := strings.ToLower(p.Attribute + " " + p.Label)
	if own := strings.ToLower(Possessive(t.Self.Name) + " "); o.Key != t.Self.Key && p.What != "" && strings.Contains(hay, own+p.What) {
		return false // "Paul comes to Mei's wedding"
	}
	return HoldsWord(hay, strings.ToLower(o.Name)) || HoldsWord(hay, o.Said)
}

// AsSaid keeps a clause in its own words, if it is not known whose plan it changes.
func (t *Talk) AsSaid(c *Clause) {
	d := *c
	d.Past = false                                                                                   // its day is in the future
	d.Whens = slices.DeleteFunc(slices.Clone(c.Whens), func(w timex.When) bool { return !w.HasDay }) // of which day?
	a := t.Base(&d, "episodic", "noted", NotedSure)
	a.EventType, a.Started = "noted", t.Ev.At
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// HeOrShe returns whom "he", "she", "his" or "her" means: the latest person who was mentioned and
// is neither the speaker nor named in the clause itself or after it.
func (t *Talk) HeOrShe(c *Clause, w string) (Person, bool) {
	other := byte(syntax.Male)
	if w == "he" || w == "his" {
		other = syntax.Female
	}
	if p, ok := t.askedAfter(other); ok {
		return p, true
	}
	if b := t.JustSaid(); b != nil && len(c.Whens) > 0 {
		for _, o := range t.SentencesOf(b) { // "has the plumber been?", "he came this morning"
			if who := o.At(2); Asking[o.At(0)] && o.At(1) == "the" && (Trade(who) || syntax.Profession(who)) {
				return Person{"the " + who, "the " + who}, true
			}
		}
	}
	all := t.Persons()
	for k := len(all) - 1; k >= 0; k-- {
		p := all[k].Person
		if at := all[k].At; at >= c.Start && c.Text == t.Ev.Text {
			continue // they are named after it
		}
		if t.Sex(p) == other || t.Present(p) || HoldsWord(strings.ToLower(c.Raw()), strings.TrimPrefix(p.Key, Mine)) {
			continue
		}
		if noun, ok := strings.CutPrefix(p.Key, Mine); ok && p.Name == "" {
			return Person{Possessive(t.Self.Name) + " " + noun, Possessive(t.Self.Key) + " " + noun}, true
		}
		if p.Name == "" {
			break // somebody without a name was mentioned after the person with one
		}
		if t.Sex(p) == 0 && t.likelier(k, other) {
			break
		}
		return t.Named(p.Name), true
	}
	return Person{}, false
}

// askedAfter returns the speaker's relative about whom somebody has just asked, "how's your mum?",
// unless they are of the other sex or somebody has been named since.
func (t *Talk) askedAfter(other byte) (Person, bool) {
	b := t.JustSaid()
	if b == nil {
		return Person{}, false
	}
	toks := syntax.Lex(b.Text)
	for i := len(toks) - 2; i >= 0; i-- {
		if toks[i].S != "your" || !syntax.Kin(toks[i+1].S) && !syntax.Offspring[toks[i+1].S] {
			continue
		}
		sex := syntax.SexOf(toks[i+1].S, "")
		all := t.Persons()
		if named := len(all) > 0 && all[len(all)-1].Name != "" && strings.Contains(t.Ev.Text, all[len(all)-1].Name); sex == other || sex == 0 && !syntax.Offspring[toks[i+1].S] || named || i+2 < len(toks) && toks[i+2].Cap {
			return Person{}, false
		}
		noun := toks[i+1].S
		return Person{Possessive(t.Self.Name) + " " + noun, Possessive(t.Self.Key) + " " + noun}, true
	}
	return Person{}, false
}

// likelier reports whether somebody who was named shortly before person k is known not to be of the
// sex other, so that it is not known which of the two is meant.
func (t *Talk) likelier(k int, other byte) bool {
	all := t.Persons()
	for _, p := range all[max(0, k-3):k] {
		if sex := t.Sex(p.Person); sex != 0 && sex != other && p.Key != all[k].Key && !t.Present(p.Person) && !t.Present(Person{Name: strings.Fields(p.Name + " ?")[0]}) {
			return true
		}
	}
	return false
}

// Owned reports whether the noun at token i belongs to somebody named: "Paul's next dentist".
func Owned(s syntax.Sentence, i int) bool {
	for k := i - 1; k >= max(0, i-4); k-- {
		w := s.At(k)
		base, rest := syntax.Contraction(w)
		switch {
		case w == "'" || w == "’" || w == "their" || w == "his" || w == "her":
			return true
		case strings.HasSuffix(w, "'s"):
			return rest == "is" && !syntax.SubjectPronoun(base) && base != "that" && base != "there" && base != "what" && base != "here" && base != "let"
		case s.Toks[k].Kind == 'p' || syntax.Determiner(w) || syntax.Preposition(w) || syntax.Verbish(w):
			return false
		}
	}
	return false
}

// ofMany returns the possessive, also of a plural: "Mei's neighbours'".
func ofMany(name string) string {
	if noun := Last(name); strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") && !strings.HasSuffix(noun, "'s") && !Capitalised(noun) {
		return name + "'"
	}
	return Possessive(name)
}

// MineAt reports whether the noun at token i is the speaker's own: "my next dentist".
func MineAt(s syntax.Sentence, i int) bool {
	for k := i - 1; k >= max(0, i-3) && s.Toks[k].Kind == 'w'; k-- {
		if w := s.At(k); w == "my" || w == "our" {
			return true
		} else if syntax.Determiner(w) || syntax.Preposition(w) {
			return false
		}
	}
	return false
}

// SpokenOfAnother reports whether the text before a clause names somebody's event.
func (t *Talk) SpokenOfAnother(c *Clause) bool {
	for _, s := range t.Own {
		for i := range s.Toks {
			if _, event := syntax.EventNoun(s.At(i)); event && s.Toks[i].End <= c.Start && Owned(s, i) {
				return true
			}
		}
	}
	return false
}

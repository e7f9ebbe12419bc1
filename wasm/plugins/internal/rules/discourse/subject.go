package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A name may come with who the person is: "my brother, Piet, plays chess", "Emma, my niece, turned
// five". The sentence is about the named person, and states the relation as well.

// apposition removes the commas from "my brother, Piet, plays", and the words between them from
// "Emma, my niece, turned five", which are kept in c.beside. If the name is that of somebody who
// takes part in the talk, the clause calls that person: "Tom, my brother, moved to Bonn" is then
// said to Tom.
func (c *Clause) apposition(t *Talk) {
	for i := 1; i+2 < min(len(c.Words), 6); i++ {
		if c.W(i) == "," && c.Capital(i+1) && syntax.NameWord(c.W(i+1)) && c.W(i+2) == "," && syntax.Kin(c.W(i-1)) {
			c.Words = append(c.Words[:i:i], append([]Word{c.Words[i+1]}, c.Words[i+3:]...)...)
			return
		}
	}
	k := 0
	for k < 3 && c.Capital(k) && syntax.NameWord(c.W(k)) {
		k++
	}
	if k == 0 || c.W(k) != "," || c.W(k+1) != "my" && c.W(k+1) != "our" {
		return
	}
	end := k + 2
	for end < min(len(c.Words), k+7) && c.W(end) != "," {
		end++
	}
	if noun := c.W(end - 1); c.W(end) != "," || end == k+2 || !syntax.Kin(noun) && !syntax.Pet(noun) && !syntax.Offspring[noun] || !syntax.Verbish(c.W(end+1)) && !syntax.Adverb(c.W(end+1)) && !syntax.PastForm(c.W(end+1)) && !c.noLongerAt(end+1) {
		return
	}
	if t.Present(t.Named(c.Join(0, k))) {
		c.Words = append(c.Words[k+1:end:end], c.Words[end+1:]...)
		return
	}
	c.beside = c.Words[k+2 : end : end]
	c.Words = append(c.Words[:k:k], c.Words[end+1:]...)
}

// relatedTo proposes a relation of the person whom a clause is about, if the words next to their
// name state one: "Emma, my niece, turned five".
func (t *Talk) relatedTo(c *Clause) {
	if len(c.beside) == 0 || c.Kind != 'p' {
		return
	}
	d := *c
	d.Words = c.beside
	owner, from := t.Self, 0
	for i := range d.Words {
		if d.W(i) == "'s" && i > from {
			of := strings.ToLower(d.Join(from, i))
			owner, from = Person{Possessive(owner.Name) + " " + of, Possessive(owner.Key) + " " + of}, i+1
		}
	}
	if noun := strings.ToLower(d.Join(from, len(d.Words))); noun != "" {
		t.Relation(c, owner, noun, c.Subj.Name, 0.9)
		t.Beside++
	}
}

// subject reads the subject at the first word, and returns the word after it.
func (t *Talk) subject(c *Clause) int {
	switch w := c.W(0); w {
	case "i":
		c.Subj, c.Kind = t.Self, 's'
		return 1
	case "we":
		c.Subj, c.Kind = t.Self, 'w'
		return 1
	case "me":
		if k := c.untilVerb(2); c.W(1) == "and" && k > 2 { // "me and my sister are going"
			c.Subj, c.Kind = t.Self, 'w'
			return k
		}
		return -1
	case "you":
		if c.W(1) == "and" && c.W(2) == "i" {
			c.Subj, c.Kind = t.Self, 'w'
			return 3
		}
		p, ok := t.Addressee()
		if !ok {
			return -1
		}
		c.Subj, c.Kind = p, 'y'
		return 1
	case "he", "she":
		p, ok := t.HeOrShe(c, w)
		if !ok {
			return -1
		}
		c.Subj, c.Kind = p, 'p'
		return 1
	case "it", "that", "this", "there", "they":
		c.Kind, c.Thing = 't', w
		return 1
	case "my", "our", "his", "her":
		owner := t.Self
		if w == "his" || w == "her" {
			p, ok := t.HeOrShe(c, w)
			if !ok {
				return -1
			}
			owner = p
		}
		return t.owned(c, owner, 1)
	case "your":
		if p, ok := t.Addressee(); ok {
			return t.owned(c, p, 1)
		}
		return -1
	case "the", "a", "an", "this's", "these", "those", "no":
		if w == "the" && c.familyAt(1) { // "the Millers"
			name := "The " + c.Cased(1)
			c.Subj, c.Kind = Person{name, strings.ToLower(name)}, 'p'
			return 2
		}
		if w == "the" && (c.W(1) == "kids" || c.W(1) == "twins" || c.W(1) == "new" && newHere[c.W(2)] && (c.W(3) == "is" || c.W(3) == "'s") && (c.Capital(4) || c.W(4) == "called")) {
			return t.owned(c, t.Self, 1)
		}
		k := c.untilVerb(1)
		if k <= 1 {
			return -1
		}
		c.Neg = w == "no"
		c.Kind, c.Thing = 't', strings.ToLower(c.Join(1, k))
		return k
	}
	if Owners[c.W(0)] {
		return -1 // whose what?
	}
	if w := c.W(0); syntax.Parent[w] { // "Dad's birthday", "Mum lives"
		p := Person{Possessive(t.Self.Name) + " " + w, Possessive(t.Self.Key) + " " + w}
		if c.W(1) == "'s" {
			return t.owned(c, p, 2)
		}
		if c.W(1) == "and" && c.W(2) == "i" {
			c.Subj, c.Kind, c.Own = t.Self, 'w', true
			return 3
		}
		if c.W(1) == "and" && syntax.Parent[c.W(2)] {
			return t.owned(c, t.Self, 0)
		}
		c.Subj, c.Kind, c.Own, c.Thing = p, 'p', true, w
		return 1
	}
	if k := t.dropped(c); k >= 0 {
		return k
	}
	if l, past, ing := syntax.Lemma(c.W(0)); l != "" && !past && !ing && c.Words[0].Tok == 0 && !c.Capital(1) || subjectless[c.W(0)] {
		return -1 // "Enjoy the day", "Sounds like a plan"
	}
	if f, n := c.feast(); f != nil && (syntax.Verbish(c.W(n)) || syntax.Auxiliary(c.W(n))) {
		c.Kind, c.Thing = 't', strings.ToLower(c.Join(0, n))
		return n
	}
	if _, event := syntax.EventNoun(c.W(0)); c.Capital(0) && event && c.W(1) == "is" {
		c.Kind, c.Thing = 't', c.W(0) // "Rehearsal's on Friday"
		return 1
	}
	if c.Capital(0) && syntax.NameWord(c.W(0)) {
		return t.nameFirst(c)
	}
	if k := c.untilVerb(0); k > 0 && k <= 4 {
		c.Kind, c.Thing = 't', strings.ToLower(c.Join(0, k))
		return k
	}
	return -1
}

// familyAt reports whether the name of a family is at word i, before what people do: "the Millers
// don't eat pork".
func (c *Clause) familyAt(i int) bool {
	w := c.W(i)
	if !c.Capital(i) || len(w) < 5 || !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ans") || peoples[w] || !syntax.NameWord(w) {
		return false
	}
	verb := c.W(i + 1)
	if verb == "are" || verb == "were" {
		verb = c.W(i + 2)
	}
	l, _, _ := syntax.Lemma(verb)
	switch l {
	case "come", "visit", "invite", "eat", "drink", "move", "live", "stay", "arrive", "leave", "bring", "buy", "sell", "drive":
		return true
	}
	return verb == "do" && c.W(i+2) == "not" || l == "have" && syntax.Pet(syntax.Singular(Last(c.Join(i, len(c.Words)))))
}

// Owners are words that say whose something is, but not what.
var Owners = syntax.Set("mine ours yours hers theirs")

// newHere are people who can be new where somebody lives or works, after "the new".
var newHere = syntax.Set("landlord landlady neighbour neighbor colleague coworker flatmate roommate housemate boss")

// peoples are plurals that look like a family's name, but are not.
var peoples = syntax.Set("greeks turks danes swedes finns brits scots poles czechs serbs croats arabs jews muslims hindus catholics buddhists sikhs celts vikings beatles simpsons browns greens lakers giants")

// nameFirst reads a subject that begins with a name: "Tom", "Sophie and Mark", "Tom's sister",
// "Bondi beach".
func (t *Talk) nameFirst(c *Clause) int {
	k := 1
	for k < 3 && c.Capital(k) && syntax.NameWord(c.W(k)) {
		k++
	}
	name := c.Join(0, k)
	if c.W(k) == "'s" {
		return t.owned(c, t.Named(name), k+1)
	}
	and := k
	for c.W(and) == "," && c.Capital(and+1) && syntax.NameWord(c.W(and+1)) { // Leo, Max and Piet
		and += 2
	}
	if c.W(and) == "and" && c.W(and+1) == "i" {
		c.Subj, c.Kind = t.Self, 'w'
		return and + 2
	}
	if c.W(and) == "and" && c.Capital(and+1) && syntax.NameWord(c.W(and+1)) && (syntax.Verbish(c.W(and+2)) || syntax.Auxiliary(c.W(and+2)) || syntax.Adverb(c.W(and+2))) {
		c.Subj, c.Kind = Person{c.Join(0, and+2), strings.ToLower(c.Join(0, and+2))}, 'p' // Sophie and Mark
		return and + 2
	}
	if syntax.Verbish(c.W(k)) || syntax.Adverb(c.W(k)) || c.noLongerAt(k) || c.loose && c.unlisted(k) {
		c.Subj, c.Kind = t.Named(name), 'p'
		return k
	}
	if strings.HasSuffix(name, "'s") {
		return -1
	}
	if k2 := c.untilVerb(0); k2 > k && k2 <= k+3 {
		c.Kind, c.Thing = 't', strings.ToLower(c.Join(0, k2))
		return k2
	}
	return -1
}

// Present reports whether p takes part in the talk, so that no "he" or "she" means them.
func (t *Talk) Present(p Person) bool {
	if p.Key == t.Self.Key || p.Key == "user" {
		return true
	}
	return slices.ContainsFunc(t.Ev.Before, func(b abi.Turn) bool { return strings.EqualFold(b.Speaker, p.Name) })
}

// subjectless are words that open a sentence without a subject.
var subjectless = syntax.Set("sounds looks seems smells tastes bet glad gotta wanna gonna can't hope hoping excited happy feels feeling thinking looking going trying congrats congratulations appreciate proud good great nice cool stay tackle gather kudos props cheers way love")

// owned reads what follows "my": a relative becomes a person, anything else a thing of the owner's.
func (t *Talk) owned(c *Clause, owner Person, i int) int {
	if k := t.namesOf(c, owner, i); k > 0 {
		return k
	}
	if syntax.Kin(c.W(i)) && c.W(i+1) == "and" && syntax.Kin(c.W(i+2)) && (syntax.Verbish(c.W(i+3)) || syntax.Auxiliary(c.W(i+3)) || syntax.Adverb(c.W(i+3))) { // "my mum and dad"
		both := " " + c.W(i) + " and " + c.W(i+2)
		c.Subj, c.Kind, c.Own, c.Thing = Person{Possessive(owner.Name) + both, Possessive(owner.Key) + both}, 'p', true, both[1:]
		return i + 3
	}
	k := c.untilVerb(i)
	if k <= i {
		return -1
	}
	if c.W(i+1) == "and" && c.W(i+2) == "i" {
		c.Subj, c.Kind = t.Self, 'w'
		return i + 3
	}
	for j := i; j < k; j++ { // my sister's husband
		if c.W(j) == "'s" && j > i && j+1 < k {
			owner = Person{Possessive(owner.Name) + " " + strings.ToLower(c.Join(i, j)), Possessive(owner.Key) + " " + strings.ToLower(c.Join(i, j))}
			i = j + 1
			j = i
		}
	}
	c.Owner = owner.Name
	end := k
	for end > i+1 && syntax.Adverb(c.W(end-1)) {
		end-- // "my parents still live"
	}
	last := end
	for last > i+1 && c.Capital(last-1) && syntax.NameWord(c.W(last-1)) && last-1 > i {
		last--
	}
	if last < end {
		c.Name = c.Join(last, end)
	}
	noun := c.W(last - 1)
	if noun == "," {
		return -1
	}
	c.Thing = strings.ToLower(c.Join(i, last))
	if one := syntax.Singular(noun); (syntax.Kin(noun) || syntax.Pet(noun) || syntax.Offspring[noun] || syntax.Kin(one) || syntax.Pet(one)) && last-i <= 3 {
		c.Kind = 'p'
		c.Subj = Person{Possessive(owner.Name) + " " + c.Thing, Possessive(owner.Key) + " " + c.Thing}
		c.Own = true
		if c.Name != "" {
			made := len(t.Out.Candidates)
			t.Relation(c, owner, c.Thing, c.Name, 0.9)
			t.Beside += len(t.Out.Candidates) - made
			c.Subj = t.Named(c.Name)
		}
		return k
	}
	c.Kind, c.Own, c.Subj = 't', true, owner
	return k
}

// namesOf takes the names of relatives or animals, "my sons Leo, Max and Piet", which begin at word
// i and are the subject. It returns the word after them; 0 if there are none.
func (t *Talk) namesOf(c *Clause, owner Person, i int) int {
	noun := c.W(i)
	if one := syntax.Singular(noun); one == noun && noun != "children" || !syntax.Kin(noun) && !syntax.Kin(one) && !syntax.Pet(one) {
		return 0
	}
	var names []string
	k, joined := i+1, false
	for ; k < len(c.Words); k++ {
		w := c.W(k)
		if w == "," || w == "and" {
			joined = joined || w == "and"
			continue
		}
		if !c.Capital(k) || !syntax.NameWord(w) {
			break
		}
		names = append(names, c.Cased(k))
	}
	if len(names) < 2 || !joined || c.W(k-1) == "," || !syntax.Verbish(c.W(k)) && !syntax.Auxiliary(c.W(k)) && !syntax.Adverb(c.W(k)) {
		return 0
	}
	for _, name := range names {
		t.Relation(c, owner, noun, name, 0.9)
	}
	name := c.Join(i+1, k)
	c.Kind, c.Own, c.Thing, c.Owner, c.Subj = 'p', true, noun, owner.Name, Person{name, strings.ToLower(name)}
	return k
}

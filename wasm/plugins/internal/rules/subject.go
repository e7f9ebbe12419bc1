package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// subject reads the subject at the first word, and gives the word after it.
func (t *talk) subject(c *clause) int {
	switch w := c.w(0); w {
	case "i":
		c.subj, c.kind = t.self, 's'
		return 1
	case "we":
		c.subj, c.kind = t.self, 'w'
		return 1
	case "me":
		if k := c.untilVerb(2); c.w(1) == "and" && k > 2 { // "me and my sister are going"
			c.subj, c.kind = t.self, 'w'
			return k
		}
		return -1
	case "you":
		if c.w(1) == "and" && c.w(2) == "i" {
			c.subj, c.kind = t.self, 'w'
			return 3
		}
		p, ok := t.addressee()
		if !ok {
			return -1
		}
		c.subj, c.kind = p, 'y'
		return 1
	case "he", "she":
		p, ok := t.heOrShe(c, w)
		if !ok {
			return -1
		}
		c.subj, c.kind = p, 'p'
		return 1
	case "it", "that", "this", "there", "they":
		c.kind, c.thing = 't', w
		return 1
	case "my", "our", "his", "her":
		owner := t.self
		if w == "his" || w == "her" {
			p, ok := t.heOrShe(c, w)
			if !ok {
				return -1
			}
			owner = p
		}
		return t.owned(c, owner, 1)
	case "your":
		if p, ok := t.addressee(); ok {
			return t.owned(c, p, 1)
		}
		return -1
	case "the", "a", "an", "this's", "these", "those", "no":
		if w == "the" && c.familyAt(1) { // "the Millers"
			name := "The " + c.cased(1)
			c.subj, c.kind = person{name, strings.ToLower(name)}, 'p'
			return 2
		}
		if w == "the" && (c.w(1) == "kids" || c.w(1) == "twins" || c.w(1) == "new" && newHere[c.w(2)] && (c.w(3) == "is" || c.w(3) == "'s") && (c.capital(4) || c.w(4) == "called")) {
			return t.owned(c, t.self, 1)
		}
		k := c.untilVerb(1)
		if k <= 1 {
			return -1
		}
		c.neg = w == "no"
		c.kind, c.thing = 't', strings.ToLower(c.join(1, k))
		return k
	}
	if owners[c.w(0)] {
		return -1 // whose what?
	}
	if w := c.w(0); parent[w] { // "Dad's birthday", "Mum lives"
		p := person{possessive(t.self.name) + " " + w, possessive(t.self.key) + " " + w}
		if c.w(1) == "'s" {
			return t.owned(c, p, 2)
		}
		if c.w(1) == "and" && c.w(2) == "i" {
			c.subj, c.kind, c.own = t.self, 'w', true
			return 3
		}
		if c.w(1) == "and" && parent[c.w(2)] {
			return t.owned(c, t.self, 0)
		}
		c.subj, c.kind, c.own, c.thing = p, 'p', true, w
		return 1
	}
	if k := t.dropped(c); k >= 0 {
		return k
	}
	if l, past, ing := lemma(c.w(0)); l != "" && !past && !ing && c.words[0].tok == 0 && !c.capital(1) || subjectless[c.w(0)] {
		return -1 // "Enjoy the day", "Sounds like a plan"
	}
	if f, n := c.feast(); f != nil && (verbish(c.w(n)) || auxiliary(c.w(n))) {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, n))
		return n
	}
	if c.capital(0) && nameWord(c.w(0)) {
		return t.nameFirst(c)
	}
	if k := c.untilVerb(0); k > 0 && k <= 4 {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, k))
		return k
	}
	return -1
}

// familyAt reports the name of a family at word i, before what people do: "the Millers don't eat pork".
func (c *clause) familyAt(i int) bool {
	w := c.w(i)
	if !c.capital(i) || len(w) < 5 || !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ans") || peoples[w] || !nameWord(w) {
		return false
	}
	verb := c.w(i + 1)
	if verb == "are" || verb == "were" {
		verb = c.w(i + 2)
	}
	l, _, _ := lemma(verb)
	switch l {
	case "come", "visit", "invite", "eat", "drink", "move", "live", "stay", "arrive", "leave", "bring", "buy", "sell", "drive":
		return true
	}
	return verb == "do" && c.w(i+2) == "not" || l == "have" && pet(trimS(last(c.join(i, len(c.words)))))
}

// owners say whose something is, and not what.
var owners = set("mine ours yours hers theirs")

// newHere are who is new where one lives or works, after "the new".
var newHere = set("landlord landlady neighbour neighbor colleague coworker flatmate roommate housemate boss")

// peoples are called as a family is, and are none.
var peoples = set("greeks turks danes swedes finns brits scots poles czechs serbs croats arabs jews muslims hindus catholics buddhists sikhs celts vikings beatles simpsons browns greens lakers giants")

// nameFirst reads a subject that begins with a name: "Tom", "Sophie and Mark", "Tom's sister", "Bondi beach".
func (t *talk) nameFirst(c *clause) int {
	k := 1
	for k < 3 && c.capital(k) && nameWord(c.w(k)) {
		k++
	}
	name := c.join(0, k)
	if c.w(k) == "'s" {
		return t.owned(c, t.named(name), k+1)
	}
	and := k
	for c.w(and) == "," && c.capital(and+1) && nameWord(c.w(and+1)) { // Leo, Max and Piet
		and += 2
	}
	if c.w(and) == "and" && c.w(and+1) == "i" {
		c.subj, c.kind = t.self, 'w'
		return and + 2
	}
	if c.w(and) == "and" && c.capital(and+1) && nameWord(c.w(and+1)) && (verbish(c.w(and+2)) || auxiliary(c.w(and+2)) || adverb(c.w(and+2))) {
		c.subj, c.kind = person{c.join(0, and+2), strings.ToLower(c.join(0, and+2))}, 'p' // Sophie and Mark
		return and + 2
	}
	if verbish(c.w(k)) || adverb(c.w(k)) || c.noLongerAt(k) || c.loose && c.unlisted(k) {
		c.subj, c.kind = t.named(name), 'p'
		return k
	}
	if strings.HasSuffix(name, "'s") {
		return -1
	}
	if k2 := c.untilVerb(0); k2 > k && k2 <= k+3 {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, k2))
		return k2
	}
	return -1
}

// present reports whether p takes part in the talk: no "he" or "she" means them.
func (t *talk) present(p person) bool {
	if p.key == t.self.key || p.key == "user" {
		return true
	}
	return slices.ContainsFunc(t.ev.Before, func(b abi.Turn) bool { return strings.EqualFold(b.Speaker, p.name) })
}

// subjectless words open a sentence that has no subject.
var subjectless = set("sounds looks seems smells tastes bet glad gotta wanna gonna can't hope hoping excited happy feels feeling thinking looking going trying congrats congratulations appreciate proud good great nice cool stay tackle gather kudos props cheers way love")

// owned reads what follows "my": a relative becomes a person, anything else a
// thing of the owner's.
func (t *talk) owned(c *clause, owner person, i int) int {
	if k := t.namesOf(c, owner, i); k > 0 {
		return k
	}
	if kin(c.w(i)) && c.w(i+1) == "and" && kin(c.w(i+2)) && (verbish(c.w(i+3)) || auxiliary(c.w(i+3)) || adverb(c.w(i+3))) { // "my mum and dad"
		both := " " + c.w(i) + " and " + c.w(i+2)
		c.subj, c.kind, c.own, c.thing = person{possessive(owner.name) + both, possessive(owner.key) + both}, 'p', true, both[1:]
		return i + 3
	}
	k := c.untilVerb(i)
	if k <= i {
		return -1
	}
	if c.w(i+1) == "and" && c.w(i+2) == "i" {
		c.subj, c.kind = t.self, 'w'
		return i + 3
	}
	for j := i; j < k; j++ { // my sister's husband
		if c.w(j) == "'s" && j > i && j+1 < k {
			owner = person{possessive(owner.name) + " " + strings.ToLower(c.join(i, j)), possessive(owner.key) + " " + strings.ToLower(c.join(i, j))}
			i = j + 1
			j = i
		}
	}
	c.owner = owner.name
	end := k
	for end > i+1 && adverb(c.w(end-1)) {
		end-- // "my parents still live"
	}
	last := end
	for last > i+1 && c.capital(last-1) && nameWord(c.w(last-1)) && last-1 > i {
		last--
	}
	if last < end {
		c.name = c.join(last, end)
	}
	noun := c.w(last - 1)
	if noun == "," {
		return -1
	}
	c.thing = strings.ToLower(c.join(i, last))
	if one := trimS(noun); (kin(noun) || pet(noun) || offspring[noun] || kin(one) || pet(one)) && last-i <= 3 {
		c.kind = 'p'
		c.subj = person{possessive(owner.name) + " " + c.thing, possessive(owner.key) + " " + c.thing}
		c.own = true
		if c.name != "" {
			t.relation(c, owner, c.thing, c.name, 0.9)
			c.subj = t.named(c.name)
		}
		return k
	}
	c.kind, c.own, c.subj = 't', true, owner
	return k
}

// namesOf takes the names of relatives or animals, "my sons Leo, Max and Piet", which begin at word i and are the
// subject. It returns the word after them; 0: there are none.
func (t *talk) namesOf(c *clause, owner person, i int) int {
	noun := c.w(i)
	if one := trimS(noun); one == noun && noun != "children" || !kin(noun) && !kin(one) && !pet(one) {
		return 0
	}
	var names []string
	k, joined := i+1, false
	for ; k < len(c.words); k++ {
		w := c.w(k)
		if w == "," || w == "and" {
			joined = joined || w == "and"
			continue
		}
		if !c.capital(k) || !nameWord(w) {
			break
		}
		names = append(names, c.cased(k))
	}
	if len(names) < 2 || !joined || c.w(k-1) == "," || !verbish(c.w(k)) && !auxiliary(c.w(k)) && !adverb(c.w(k)) {
		return 0
	}
	for _, name := range names {
		t.relation(c, owner, noun, name, 0.9)
	}
	name := c.join(i+1, k)
	c.kind, c.own, c.thing, c.owner, c.subj = 'p', true, noun, owner.name, person{name, strings.ToLower(name)}
	return k
}

// offspring are words for a child that need an owner: "our youngest".
var offspring = set("boy girl youngest eldest oldest lad toddler newborn teenager")

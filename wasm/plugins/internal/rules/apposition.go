package rules

import "strings"

// Who somebody is may stand beside their name: "my brother, Piet, plays chess", "Emma, my niece,
// turned five". The sentence is of the person who is named, and says the relation as well.

// apposition takes the commas from "my brother, Piet, plays", and what stands between them from
// "Emma, my niece, turned five": that is kept in c.beside. A name of somebody who takes part in the
// talk is that of whom the clause calls: "Tom, my brother, moved to Bonn" is then said to Tom.
func (c *clause) apposition(t *talk) {
	for i := 1; i+2 < min(len(c.words), 6); i++ {
		if c.w(i) == "," && c.capital(i+1) && nameWord(c.w(i+1)) && c.w(i+2) == "," && kin(c.w(i-1)) {
			c.words = append(c.words[:i:i], append([]word{c.words[i+1]}, c.words[i+3:]...)...)
			return
		}
	}
	k := 0
	for k < 3 && c.capital(k) && nameWord(c.w(k)) {
		k++
	}
	if k == 0 || c.w(k) != "," || c.w(k+1) != "my" && c.w(k+1) != "our" {
		return
	}
	end := k + 2
	for end < min(len(c.words), k+7) && c.w(end) != "," {
		end++
	}
	if noun := c.w(end - 1); c.w(end) != "," || end == k+2 || !kin(noun) && !pet(noun) && !offspring[noun] || !verbish(c.w(end+1)) && !adverb(c.w(end+1)) && !pastForm(c.w(end+1)) && !c.noLongerAt(end+1) {
		return
	}
	if t.present(t.named(c.join(0, k))) {
		c.words = append(c.words[k+1:end:end], c.words[end+1:]...)
		return
	}
	c.beside = c.words[k+2 : end : end]
	c.words = append(c.words[:k:k], c.words[end+1:]...)
}

// relatedTo proposes what the person whom a clause is about is to the speaker, where that stands
// beside their name.
func (t *talk) relatedTo(c *clause) {
	if len(c.beside) == 0 || c.kind != 'p' {
		return
	}
	d := *c
	d.words = c.beside
	owner, from := t.self, 0
	for i := range d.words {
		if d.w(i) == "'s" && i > from {
			of := strings.ToLower(d.join(from, i))
			owner, from = person{possessive(owner.name) + " " + of, possessive(owner.key) + " " + of}, i+1
		}
	}
	if noun := strings.ToLower(d.join(from, len(d.words))); noun != "" {
		t.relation(c, owner, noun, c.subj.name, 0.9)
		t.beside++
	}
}

// besideAt is the second comma of "Emma, my niece, turned five", whose first one is token i of a
// clause that begins at token first; 0 where there is none.
func (s sentence) besideAt(first, i int) int {
	if s.at(i) != "," || s.at(i+1) != "my" && s.at(i+1) != "our" || i == first || !s.toks[i-1].cap || !nameWord(s.at(i-1)) {
		return 0
	}
	for k := first; k < i; k++ {
		if !s.toks[k].cap && s.toks[k].kind != 'p' && !lead(s.at(k)) && !beforeNames[s.at(k)] {
			return 0
		}
	}
	for k := i + 2; k < min(len(s.toks)-1, i+6); k++ {
		if s.at(k) == "," {
			noun, next := s.at(k-1), s.at(k+1)
			if (kin(noun) || pet(noun) || offspring[noun]) && (verbish(next) || adverb(next) || pastForm(next) || next == "no" && s.at(k+2) == "longer") {
				return k
			}
			return 0
		}
	}
	return 0
}

// beforeNames may stand before the name that begins a sentence.
var beforeNames = set("last this next on in yesterday today tonight")

// introduces takes a clause that only says of whom the next one tells, "my cousin Erik, he's a pilot" or "my old boss,
// Graham, he died": who they are to the speaker, and that "he" means them.
func (t *talk) introduces(s, next sentence) bool {
	word, _ := contraction(next.at(0))
	if word != "he" && word != "she" || s.chinese() {
		return false
	}
	i := 0
	for i < len(s.toks) && (lead(s.at(i)) || s.toks[i].kind == 'p') {
		i++
	}
	if s.at(i) != "my" && s.at(i) != "our" {
		return false
	}
	first := i + 1
	k := first
	for k < len(s.toks) && k < first+3 && s.toks[k].kind == 'w' && !s.toks[k].cap {
		k++
	}
	noun := s.at(k - 1)
	if sex := sexOf(noun, ""); k == first || !kin(noun) && !pet(noun) && !offspring[noun] || sex != 0 && (sex == male) != (word == "he") {
		return false
	}
	said := strings.ToLower(s.text[s.toks[first].start:s.toks[k-1].end])
	if k == len(s.toks) {
		t.persons = append(t.persons, met{person{key: mine + said}, s.start})
		return true
	}
	if s.at(k) == "," {
		k++
	}
	if len(s.toks)-k < 1 || len(s.toks)-k > 2 {
		return false
	}
	for j := k; j < len(s.toks); j++ {
		if !s.toks[j].cap || !nameWord(s.at(j)) {
			return false
		}
	}
	p := t.named(s.text[s.toks[k].start:s.end])
	t.persons = append(t.persons, met{p, s.start})
	if !pet(noun) {
		t.introduced = p.key
	}
	c := clause{sentence: s, subj: t.self, kind: 's'}
	switch died, _, _ := lemma(next.at(1)); {
	case pet(noun) && (died == "die" || died == "pass" || noun != said):
	case pet(noun):
		if f := t.fact(&c, "family", "pets", p.name, true, 0.9); f != nil {
			f.Text, f.Object = sentenceCase(possessive(t.self.name)+" "+noun+" is called "+p.name), p.name+", "+noun
		}
	default:
		t.relation(&c, t.self, said, p.name, 0.9)
	}
	return true
}

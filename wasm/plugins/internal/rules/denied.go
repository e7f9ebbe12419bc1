package rules

import "strings"

// Whom somebody takes back: "Oskar's not my cousin, he's my nephew", "my daughter's name isn't
// Lena, it's Lene". The wrong relation ends, if it stood, and the right one takes its place;
// denied_zh.go does the same in Chinese.

// misnamed takes an English sentence that denies who a relative is, and reports whether it did.
func (t *talk) misnamed(s sentence) bool {
	if s.chinese() || s.ends == "?" || conditioned(s) || len(s.toks) < 4 || len(s.toks) > 24 {
		return false
	}
	d := denial{clause: clause{sentence: s, kind: 't'}}
	for i, tok := range s.toks {
		if base, rest := contraction(tok.s); rest != "" {
			d.words = append(d.words, word{base, i}, word{rest, i})
		} else if w := tok.s; w != "actually" && w != "really" && w != "even" && w != "." {
			d.words = append(d.words, word{w, i})
		}
	}
	for len(d.words) > 1 && (lead(d.w(0)) || d.w(0) == ",") {
		d.words = d.words[1:]
	}
	if !d.named(t) && !d.related(t) {
		return false
	}
	t.ended(&d.clause, t.self, "relation", d.noun, d.name, many(d.noun))
	if d.rightNoun != "" {
		t.relation(&d.clause, t.self, d.rightNoun, d.rightName, 0.9)
	}
	return true
}

// denial is what a sentence says that somebody is not to the speaker, and is.
type denial struct {
	clause
	noun, name           string
	rightNoun, rightName string // "" where nothing takes its place
}

// named reads "my daughter's name isn't Lena, it's Lene", "my son isn't called Piet but Pit".
func (d *denial) named(t *talk) bool {
	if d.w(0) != "my" && d.w(0) != "our" || !kin(d.w(1)) {
		return false
	}
	i, called := 2, false
	if d.w(i) == "is" && d.w(i+1) == "name" {
		i, called = i+2, true
	}
	left := d.noLongerAt(i + 1)
	if d.w(i) != "is" || d.w(i+1) != "not" && !left {
		return false
	}
	if i += 2; left {
		i++
	}
	if d.w(i) == "called" || d.w(i) == "named" {
		i, called = i+1, true
	}
	name, i := d.nameAt(i)
	if name == "" {
		return false
	}
	d.noun, d.name = d.w(1), name
	titled := strings.HasPrefix(strings.ToLower(name), "dr ") || strings.HasPrefix(strings.ToLower(name), "mr") && strings.Contains(name, " ")
	if d.w(i) == "anymore" {
		i, left = i+1, true
	} else if d.w(i) == "any" && (d.w(i+1) == "more" || d.w(i+1) == "longer") {
		i, left = i+2, true
	}
	if d.over(i) {
		return called || left && (titled || sexOf("", strings.ToLower(name)) != 0)
	}
	i, ok := d.instead(i)
	if !ok {
		return false
	}
	who := d.w(i)
	switch {
	case d.w(i-1) == "but":
	case (who == "her" || who == "his" || who == "the") && d.w(i+1) == "name" && d.w(i+2) == "is":
		i += 3
	case (who == "it" || (who == "he" || who == "she") && called) && d.w(i+1) == "is":
		i += 2
	default:
		return false
	}
	if d.w(i) == "called" || d.w(i) == "named" {
		i++
	}
	d.rightName, i = d.nameAt(i)
	d.rightNoun = d.noun
	known := called || left || titled || sexOf("", strings.ToLower(name)) != 0 || sexOf("", strings.ToLower(d.rightName)) != 0 // "not Indian but German"
	return d.rightName != "" && known && d.over(i)
}

// related reads "Oskar's not my cousin, he's my nephew", "Tom is not my boss any more".
func (d *denial) related(t *talk) bool {
	name, i := d.nameAt(0)
	if name == "" || d.w(i) != "is" || d.w(i+1) != "not" || d.w(i+2) != "my" && d.w(i+2) != "our" {
		return false
	}
	if i += 3; !kin(d.w(i)) {
		return false
	}
	d.noun, d.name = d.w(i), name
	if i++; d.over(i) {
		return true
	}
	i, ok := d.instead(i)
	if !ok {
		return false
	}
	if who := d.w(i); (who == "he" || who == "she" || who == "they") && (d.w(i+1) == "is" || d.w(i+1) == "are") {
		i += 2
	} else if d.w(i-1) != "but" {
		return false
	}
	if d.w(i) != "my" && d.w(i) != "our" || !kin(d.w(i+1)) {
		return false
	}
	d.rightNoun, d.rightName = d.w(i+1), name
	return d.over(i + 2)
}

// nameAt is the name at word i, of two words at most, and the word after it.
func (d *denial) nameAt(i int) (string, int) {
	k := i
	for k < i+2 && d.capital(k) && d.toks[d.words[k].tok].kind == 'w' && nameWord(d.w(k)) {
		k++
		if k < len(d.words) && d.words[k].tok == d.words[k-1].tok {
			break // "Oskar's"
		}
	}
	if k == i {
		return "", i
	}
	return d.join(i, k), k
}

// instead is where what is so begins, after a comma or "but".
func (d *denial) instead(i int) (int, bool) {
	k := i
	for d.w(k) == "," || d.w(k) == "but" || d.w(k) == "-" || d.w(k) == "–" || d.w(k) == "—" {
		k++
	}
	return k, k > i
}

// over reports whether nothing that matters follows from word i.
func (d *denial) over(i int) bool {
	for ; i < len(d.words); i++ {
		switch d.w(i) {
		case ",", "any", "more", "anymore", "now", "after", "all", "longer", "at":
		default:
			return false
		}
	}
	return true
}

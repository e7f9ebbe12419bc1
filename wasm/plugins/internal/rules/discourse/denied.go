package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Corrections of who somebody is: "Oskar's not my cousin, he's my nephew", "my daughter's name
// isn't Lena, it's Lene". The wrong relation ends, if it was known, and the right one replaces it;
// package chinese does the same (denied.go) in Chinese.

// Misnamed takes an English sentence that denies who a relative is, and reports whether it did.
func (t *Talk) Misnamed(s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || Conditioned(s) || len(s.Toks) < 4 || len(s.Toks) > 24 {
		return false
	}
	d := denial{Clause: Clause{Sentence: s, Kind: 't', Words: make([]Word, 0, len(s.Toks)+4)}}
	for i, tok := range s.Toks {
		if base, rest := syntax.Contraction(tok.S); rest != "" {
			d.Words = append(d.Words, Word{base, i}, Word{rest, i})
		} else if w := tok.S; w != "actually" && w != "really" && w != "even" && w != "." {
			d.Words = append(d.Words, Word{w, i})
		}
	}
	for len(d.Words) > 1 && (syntax.Lead(d.W(0)) || d.W(0) == ",") {
		d.Words = d.Words[1:]
	}
	if !d.named(t) && !d.related(t) {
		return false
	}
	t.Ended(&d.Clause, t.Self, "relation", d.noun, d.name, many(d.noun))
	if d.rightNoun != "" {
		t.Relation(&d.Clause, t.Self, d.rightNoun, d.rightName, 0.9)
	}
	return true
}

// denial says what somebody is not to the speaker, and what they are.
type denial struct {
	Clause
	noun, name           string
	rightNoun, rightName string // "" if nothing replaces it
}

// named reads "my daughter's name isn't Lena, it's Lene", "my son isn't called Piet but Pit".
func (d *denial) named(t *Talk) bool {
	if d.W(0) != "my" && d.W(0) != "our" || !syntax.Kin(d.W(1)) {
		return false
	}
	i, called := 2, false
	if d.W(i) == "is" && d.W(i+1) == "name" {
		i, called = i+2, true
	}
	left := d.noLongerAt(i + 1)
	if d.W(i) != "is" || d.W(i+1) != "not" && !left {
		return false
	}
	if i += 2; left {
		i++
	}
	if d.W(i) == "called" || d.W(i) == "named" {
		i, called = i+1, true
	}
	name, i := d.nameAt(i)
	if name == "" {
		return false
	}
	d.noun, d.name = d.W(1), name
	titled := strings.HasPrefix(strings.ToLower(name), "dr ") || strings.HasPrefix(strings.ToLower(name), "mr") && strings.Contains(name, " ")
	if d.W(i) == "anymore" {
		i, left = i+1, true
	} else if d.W(i) == "any" && (d.W(i+1) == "more" || d.W(i+1) == "longer") {
		i, left = i+2, true
	}
	if d.over(i) {
		return called || left && (titled || syntax.SexOf("", strings.ToLower(name)) != 0)
	}
	i, ok := d.instead(i)
	if !ok {
		return false
	}
	who := d.W(i)
	switch {
	case d.W(i-1) == "but":
	case (who == "her" || who == "his" || who == "the") && d.W(i+1) == "name" && d.W(i+2) == "is":
		i += 3
	case (who == "it" || (who == "he" || who == "she") && called) && d.W(i+1) == "is":
		i += 2
	default:
		return false
	}
	if d.W(i) == "called" || d.W(i) == "named" {
		i++
	}
	d.rightName, i = d.nameAt(i)
	d.rightNoun = d.noun
	known := called || left || titled || syntax.SexOf("", strings.ToLower(name)) != 0 || syntax.SexOf("", strings.ToLower(d.rightName)) != 0 // "not Indian but German"
	return d.rightName != "" && known && d.over(i)
}

// related reads "Oskar's not my cousin, he's my nephew", "Tom is not my boss any more".
func (d *denial) related(t *Talk) bool {
	name, i := d.nameAt(0)
	if name == "" || d.W(i) != "is" || d.W(i+1) != "not" || d.W(i+2) != "my" && d.W(i+2) != "our" {
		return false
	}
	if i += 3; !syntax.Kin(d.W(i)) {
		return false
	}
	d.noun, d.name = d.W(i), name
	if i++; d.over(i) {
		return true
	}
	i, ok := d.instead(i)
	if !ok {
		return false
	}
	if who := d.W(i); (who == "he" || who == "she" || who == "they") && (d.W(i+1) == "is" || d.W(i+1) == "are") {
		i += 2
	} else if d.W(i-1) != "but" {
		return false
	}
	if d.W(i) != "my" && d.W(i) != "our" || !syntax.Kin(d.W(i+1)) {
		return false
	}
	d.rightNoun, d.rightName = d.W(i+1), name
	return d.over(i + 2)
}

// nameAt returns the name at word i, of at most two words, and the word after it.
func (d *denial) nameAt(i int) (string, int) {
	k := i
	for k < i+2 && d.Capital(k) && d.Toks[d.Words[k].Tok].Kind == 'w' && syntax.NameWord(d.W(k)) {
		k++
		if k < len(d.Words) && d.Words[k].Tok == d.Words[k-1].Tok {
			break // "Oskar's"
		}
	}
	if k == i {
		return "", i
	}
	return d.Join(i, k), k
}

// instead returns where the correction begins, after a comma or "but".
func (d *denial) instead(i int) (int, bool) {
	k := i
	for d.W(k) == "," || d.W(k) == "but" || d.W(k) == "-" || d.W(k) == "–" || d.W(k) == "—" {
		k++
	}
	return k, k > i
}

// over reports whether nothing relevant follows from word i on.
func (d *denial) over(i int) bool {
	for ; i < len(d.Words); i++ {
		switch d.W(i) {
		case ",", "any", "more", "anymore", "now", "after", "all", "longer", "at":
		default:
			return false
		}
	}
	return true
}

package syntax

import "strings"

// PairAt returns the tokens after two people with whom a clause begins at token first, "my brother
// Tom and Anna": after the first, where "and" is, and after the second. It returns zeros if there
// are not two.
func (s Sentence) PairAt(first int) (one, two int) {
	one = s.personAt(first)
	if one == 0 || s.At(one) != "and" {
		return 0, 0
	}
	if s.At(one-1) == s.At(first+1) && Kin(s.At(first+1)) && Kin(s.At(one+1)) {
		two = one + 2 // my brother and sister
	} else if whose := s.At(one + 1); (whose == "his" || whose == "her") && Kin(s.At(one+2)) {
		two = s.named(one + 3)
	} else {
		two = s.personAt(one + 1)
	}
	if two == 0 || two >= len(s.Toks) {
		return 0, 0
	}
	return one, two
}

// personAt returns the token after "my brother", "my brother Tom", "Tom" or "Tom's brother" at token
// i; 0 if there is none of them.
func (s Sentence) personAt(i int) int {
	if i >= len(s.Toks) || s.Toks[i].Kind != 'w' {
		return 0
	}
	if w := s.At(i); w == "my" || w == "our" || s.Toks[i].Cap && strings.HasSuffix(w, "'s") {
		if !Kin(s.At(i+1)) && !Pet(s.At(i+1)) {
			return 0
		}
		return s.named(i + 2)
	}
	if Parent[s.At(i)] {
		return i + 1 // Mum
	}
	if k := s.named(i); k > i {
		return k
	}
	return 0
}

// named returns the token after a name of up to two words at token i, or i if there is none.
func (s Sentence) named(i int) int {
	k := i
	for k < i+2 && k < len(s.Toks) && s.Toks[k].Cap && NameWord(s.At(k)) && s.At(k) != "i" {
		if _, rest := Contraction(s.At(k)); rest != "" || strings.HasSuffix(s.At(k), "'s") {
			break
		}
		k++
	}
	return k
}

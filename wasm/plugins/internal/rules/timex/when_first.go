package timex

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

// SeveralFrom reports whether words join another thing to the first one, from token i on.
func SeveralFrom(s syntax.Sentence, i int) bool {
	for ; i < len(s.Toks); i++ {
		switch s.At(i) {
		case "and", "but", "because", "so", ",", "then", "now":
			return true
		}
	}
	return false
}

// NamelessAt reports whether "he", "she", "it" or "they" is at token i.
func NamelessAt(s syntax.Sentence, i int) bool {
	w, _ := syntax.Contraction(s.At(i))
	return w == "he" || w == "she" || w == "it" || w == "they"
}

// ThenFirst returns the number of tokens at the beginning of a sentence that say when something
// was, such as "when I was ten" or "as a child". main is the token at which the rest begins. Both
// are 0 if the sentence does not begin like that.
func ThenFirst(s syntax.Sentence) (then, main int) {
	starts := func(i int) bool {
		return s.At(i) == "," || syntax.SubjectPronoun(s.At(i)) || s.At(i) == "my" || s.At(i) == "our"
	}
	switch at := s.At; {
	case at(0) == "as" && (at(1) == "a" || at(1) == "an") && (Youths[at(2)] || at(2) == "student") && starts(3):
		then = 3
	case at(0) == "at" && ageAt(s, 1) > 0 && starts(1+ageAt(s, 1)):
		then = 1 + ageAt(s, 1)
	case at(0) == "when" && (syntax.SubjectPronoun(at(1)) && tellsAt(s, 2) || (at(1) == "my" || at(1) == "our") && tellsAt(s, 3)):
		for i := 4; i < len(s.Toks) && then == 0; i++ {
			be := at(2) == "was" || at(2) == "were"
			if at(i) == "," || tellsAt(s, i+1) && syntax.SubjectPronoun(at(i)) || be && tellsAt(s, i+2) && (at(i) == "my" || at(i) == "our") {
				then = i
			}
		}
	}
	if main = then + syntax.BoolInt(s.At(then) == ","); then == 0 || main >= len(s.Toks)-1 {
		return 0, 0
	}
	return then, main
}

// tellsAt reports whether a verb in the past tense is at token i.
func tellsAt(s syntax.Sentence, i int) bool {
	if w := s.At(i); w == "was" || w == "were" {
		return true
	}
	_, past, _ := syntax.Lemma(s.At(i))
	return past
}

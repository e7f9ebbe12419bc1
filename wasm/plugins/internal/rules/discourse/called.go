package discourse

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

// WithoutCalled returns a sentence without the apology at its beginning, and without the name of
// the person who gets the apology or is called at the end: "I'm so sorry, Dr. Weber, I missed the
// bus", "I'm allergic to nuts, Dr. Weber", "I like tea, Tom".
func WithoutCalled(s syntax.Sentence) syntax.Sentence {
	i := 0
	for s.At(i) == "oh" || s.At(i) == "," && i > 0 {
		i++
	}
	if s.At(i) == "i'm" || s.At(i) == "i" && s.At(i+1) == "am" || s.At(i) == "we're" {
		for i++; s.At(i) == "am" || sorrier[s.At(i)]; i++ {
		}
		switch next := s.At(i + 1); {
		case s.At(i) != "sorry" || i+2 >= len(s.Toks):
		case next == "i" || next == "we": // "I'm sorry I missed your party"
			s = s.Sub(i+1, len(s.Toks))
		case s.Toks[i+1].Kind == 'p':
			i += 2
			if n := titleAt(s, i); n > 0 && i+n < len(s.Toks) && s.Toks[i+n].Kind == 'p' {
				i += n + 1
			}
			if i < len(s.Toks) {
				s = s.Sub(i, len(s.Toks))
			}
		}
	}
	for n := 3; n > 0; n-- { // "Dr", ".", "Weber"
		k := len(s.Toks) - n
		if k < 3 || s.At(k-1) != "," || lists(s, k-1) {
			continue
		}
		titled, noun := titleAt(s, k) == n, s.At(k-2)
		if determined(s, k-2) && (!titled || syntax.Kin(noun) || Trade(noun) || titledToo[noun]) {
			continue
		}
		if titled || n == 1 && s.Toks[k].Cap && !s.Toks[k-2].Cap && syntax.NamedSex()[s.At(k)] != 0 {
			return s.Sub(0, k-1)
		}
	}
	return s
}

// sorrier are words before "sorry".
var sorrier = syntax.Set("so very really terribly awfully truly just")

// titleAt returns how many tokens a name with a title takes.
func titleAt(s syntax.Sentence, i int) int {
	k := i + 1
	if s.At(k) == "." {
		k++
	}
	if (Titles[s.At(i)] || s.At(i) == "professor") && k < len(s.Toks) && s.Toks[k].Cap {
		return k + 1 - i
	}
	return 0
}

// titledToo are words, besides trades, for which a name with a title may follow: "my favourite
// film, Mrs. Doubtfire".
var titledToo = syntax.Set("man woman lady gentleman guy widow patient guest tenant client customer owner headmaster headteacher film movie book novel play show series band firm company brand")

// determined reports whether a noun at index i has a word such as "my" or "the" before it. The
// following name may then say who that is: "my dentist, Dr. Weber". A trade may have more words
// before it: "a really nice piano teacher".
func determined(s syntax.Sentence, i int) bool {
	far := 2
	if noun := s.At(i); syntax.Kin(noun) || Trade(noun) {
		far = 6
	}
	for k := i - 1; k >= max(0, i-far) && s.At(k) != ","; k-- {
		switch w := s.At(k); w {
		case "my", "our", "the", "a", "an", "his", "her", "their", "your", "is", "was":
			return true
		}
	}
	return false
}

// lists reports whether a sentence lists several things before token i: "tea, milk", "tea and
// milk".
func lists(s syntax.Sentence, i int) bool {
	for k := range i {
		if w := s.At(k); w == "," || w == "and" || w == "or" {
			return true
		}
	}
	return false
}

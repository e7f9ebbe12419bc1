package recall

import "strings"

// stem is the English (Porter2) stemmer of the Snowball project, after its
// published description (snowballstem.org/algorithms/english/stemmer.html).
// The word must be in lower case, a to z and apostrophe; any other word is returned unchanged.
func stem(word string) string {
	if len(word) <= 2 {
		return word
	}
	for i := 0; i < len(word); i++ {
		if c := word[i]; (c < 'a' || c > 'z') && c != '\'' {
			return word
		}
	}
	if s, ok := stemExceptions[word]; ok {
		return s
	}
	var room [maxTerm]byte
	w := stemmer{b: append(room[:0], strings.TrimPrefix(word, "'")...)}
	w.markY()
	w.regions()
	w.step0()
	w.step1a()
	if stemKept[string(w.b)] {
		return string(w.b)
	}
	w.step1b()
	w.step1c()
	w.table(&step2)
	w.table(&step3)
	w.step4()
	w.step5()
	for i, c := range w.b {
		if c == 'Y' {
			w.b[i] = 'y'
		}
	}
	if s := word[:min(len(w.b), len(word))]; s == string(w.b) { // mostly, and it needs no memory
		return s
	}
	return string(w.b)
}

var stemExceptions = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

var stemKept = map[string]bool{
	"inning": true, "outing": true, "canning": true, "herring": true, "earring": true,
	"proceed": true, "exceed": true, "succeed": true,
}

// stemmer is one word while it is being stemmed. An upper-case Y is a consonant.
type stemmer struct {
	b      []byte
	r1, r2 int
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

func (w *stemmer) markY() {
	for i, c := range w.b {
		if c == 'y' && (i == 0 || vowel(w.b[i-1])) {
			w.b[i] = 'Y'
		}
	}
}

// regions sets R1 and R2: what follows the first consonant after a vowel, and
// the same again within R1.
func (w *stemmer) regions() {
	after := func(from int) int {
		for i := from; i+1 < len(w.b); i++ {
			if vowel(w.b[i]) && !vowel(w.b[i+1]) {
				return i + 2
			}
		}
		return len(w.b)
	}
	w.r1 = -1
	for _, p := range [...]string{"gener", "commun", "arsen"} {
		if len(w.b) >= len(p) && string(w.b[:len(p)]) == p {
			w.r1 = len(p)
		}
	}
	if w.r1 < 0 {
		w.r1 = after(0)
	}
	w.r2 = after(w.r1)
}

func (w *stemmer) has(suffix string) bool {
	n := len(w.b) - len(suffix)
	return n >= 0 && w.b[len(w.b)-1] == suffix[len(suffix)-1] && string(w.b[n:]) == suffix
}

// last returns the last letter; 0: there is none.
func (w *stemmer) last() byte {
	if len(w.b) == 0 {
		return 0
	}
	return w.b[len(w.b)-1]
}

// cut replaces the last n letters. A word never gets longer than it was.
func (w *stemmer) cut(n int, add string) {
	n = len(w.b) - n
	w.b = w.b[:n+len(add)]
	copy(w.b[n:], add)
}

func (w *stemmer) hasVowel(end int) bool {
	for i := 0; i < end; i++ {
		if vowel(w.b[i]) {
			return true
		}
	}
	return false
}

func (w *stemmer) step0() {
	for _, s := range [...]string{"'s'", "'s", "'"} {
		if w.has(s) {
			w.cut(len(s), "")
			return
		}
	}
}

func (w *stemmer) step1a() {
	n := len(w.b)
	switch {
	case w.has("sses"):
		w.cut(2, "")
	case w.has("ied"), w.has("ies"):
		if n > 4 {
			w.cut(2, "")
		} else {
			w.cut(1, "")
		}
	case w.has("us"), w.has("ss"):
	case w.has("s"):
		if n > 2 && w.hasVowel(n-2) {
			w.cut(1, "")
		}
	}
}

func (w *stemmer) step1b() {
	for _, s := range [...]string{"eedly", "eed"} {
		if w.has(s) {
			if len(w.b)-len(s) >= w.r1 {
				w.cut(len(s), "ee")
			}
			return
		}
	}
	for _, s := range [...]string{"ingly", "edly", "ing", "ed"} {
		if !w.has(s) {
			continue
		}
		if !w.hasVowel(len(w.b) - len(s)) {
			return
		}
		w.cut(len(s), "")
		switch {
		case w.has("at"), w.has("bl"), w.has("iz"):
			w.cut(0, "e")
		case w.double():
			w.cut(1, "")
		case w.short():
			w.cut(0, "e")
		}
		return
	}
}

// double reports whether the word ends in a doubled consonant of those that English doubles.
func (w *stemmer) double() bool {
	n := len(w.b)
	return n >= 2 && w.b[n-1] == w.b[n-2] && strings.IndexByte("bdfgmnprt", w.b[n-1]) >= 0
}

// shortSyllable reports whether b[:end] ends in a short syllable.
func (w *stemmer) shortSyllable(end int) bool {
	if end == 2 {
		return vowel(w.b[0]) && !vowel(w.b[1])
	}
	if end < 3 {
		return false
	}
	a, v, c := w.b[end-3], w.b[end-2], w.b[end-1]
	return !vowel(a) && vowel(v) && !vowel(c) && c != 'w' && c != 'x' && c != 'Y'
}

func (w *stemmer) short() bool { return w.r1 >= len(w.b) && w.shortSyllable(len(w.b)) }

func (w *stemmer) step1c() {
	n := len(w.b)
	if n > 2 && (w.b[n-1] == 'y' || w.b[n-1] == 'Y') && !vowel(w.b[n-2]) {
		w.b[n-1] = 'i'
	}
}

// rule replaces a suffix. "?" means that table has a rule of its own for it.
type rule struct{ suffix, to string }

var step2 = byLast([]rule{
	{"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"},
	{"tional", "tion"}, {"biliti", "ble"}, {"lessli", "less"},
	{"entli", "ent"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"}, {"ousli", "ous"}, {"iviti", "ive"}, {"fulli", "ful"},
	{"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"izer", "ize"}, {"ator", "ate"}, {"alli", "al"},
	{"bli", "ble"}, {"ogi", "?"}, {"li", "?"},
})

var step3 = byLast([]rule{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ative", "?"},
	{"ical", "ic"}, {"ness", ""}, {"ful", ""},
})

// byLast groups rules by the last letter of their suffix. Most words have to be compared with few.
func byLast(rules []rule) (out ['z' + 1][]rule) {
	for _, r := range rules {
		last := r.suffix[len(r.suffix)-1]
		out[last] = append(out[last], r)
	}
	return out
}

// table applies the rule with the longest suffix of the word, if the suffix is in R1.
func (w *stemmer) table(rules *['z' + 1][]rule) {
	for _, r := range rules[w.last()] {
		if !w.has(r.suffix) {
			continue
		}
		n := len(w.b) - len(r.suffix) // where the suffix begins
		before := byte(0)
		if n > 0 {
			before = w.b[n-1]
		}
		switch {
		case n < w.r1:
		case r.to != "?":
			w.cut(len(r.suffix), r.to)
		case r.suffix == "ogi":
			if before == 'l' {
				w.cut(1, "")
			}
		case r.suffix == "li":
			if strings.IndexByte("cdeghkmnrt", before) >= 0 {
				w.cut(2, "")
			}
		case r.suffix == "ative":
			if n >= w.r2 {
				w.cut(len(r.suffix), "")
			}
		}
		return
	}
}

var step4 = byLast([]rule{
	{"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""}, {"ant", ""}, {"ent", ""}, {"ism", ""},
	{"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""}, {"ion", ""}, {"al", ""}, {"er", ""}, {"ic", ""},
})

func (w *stemmer) step4() {
	for _, r := range step4[w.last()] {
		if !w.has(r.suffix) {
			continue
		}
		n := len(w.b) - len(r.suffix)
		if n >= w.r2 && (r.suffix != "ion" || n > 0 && (w.b[n-1] == 's' || w.b[n-1] == 't')) {
			w.cut(len(r.suffix), "")
		}
		return
	}
}

func (w *stemmer) step5() {
	n := len(w.b) - 1
	if n < 0 {
		return
	}
	switch w.b[n] {
	case 'e':
		if n >= w.r2 || n >= w.r1 && !w.shortSyllable(n) {
			w.cut(1, "")
		}
	case 'l':
		if n >= w.r2 && n > 0 && w.b[n-1] == 'l' {
			w.cut(1, "")
		}
	}
}

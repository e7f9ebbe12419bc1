package rules

import (
	"strings"
)

// What a recogniser of speech writes has neither capitals nor marks, and holds
// the sounds that people make while they think. heard gives names and months
// their capitals back and takes the sounds out, byte for byte, so that places in
// the text stay what they were.

// sounds are written down and mean nothing.
var sounds = set("um uh erm er uhm hmm mm mhm ehm")

// alsoWords are given names that are words as well: they need a relative or a
// verb of meeting before them.
var alsoWords = set("mark max frank grace rose bill jack nick carol victor ray dominik")

// mostHeard is the most bytes that are taken for what a recogniser wrote at a time.
const mostHeard = 8 << 10

// heard is text as the rules read it, and whether it had no capitals at all.
func heard(text string) (string, bool) {
	if len(text) > mostHeard {
		return text, false
	}
	plain := plainText(text) && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
	if !plain && !sounded(text) {
		return text, false
	}
	toks := lex(text)
	b := []byte(text)
	for i := range toks {
		w := toks[i].s
		if toks[i].kind != 'w' {
			continue
		}
		if sounds[w] && len(toks) > 2 {
			for k := toks[i].start; k < toks[i].end; k++ {
				b[k] = ' '
			}
			if i+1 < len(toks) && toks[i+1].s == "," {
				b[toks[i+1].start] = ' '
			}
			continue
		}
		if kin(w) && i+2 < len(toks) && toks[i+1].s == "in" && strings.HasPrefix(toks[i+2].s, "law") && toks[i].end+1 == toks[i+1].start && toks[i+1].end+1 == toks[i+2].start {
			b[toks[i].end], b[toks[i+1].end] = '-', '-'
		}
		if plain && namedLike(toks, i) && b[toks[i].start] >= 'a' && b[toks[i].start] <= 'z' {
			b[toks[i].start] -= 'a' - 'A'
		}
	}
	return string(b), plain
}

// sounded reports whether a text may have sounds in it, or words that are one.
func sounded(text string) bool {
	var word [4]byte // in lower case, of the letters before byte i
	n := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && letterAt(text, i) {
			if n < len(word) {
				word[n] = text[i] | 0x20
			}
			n++
			continue
		}
		if n > 1 && n < len(word) && sounds[string(word[:n])] || n == 2 && string(word[:n]) == "in" && i+4 <= len(text) && strings.EqualFold(text[i:i+4], " law") {
			return true
		}
		n = 0
	}
	return false
}

// namedLike reports whether token i of a text without capitals is a month or a
// name: one of the given names, or what is called so.
func namedLike(toks []token, i int) bool {
	w, _ := contraction(toks[i].s)
	at := func(k int) string {
		if k >= 0 && k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	if m := monthOf(w); m > 0 {
		if w != "may" && w != "march" && w != "mar" && w != "sun" {
			return len(w) > 3
		}
		before := at(i - 1)
		return dayBeside(toks, i) || before == "in" || before == "of" || before == "since" || before == "until" || before == "from"
	}
	switch at(i - 1) {
	case "called", "named":
		return !determiner(w) && !pronoun(w) && !preposition(w) && w != "off" && w != "back"
	}
	if w == "will" || w == "may" || sexOf("", w) == 0 {
		return false
	}
	if !alsoWords[w] {
		return true
	}
	before, _ := contraction(at(i - 1))
	return kin(before) || before == "with" || before == "told" || before == "met" || before == "saw" || before == "called"
}

// dayBeside reports whether a day of a month stands beside token i.
func dayBeside(toks []token, i int) bool {
	s := sentence{toks: toks}
	_, after := day31(s.at(i + 1))
	_, before := day31(s.at(i - 1))
	return after+before > 0
}

// hosts are words after which a clause with a subject of its own belongs to the
// one before: "I think we'll go", "the day I moved".
var hosts = set("that if when whenever because while since as what who whom where which how why until till after before think thought know knew say says said hope hoped wish told tell tells than " +
	"thing things time way place day all everything something anything person people guess sure believe bet feel swear promise promised mean meant like whether unless once though although so and but or " +
	"reason moment year week month night reckon suppose heard hear see realise realize noticed remember forgot forget wondering wonder glad afraid sorry worried asked ask decided agreed the a an my your our his her their to of in on at with for from not just also then")

// runsOn reports whether a new sentence begins at token i of a text without
// marks: a subject with its verb after a clause that has both.
func runsOn(toks []token, first, i int) bool {
	s := sentence{toks: toks}
	base, rest := contraction(s.at(i))
	if !subjectPronoun(base) && !(base == "that" || base == "there") || i-first < 3 || hosts[s.at(i-1)] || (base == "that" || base == "there") && rest == "" {
		return false
	}
	if rest == "" {
		k := i + 1
		for adverb(s.at(k)) {
			k++
		}
		if !verbish(s.at(k)) || base == "you" || base == "it" && !auxiliary(s.at(k)) && !pastForm(s.at(k)) {
			return false
		}
	}
	// "I told Ben I'd help", "they said on Friday they'd come"
	verb := false
	for k := first; k < i; k++ {
		w := s.at(k)
		if l, _, _ := lemma(w); k >= i-4 {
			switch l {
			case "tell", "say", "promise", "think", "know", "hope", "hear", "guess", "believe", "mean", "ask", "decide", "wish", "feel":
				return false
			}
		}
		if k > first && (verbish(w) || pastForm(w)) || contractedVerb(w) {
			verb = true
		}
		if w == "if" || w == "when" || w == "while" || w == "because" || w == "since" {
			verb = k > first+1 && verb // "if it rains we'll stay" is one
		}
	}
	if w := s.at(first); w == "if" || w == "when" || w == "while" || w == "once" || w == "unless" {
		return false
	}
	return verb
}

func contractedVerb(w string) bool {
	base, rest := contraction(w)
	return rest != "" && rest != "not" && (subjectPronoun(base) || base == "that" || base == "there")
}

// apart takes the sentences of a text without marks apart.
func (t *talk) apart(all []sentence) []sentence {
	if !t.plain {
		return all
	}
	var out []sentence
	for _, s := range all {
		first := 0
		for i := range s.toks {
			if runsOn(s.toks, first, i) {
				one := s.sub(first, i)
				one.ends = "."
				out = append(out, one)
				first = i
			}
		}
		out = append(out, s.sub(first, len(s.toks)))
	}
	return out
}

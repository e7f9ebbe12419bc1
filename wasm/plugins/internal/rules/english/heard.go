package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// mostHeard is how many bytes are read at once as the output of speech recognition.
const mostHeard = 8 << 10

// Speech recognition writes neither capitals nor marks, and it writes the sounds that people make
// while they think ([discourse.Sounds]).

// Heard returns text as the rules read it, and whether it had no capitals at all. Names and months
// get their capitals back, and sounds are removed, byte for byte, so that places in the text stay
// the same.
func Heard(text string) (string, bool) {
	if len(text) > mostHeard {
		return text, false
	}
	plain := discourse.PlainText(text) && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
	if !plain && !sounded(text) && !syntax.ContainsAny(text, "the twenty ", "the thirty ", "uinea pig") {
		return text, false
	}
	toks := syntax.Lex(text)
	b := []byte(text)
	for i := range toks {
		w := toks[i].S
		if toks[i].Kind != 'w' {
			continue
		}
		filler := w == "like" && i > 0 && i+1 < len(toks) && fillsAfter[toks[i-1].S] && (noted.Counts(toks[i+1].S) || syntax.Numeric(toks[i+1].S)) // "so like eight months"
		if filler || discourse.Sounds[w] && len(toks) > 2 {
			for k := toks[i].Start; k < toks[i].End; k++ {
				b[k] = ' '
			}
			if i+1 < len(toks) && toks[i+1].S == "," {
				b[toks[i+1].Start] = ' '
				if i > 1 && toks[i-1].S == "," && (syntax.Preposition(toks[i-2].S) || syntax.Determiner(toks[i-2].S)) {
					b[toks[i-1].Start] = ' ' // "allergic to, um, shellfish"
				}
			}
			continue
		}
		if syntax.Kin(w) && i+2 < len(toks) && toks[i+1].S == "in" && strings.HasPrefix(toks[i+2].S, "law") && toks[i].End+1 == toks[i+1].Start && toks[i+1].End+1 == toks[i+2].Start {
			b[toks[i].End], b[toks[i+1].End] = '-', '-'
		}
		if w == "guinea" && i+1 < len(toks) && syntax.Singular(toks[i+1].S) == "pig" && toks[i].End+1 == toks[i+1].Start {
			b[toks[i].End] = '-' // one animal
		}
		if i > 0 && i+1 < len(toks) && (w == "twenty" || w == "thirty") && (toks[i-1].S == "the" || plain && syntax.MonthOf(toks[i-1].S) > 0) && toks[i].End+1 == toks[i+1].Start {
			if _, n := timex.Day31(w + "-" + toks[i+1].S); n > 0 {
				b[toks[i].End] = '-' // "the twenty first of november"
			}
		}
		if plain && namedLike(toks, i) && b[toks[i].Start] >= 'a' && b[toks[i].Start] <= 'z' {
			b[toks[i].Start] -= 'a' - 'A'
		}
	}
	return string(b), plain
}

// fillsAfter are words after which "like" before a number says nothing.
var fillsAfter = syntax.Set("so got for it's was is paid took in of at")

// sounded reports whether a text may have sounds in it, or words that are sounds.
func sounded(text string) bool {
	var word [4]byte // the letters before byte i, in lower case
	n := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && syntax.LetterAt(text, i) {
			if n < len(word) {
				word[n] = text[i] | 0x20
			}
			n++
			continue
		}
		if n > 1 && n < len(word) && discourse.Sounds[string(word[:n])] || n == 2 && string(word[:n]) == "in" && i+4 <= len(text) && strings.EqualFold(text[i:i+4], " law") {
			return true
		}
		n = 0
	}
	return false
}

// namedLike reports whether token i of a text without capitals is a month or a name: a given name,
// or a word that is used as one.
func namedLike(toks []syntax.Token, i int) bool {
	w, _ := syntax.Contraction(toks[i].S)
	at := func(k int) string {
		if k >= 0 && k < len(toks) {
			return toks[k].S
		}
		return ""
	}
	if m := syntax.MonthOf(w); m > 0 {
		if w != "may" && w != "march" && w != "mar" && w != "sun" {
			return len(w) > 3
		}
		before := at(i - 1)
		return dayBeside(toks, i) || before == "in" || before == "of" || before == "since" || before == "until" || before == "from"
	}
	switch at(i - 1) {
	case "called", "named":
		return !syntax.Determiner(w) && !discourse.Pronoun(w) && !syntax.Preposition(w) && w != "off" && w != "back"
	}
	if w == "will" || w == "may" || syntax.SexOf("", w) == 0 {
		return false
	}
	if !syntax.AlsoWords[w] {
		return true
	}
	before, _ := syntax.Contraction(at(i - 1))
	return syntax.Kin(before) || before == "with" || before == "told" || before == "met" || before == "saw" || before == "called"
}

// dayBeside reports whether a day of a month is next to token i.
func dayBeside(toks []syntax.Token, i int) bool {
	s := syntax.Sentence{Toks: toks}
	_, after := timex.Day31(s.At(i + 1))
	_, before := timex.Day31(s.At(i - 1))
	return after+before > 0
}

// runsOn reports whether a new sentence begins at token i of a text without
// marks: a subject with its verb after a clause that has both.
func runsOn(toks []syntax.Token, first, i int) bool {
	s := syntax.Sentence{Toks: toks}
	base, rest := syntax.Contraction(s.At(i))
	if !syntax.SubjectPronoun(base) && !(base == "that" || base == "there") || i-first < 3-syntax.BoolInt(contractedVerb(s.At(first))) || discourse.Hosts[s.At(i-1)] || (base == "that" || base == "there") && rest == "" {
		return false
	}
	if rest == "" {
		k := i + 1
		for syntax.Adverb(s.At(k)) {
			k++
		}
		if !syntax.Verbish(s.At(k)) || base == "you" && s.At(i+1) != "just" || base == "it" && !syntax.Auxiliary(s.At(k)) && !syntax.PastForm(s.At(k)) {
			return false
		}
	}
	// "I told Ben I'd help", "they said on Friday they'd come"
	verb := false
	for k := first; k < i; k++ {
		w := s.At(k)
		if l, _, _ := syntax.Lemma(w); k >= i-4 {
			switch l {
			case "tell", "say", "promise", "think", "know", "hope", "hear", "guess", "believe", "mean", "ask", "decide", "wish", "feel":
				return false
			}
		}
		if k > first && (syntax.Verbish(w) || syntax.PastForm(w)) || contractedVerb(w) {
			verb = true
		}
		if w == "if" || w == "when" || w == "while" || w == "because" || w == "since" {
			verb = k > first+1 && verb // "if it rains we'll stay" is one sentence
		}
	}
	if w := s.At(first); w == "if" || w == "when" || w == "while" || w == "once" || w == "unless" {
		return false
	}
	return verb
}

func contractedVerb(w string) bool {
	base, rest := syntax.Contraction(w)
	return rest != "" && rest != "not" && (syntax.SubjectPronoun(base) || base == "that" || base == "there")
}

// unmarked reports whether a text has names and months with capitals, but neither marks nor a capital at
// its beginning: "my manager's called Patrick he started in May".
func unmarked(text string) bool {
	return text != "" && text[0] >= 'a' && text[0] <= 'z' && !strings.ContainsAny(text, ".,;:!?\n\"")
}

// Apart splits the sentences of a text without marks.
func Apart(t *discourse.Talk, all []syntax.Sentence) []syntax.Sentence {
	if !t.Plain && !unmarked(t.Ev.Text) {
		return all
	}
	var out []syntax.Sentence
	for _, s := range all {
		first := 0
		for i := range s.Toks {
			if runsOn(s.Toks, first, i) {
				one := s.Sub(first, i)
				one.Ends = "."
				out = append(out, one)
				first = i
			}
		}
		out = append(out, s.Sub(first, len(s.Toks)))
	}
	return out
}

package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "No" before a mark, a subject or another lead word answers somebody and has no content itself:
// "No, I live in Graz", "no wait". Before what it denies, it is part of the statement: "No more
// sugar for Paul".

// Denies reports whether token i is a "no" that denies the words after it.
func Denies(s syntax.Sentence, i int) bool {
	next := s.At(i + 1)
	if s.At(i) != "no" || next == "" || s.Toks[i+1].Kind != 'w' {
		return false
	}
	base, rest := syntax.Contraction(next)
	switch {
	case base == "more" || base == "new" || base == "good" || base == "great":
		return true
	case rest != "" || syntax.Lead(base) || syntax.SubjectPronoun(base) || syntax.Determiner(base) || syntax.Auxiliary(base) || syntax.Preposition(base) || syntax.Adverb(base) || Hosts[base] || Sounds[base] || Personal(base):
		return false
	case base == "thanks" || base == "thank" || base == "there" || base == "here" || base == "let" || base == "mine":
		return false
	case syntax.WeekdayOf(base, false) >= 0 || syntax.MonthOf(base) > 0 || base == "tomorrow" || base == "today" || base == "tonight" || base == "next" || base == "last":
		return false // "no Thursday": it is another day
	case syntax.Verbish(s.At(i+2)) && (s.Toks[i+1].Cap || CalledSo[base]):
		return false // "no Paul lives in Graz"
	}
	return true
}

// TakesBack reports whether a sentence only says, from token i on, that something is wrong: "No,
// that's wrong". The right value may follow in another sentence.
func TakesBack(s syntax.Sentence, i int) bool {
	words := make([]string, 0, 32) // enough for most sentences
	for ; i < len(s.Toks); i++ {
		if s.Toks[i].Kind == 'p' {
			continue
		}
		base, rest := syntax.Contraction(s.At(i))
		words = append(words, base)
		if rest != "" {
			words = append(words, rest)
		}
	}
	said := strings.Join(words, " ")
	for _, who := range [...]string{"that ", "this ", "it ", "you got ", "you have got ", "i got "} {
		if rest, ok := strings.CutPrefix(said, who); ok {
			said = strings.TrimPrefix(strings.TrimPrefix(rest, "is "), "was ")
			break
		}
	}
	said = syntax.TrimHeads(said, "it ", "that ", "all ", "completely ", "just ", "simply ", "totally ")
	return wrongs[said]
}

// wrongs are words that say that something is wrong.
var wrongs = map[string]bool{"wrong": true, "incorrect": true, "false": true, "not right": true, "not true": true, "not correct": true, "not so": true,
	"not it": true, "not what i said": true, "not what i meant": true}

// CalledSo are relatives who are called by only this word.
var CalledSo = syntax.Set("mum mom mummy dad daddy grandma grandpa granny")

// DeniedEvent takes "no meeting on Friday": the only known plan of that kind and day is cancelled,
// and there is no new one. denied is false if the sentence denies nothing.
func (t *Talk) DeniedEvent(s syntax.Sentence, whens []timex.When) (took, denied bool) {
	for i := range s.Toks {
		if !Denies(s, i) {
			continue
		}
		for k := i + 1; k < min(len(s.Toks), i+4); k++ {
			if _, event := syntax.EventNoun(s.At(k)); event {
				c := Clause{Sentence: s, Whens: whens, Subj: t.Self, Kind: 't'}
				return t.OffWith(s, whens, s.At(k), t.Rewrite(&c)), true
			}
		}
		return false, true
	}
	return false, false
}

// Opens reports whether word i opens the clause and has no content.
func (c *Clause) Opens(i int) bool {
	return i < len(c.Words) && syntax.Lead(c.W(i)) && !Denies(c.Sentence, c.Words[i].Tok)
}

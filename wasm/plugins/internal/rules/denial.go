package rules

import "strings"

// "No" before a mark, a subject or another lead word answers somebody and says
// nothing itself: "No, I live in Graz", "no wait". Before what it denies it is a part
// of the statement: "No more sugar for Paul".

// denies reports whether token i is a "no" that denies the words after it.
func (s sentence) denies(i int) bool {
	next := s.at(i + 1)
	if s.at(i) != "no" || next == "" || s.toks[i+1].kind != 'w' {
		return false
	}
	base, rest := contraction(next)
	switch {
	case base == "more" || base == "new" || base == "good" || base == "great":
		return true
	case rest != "" || lead(base) || subjectPronoun(base) || determiner(base) || auxiliary(base) || preposition(base) || adverb(base) || hosts[base] || sounds[base] || personal(base):
		return false
	case base == "thanks" || base == "thank" || base == "there" || base == "here" || base == "let" || base == "mine":
		return false
	case weekdayOf(base, false) >= 0 || monthOf(base) > 0 || base == "tomorrow" || base == "today" || base == "tonight" || base == "next" || base == "last":
		return false // "no Thursday": it is another day
	case verbish(s.at(i+2)) && (s.toks[i+1].cap || calledSo[base]):
		return false // "no Paul lives in Graz"
	}
	return true
}

// takesBack reports a sentence that only says, from token i, that something is wrong: "No, that's
// wrong". What is right instead may follow in another one.
func (s sentence) takesBack(i int) bool {
	var words []string
	for ; i < len(s.toks); i++ {
		if s.toks[i].kind == 'p' {
			continue
		}
		base, rest := contraction(s.at(i))
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
	said = trimHeads(said, "it ", "that ", "all ", "completely ", "just ", "simply ", "totally ")
	return wrongs[said]
}

// wrongs are what is said of what is wrong.
var wrongs = map[string]bool{"wrong": true, "incorrect": true, "false": true, "not right": true, "not true": true, "not correct": true, "not so": true,
	"not it": true, "not what i said": true, "not what i meant": true}

// calledSo are relatives whom one calls by the word alone.
var calledSo = set("mum mom mummy dad daddy grandma grandpa granny")

// deniedEvent takes "no meeting on Friday": the one known plan of that kind and day is off,
// and there is no new one. denied is false where the sentence denies nothing.
func (t *talk) deniedEvent(s sentence, whens []when) (took, denied bool) {
	for i := range s.toks {
		if !s.denies(i) {
			continue
		}
		for k := i + 1; k < min(len(s.toks), i+4); k++ {
			if _, event := eventNoun(s.at(k)); event {
				c := clause{sentence: s, whens: whens, subj: t.self, kind: 't'}
				return t.offWith(s, whens, s.at(k), t.rewrite(&c)), true
			}
		}
		return false, true
	}
	return false, false
}

// opens reports whether word i opens the clause and says nothing.
func (c *clause) opens(i int) bool {
	return i < len(c.words) && lead(c.w(i)) && !c.denies(c.words[i].tok)
}

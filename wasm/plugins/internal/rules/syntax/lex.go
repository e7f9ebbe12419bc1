// Package syntax splits English and Chinese text into words, Chinese characters and marks
// ([Token]), and into sentences and clauses ([Sentence]). It has the words of closed classes
// (pronouns, prepositions, auxiliaries) and the forms of verbs.
package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/lower"
)

// Token is a word, a number, a Chinese character or a mark.
type Token struct {
	Start, End int
	Kind       byte   // w, n (begins with a digit), c (Chinese character), p
	S          string // in lower case, with ' for ’
	Cap        bool   // begins with a capital
}

// Sentence is a run of tokens of a text; clauses are sentences too.
type Sentence struct {
	Text       string // the whole text, which spans refer to
	Toks       []Token
	Start, End int
	Ends       string // the mark that ended it
	Memo       *memo  // of its text; nil: nothing is cached
}

// memo caches what is computed from the sentences of a text and needed again. They share one.
type memo struct {
	Times any // cache of timex.TimesIn
}

// IsHan reports whether r is a Chinese character.
func IsHan(r rune) bool { return unicode.Is(unicode.Han, r) || r == '〇' }

// Lex returns the tokens of a text.
func Lex(text string) []Token { return LexWithin(text, 0, len(text)) }

// LexWithin returns the tokens from one byte of a text to another; their offsets are those in the
// whole text.
func LexWithin(text string, from, to int) []Token {
	text = text[:to]
	toks := make([]Token, 0, (to-from)/4+4)
	for i := from; i < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r) && r != '\n':
			i += n
		case r == '+' && len(PhoneIn(text[i:])) > 0: // one word, with its plus, spaces and brackets
			end := i + len(PhoneIn(text[i:]))
			toks = append(toks, Token{i, end, 'n', text[i:end], false})
			i = end
		case IsHan(r):
			toks = append(toks, Token{i, i + n, 'c', text[i : i+n], false})
			i += n
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			end, curly := i+n, false
			for end < len(text) {
				if LetterAt(text, end) {
					end++
					continue
				}
				r, n := utf8.DecodeRuneInString(text[end:])
				if IsHan(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !inner(text, end, r) {
					break
				}
				curly = curly || r == '’'
				end += n
			}
			s := lower.Of(text[i:end])
			if curly {
				s = strings.ReplaceAll(s, "’", "'")
			}
			k := byte('w')
			if unicode.IsDigit(r) {
				k = 'n'
			}
			toks = append(toks, Token{i, end, k, s, unicode.IsUpper(r)})
			i = end
		default:
			toks = append(toks, Token{i, i + n, 'p', text[i : i+n], false})
			i += n
		}
	}
	rejoin(toks, text)
	return toks
}

// inner reports whether a mark at i is inside a word or number: o'clock, well-known, 3:30, 2.5,
// a.m.
func inner(text string, i int, r rune) bool {
	switch r {
	case '\'', '’', '-', ':', '.', ',', '/':
	default:
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(text[:i])
	next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
	letter := func(r rune) bool { return unicode.IsLetter(r) && !IsHan(r) }
	switch r {
	case '\'', '’':
		return letter(prev) && letter(next)
	case '-':
		return (letter(prev) || unicode.IsDigit(prev)) && (letter(next) || unicode.IsDigit(next))
	case '.':
		return unicode.IsDigit(prev) && unicode.IsDigit(next) || (prev == 'a' || prev == 'p') && next == 'm'
	}
	return unicode.IsDigit(prev) && unicode.IsDigit(next)
}

// Sentences splits a text at . ! ? ; and line ends.
func Sentences(text string) []Sentence { return Split(text, Lex(text)) }

// Split makes sentences from the tokens of a text.
func Split(text string, toks []Token) []Sentence {
	var all []Sentence
	first, kept := 0, &memo{}
	flush := func(last int, ends string) {
		first += MarksBefore(toks[first:last])
		for last > first && picture(toks[last-1].S) {
			last--
		}
		if last > first {
			all = append(all, Sentence{text, toks[first:last], toks[first].Start, toks[last-1].End, ends, kept})
		}
	}
	for i, t := range toks {
		if t.Kind == 'p' && strings.Contains(".!?;\n。！？；", t.S) {
			if t.S == "." && i > first && i+1 < len(toks) && (Abbreviation(toks[i-1].S) || within(toks, i) || dayStop(toks, i)) {
				continue
			}
			flush(i, t.S)
			first = i + 1
		}
	}
	flush(len(toks), "")
	return all
}

// within reports whether a stop is inside a domain name: example.org.
func within(toks []Token, i int) bool {
	next := toks[i+1]
	return toks[i-1].End == toks[i].Start && next.Start == toks[i].End && next.Kind == 'w' && !next.Cap
}

// Abbreviation reports whether the stop of a word does not end a sentence.
func Abbreviation(s string) bool {
	switch s {
	case "mr", "mrs", "ms", "dr", "st", "prof", "vs", "no", "e.g", "i.e":
		return s != "no"
	}
	return false
}

// Sub returns the part of a sentence from token i up to j, which is at least i+1.
func (s Sentence) Sub(i, j int) Sentence {
	return Sentence{s.Text, s.Toks[i:j], s.Toks[i].Start, s.Toks[j-1].End, s.Ends, s.Memo}
}

// Raw returns the sentence as it is written.
func (s Sentence) Raw() string { return s.Text[s.Start:s.End] }

// At returns token i in lower case, or "" if there is none.
func (s *Sentence) At(i int) string {
	if i >= 0 && i < len(s.Toks) {
		return s.Toks[i].S
	}
	return ""
}

// Chinese reports whether most of the sentence is Chinese.
func (s Sentence) Chinese() bool {
	han, words := 0, 0
	for i, t := range s.Toks {
		switch t.Kind {
		case 'c':
			han++
		case 'w':
			if i > 0 && s.Toks[i-1].End == t.Start && (s.Toks[i-1].S == "@" || s.Toks[i-1].S == ".") {
				continue // of a mail address
			}
			words++
		}
	}
	return han > 2*words || han > words && len(s.Toks) > 0 && s.Toks[0].Kind == 'c' // 我来 review 你的 PR
}

// Clauses splits a sentence where a new statement begins: at a dash, at "but",
// "so", "and" or a comma before a subject, at Chinese commas.
func Clauses(s Sentence) []Sentence {
	var all []Sentence
	first, beside := 0, -1
	flush := func(last int) {
		if last > first {
			all = append(all, s.Sub(first, last))
		}
	}
	zh := s.Chinese()
	unmarked := zh && s.unmarkedZh()
	for i, t := range s.Toks {
		if i < first || i <= beside {
			continue
		}
		switch {
		case unmarked && s.runsOnZh(first, i):
			flush(i)
			first = i
		case t.Kind == 'p' && (t.S == "，" || t.S == "," && zh || t.S == "—" || t.S == "–" || t.S == "…" || t.S == "-" || t.S == "(" || t.S == ")"):
			flush(i)
			first = i + 1
		case (t.S == "," || t.S == "and") && s.listed(first, i):
		case (t.S == "," || t.S == "and") && s.startsAt(i+1): // "the party is on Friday, it starts at nine"
		case t.S == "," && s.BesideAt(first, i) > 0:
			beside = s.BesideAt(first, i)
		case t.S == "," && s.At(i-1) == "well" && s.At(i-2) == "," && SubjectPronoun(s.At(i+1)) && (s.At(i+2) == "did" || s.At(i+2) == "was" || s.At(i+2) == "used"): // "I live in Leeds, well, I did until May"
		case t.S == "," && s.NewClause(i+1), t.S == ":" && i > 0:
			flush(i)
			first = i + 1
		case t.S == "and" && i == first+1 && (s.At(first) == "me" || Parent[s.At(first)] && Parent[s.At(i+1)]): // "me and my sister are going", "Mum and Dad are coming"
		case t.S == "and" && s.betweenTwo(first, i): // "my brother Tom and my sister Anna live in Graz"
		case t.S == "and" && s.bothWith(first, i): // my lunch with Anna and Bob was moved
		case !(t.S == "and" && (s.At(i+1) == "i" || s.At(i+1) == "the" || s.At(i+1) == "my") && !s.verbIn(s.afterKind(first), i)) && (t.S == "and" || t.S == "but" || t.S == "so" || t.S == "because" || t.S == "though" || t.S == "although" || t.S == "while") && i > first && s.NewClause(i+1):
			end := i
			if t.S == "so" && s.At(i-1) == "just" {
				end-- // "just so you know"
			}
			flush(end)
			first = i + 1
		case t.S == "so" && s.bidsAt(first, i):
			flush(i - BoolInt(s.At(i-1) == ","))
			first = i + 1
		case t.Kind == 'w' && s.asksAt(first, i):
			flush(i)
			first = i
		}
	}
	flush(len(s.Toks))
	return all
}

// betweenTwo reports whether the "and" at token i is between two people who do something.
func (s Sentence) betweenTwo(first, i int) bool {
	for Lead(s.At(first)) && first < i {
		first++
	}
	one, two := s.PairAt(first)
	return one == i && (Verbish(s.At(two)) || s.At(two) == "both" || Adverb(s.At(two)) && Verbish(s.At(two+1)))
}

// bothWith reports whether the "and" at token i joins two names, as in "my lunch with Anna and
// Bob". No verb may come before.
func (s Sentence) bothWith(first, i int) bool {
	k := i - 1
	for k > first && s.Toks[k].Cap {
		k--
	}
	if s.At(k) != "with" || k == i-1 || i+1 >= len(s.Toks) || !s.Toks[i+1].Cap {
		return false
	}
	_, event := EventNoun(OneEvent(s.At(k - 1)))
	return event && !s.verbIn(first, k-1)
}

// startsAt reports whether "it starts at nine" or "it's at nine" is at token i.
func (s Sentence) startsAt(i int) bool {
	if s.At(i) == "and" {
		i++
	}
	verb := s.At(i + 1)
	_, hour := Number(s.At(i + 2))
	return s.At(i) == "it" && (verb == "starts" || verb == "begins") && s.At(i+2) == "at" || s.At(i) == "it's" && verb == "at" && hour && i+3 == len(s.Toks)
}

// listed reports whether token i, "and" or a comma, is between names that do something together:
// "Leo, Max and Piet are allergic to nuts".
func (s Sentence) listed(first, i int) bool {
	const most = 24 // tokens of names
	if i == first || i-first > most || !s.Toks[i-1].Cap || s.verbIn(first, i) {
		return false
	}
	joined, k := false, i
	for (s.At(k) == "," || s.At(k) == "and") && k < i+most {
		joined = joined || s.At(k) == "and"
		if k++; k == len(s.Toks) || s.Toks[k].Kind == 'p' {
			continue
		}
		if !s.Toks[k].Cap && s.At(k) != "i" || !NameWord(s.At(k)) && s.At(k) != "i" {
			return false
		}
		for k < len(s.Toks) && s.Toks[k].Cap {
			k++
		}
	}
	switch s.At(k) {
	case "is", "was", "has", "does", "'s":
		return false
	}
	return joined && (Verbish(s.At(k)) || Auxiliary(s.At(k)) || Adverb(s.At(k)))
}

// NewClause reports whether a subject and a verb begin at token i.
func (s Sentence) NewClause(i int) bool {
	for s.At(i) == "and" || s.At(i) == "but" || s.At(i) == "so" || s.At(i) == "then" || s.At(i) == "because" || s.At(i) == "," || s.At(i) == "now" {
		i++
	}
	w, next := s.At(i), s.At(i+1)
	if base, _ := Contraction(w); SubjectPronoun(base) {
		return true
	}
	switch w {
	case "my", "our", "his", "her", "their":
		return Kin(next) || Pet(next) || !s.endsAt(i+2)
	case "the", "this", "that":
		return s.VerbWithin(i+1, 5)
	case "let's":
		return s.At(i-1) == ","
	case "actually":
		base, _ := Contraction(next)
		return SubjectPronoun(base)
	case "not", "no":
		return false
	}
	if s.At(i-1) == "but" || s.At(i-1) == "then" && s.At(i-2) == "but" {
		if l, past, ing := Lemma(next); i < len(s.Toks) && s.Toks[i].Cap && NameWord(w) && l != "" && l != next && !past && !ing {
			return true // "but Janet brings doughnuts"
		}
	}
	if i < len(s.Toks) && s.Toks[i].Cap && s.At(i+1) == "and" && WeekdayOf(Singular(w), false) >= 0 {
		return false // "Mondays and Wednesdays and Jonas does the rest"
	}
	if i < len(s.Toks) && s.Toks[i].Cap {
		_, is := Contraction(w) // "Ella's in year four", and not "Ella's car"
		return s.VerbWithin(i+1, 3) || next == "is" || is == "is" && (Placing(next) || Determiner(next))
	}
	return false
}

// endsAt reports whether a noun that ends before token i is the last of its clause, but for a time or
// a place: "I sold my car and my bike on Monday".
func (s Sentence) endsAt(i int) bool {
	switch w := s.At(i); w {
	case "", ".", "yesterday", "today", "last", "again", "too":
		return true
	default:
		return Preposition(w)
	}
}

// verbIn reports whether there is a verb from token i up to j: "my colleagues
// and I" has none.
func (s Sentence) verbIn(i, j int) bool {
	for ; i < j; i++ {
		if Verbish(s.At(i)) {
			return true
		}
	}
	return false
}

// VerbWithin reports whether one of n tokens from i on, before any mark, is a verb.
func (s Sentence) VerbWithin(i, n int) bool {
	for k := i; k < min(len(s.Toks), i+n); k++ {
		if s.Toks[k].Kind == 'p' {
			return false
		}
		switch s.At(k) {
		case "is", "are", "was", "were", "has", "have", "had", "will", "works", "lives", "likes", "loves", "hates", "moved", "said", "wants", "got", "takes", "starts", "can", "does", "did", "needs":
			return true
		}
	}
	return false
}

// Preposition reports whether s is a preposition.
func Preposition(s string) bool {
	switch s {
	case "for", "to", "at", "of", "with", "in", "on", "by", "from", "about", "after", "before", "into", "near":
		return true
	}
	return false
}

// Function reports whether s is a function word, which is not the name of an event: "next meeting",
// "and dinner".
func Function(s string) bool {
	switch s {
	case "and", "or", "but", "next", "new", "another", "one", "two", "big", "small", "quick", "long", "short", "important", "first", "last", "no", "other", "same", "our", "whole", "late", "early", "nice", "little", "great", "good", "final":
		return true
	}
	return false
}

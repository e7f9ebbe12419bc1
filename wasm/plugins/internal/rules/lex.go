package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/lower"
)

// token is a word, a number, a Chinese character or a mark.
type token struct {
	start, end int
	kind       byte   // w, n (begins with a digit), c (Chinese character), p
	s          string // in lower case, with ' for ’
	cap        bool   // begins with a capital
}

// sentence is a run of tokens of a text; clauses are sentences too.
type sentence struct {
	text       string // the whole text, which spans refer to
	toks       []token
	start, end int
	ends       string // the mark that ended it
	memo       *memo  // of its text; nil: nothing is kept
}

// memo keeps what is worked out of the sentences of a text and asked for again. They share one.
type memo struct {
	times any // of [timesIn]
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) || r == '〇' }

func lex(text string) []token { return lexWithin(text, 0, len(text)) }

// lexWithin lists the tokens from one byte of a text to another; their places
// are those in the whole text.
func lexWithin(text string, from, to int) []token {
	text = text[:to]
	toks := make([]token, 0, (to-from)/4+4)
	for i := from; i < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r) && r != '\n':
			i += n
		case r == '+' && len(phoneIn(text[i:])) > 0: // one word, with its plus, spaces and brackets
			end := i + len(phoneIn(text[i:]))
			toks = append(toks, token{i, end, 'n', text[i:end], false})
			i = end
		case isHan(r):
			toks = append(toks, token{i, i + n, 'c', text[i : i+n], false})
			i += n
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			end, curly := i+n, false
			for end < len(text) {
				if letterAt(text, end) {
					end++
					continue
				}
				r, n := utf8.DecodeRuneInString(text[end:])
				if isHan(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !inner(text, end, r) {
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
			toks = append(toks, token{i, end, k, s, unicode.IsUpper(r)})
			i = end
		default:
			toks = append(toks, token{i, i + n, 'p', text[i : i+n], false})
			i += n
		}
	}
	rejoin(toks, text)
	return toks
}

// inner reports whether a mark at i stands within a word or number: o'clock,
// well-known, 3:30, 2.5, a.m.
func inner(text string, i int, r rune) bool {
	switch r {
	case '\'', '’', '-', ':', '.', ',', '/':
	default:
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(text[:i])
	next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
	letter := func(r rune) bool { return unicode.IsLetter(r) && !isHan(r) }
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

// pieceEnd is where the piece that begins at from ends: after the last
// sentence that fits, or at a word or character where none does.
func pieceEnd(text string, from int) int {
	if len(text)-from <= maxPiece {
		return len(text)
	}
	to := from + len(cut(text[from:], maxPiece))
	for _, marks := range [...]string{".!?\n。！？", " ,，"} {
		if i := strings.LastIndexAny(text[from:to], marks); i > maxPiece/2 {
			_, n := utf8.DecodeRuneInString(text[from+i:])
			return from + i + n
		}
	}
	return to
}

// sentences splits a text at . ! ? ; and line ends.
func sentences(text string) []sentence { return split(text, lex(text)) }

func split(text string, toks []token) []sentence {
	var all []sentence
	first, kept := 0, &memo{}
	flush := func(last int, ends string) {
		first += marksBefore(toks[first:last])
		for last > first && picture(toks[last-1].s) {
			last--
		}
		if last > first {
			all = append(all, sentence{text, toks[first:last], toks[first].start, toks[last-1].end, ends, kept})
		}
	}
	for i, t := range toks {
		if t.kind == 'p' && strings.Contains(".!?;\n。！？；", t.s) {
			if t.s == "." && i > first && i+1 < len(toks) && (abbreviation(toks[i-1].s) || within(toks, i) || dayStop(toks, i)) {
				continue
			}
			flush(i, t.s)
			first = i + 1
		}
	}
	flush(len(toks), "")
	return all
}

// marksBefore counts the tokens before what a sentence says: the mark of a list, a check box that is
// empty, a picture. Marks that mean something stay: quotation marks, brackets, "-5", "#42".
func marksBefore(toks []token) int {
	n := 0
	for n < len(toks) {
		switch t := toks[n]; {
		case t.kind == 'p' && !strings.Contains("\"'“”‘’«»「」『』《》()（）[]【】{}$€£¥￥@+~<&/=", t.s) &&
			(n+1 == len(toks) || toks[n+1].start > t.end || toks[n+1].kind != 'n' && t.s != "#"):
			n++
		case t.s == "[" && n+1 < len(toks) && toks[n+1].s == "]":
			n += 2
		case t.kind == 'n' && n == 0 && len(toks) > 2 && toks[1].s == ")" && toks[1].start == t.end:
			n += 2
		default:
			return n
		}
	}
	return n
}

// picture reports an emoji, or a part of one: a skin, a selector, what joins two. "20°" and
// "Locket™" keep theirs.
func picture(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x2300 && unicode.Is(unicode.So, r) || r == '\u200d' || r == '\ufe0f' || r >= 0x1f3fb && r <= 0x1f3ff
}

// within reports whether a stop stands within a name of the net: example.org.
func within(toks []token, i int) bool {
	next := toks[i+1]
	return toks[i-1].end == toks[i].start && next.start == toks[i].end && next.kind == 'w' && !next.cap
}

func abbreviation(s string) bool {
	switch s {
	case "mr", "mrs", "ms", "dr", "st", "prof", "vs", "no", "e.g", "i.e":
		return s != "no"
	}
	return false
}

func (s sentence) sub(i, j int) sentence {
	return sentence{s.text, s.toks[i:j], s.toks[i].start, s.toks[j-1].end, s.ends, s.memo}
}

func (s sentence) raw() string { return s.text[s.start:s.end] }

// at is token i in lower case; "" where there is none.
func (s *sentence) at(i int) string {
	if i >= 0 && i < len(s.toks) {
		return s.toks[i].s
	}
	return ""
}

// chinese reports whether most of the sentence is.
func (s sentence) chinese() bool {
	han, words := 0, 0
	for i, t := range s.toks {
		switch t.kind {
		case 'c':
			han++
		case 'w':
			if i > 0 && s.toks[i-1].end == t.start && (s.toks[i-1].s == "@" || s.toks[i-1].s == ".") {
				continue // of a mail address
			}
			words++
		}
	}
	return han > 2*words || han > words && len(s.toks) > 0 && s.toks[0].kind == 'c' // 我来 review 你的 PR
}

// clauses splits a sentence where a new statement begins: at a dash, at "but",
// "so", "and" or a comma before a subject, at Chinese commas.
func clauses(s sentence) []sentence {
	var all []sentence
	first, beside := 0, -1
	flush := func(last int) {
		if last > first {
			all = append(all, s.sub(first, last))
		}
	}
	zh := s.chinese()
	unmarked := zh && s.unmarkedZh()
	for i, t := range s.toks {
		if i < first || i <= beside {
			continue
		}
		switch {
		case unmarked && s.runsOnZh(first, i):
			flush(i)
			first = i
		case t.kind == 'p' && (t.s == "，" || t.s == "," && zh || t.s == "—" || t.s == "–" || t.s == "…" || t.s == "-" || t.s == "(" || t.s == ")"):
			flush(i)
			first = i + 1
		case (t.s == "," || t.s == "and") && s.listed(first, i):
		case (t.s == "," || t.s == "and") && s.startsAt(i+1): // "the party is on Friday, it starts at nine"
		case t.s == "," && s.besideAt(first, i) > 0:
			beside = s.besideAt(first, i)
		case t.s == "," && s.newClause(i+1), t.s == ":" && i > 0:
			flush(i)
			first = i + 1
		case t.s == "and" && i == first+1 && (s.at(first) == "me" || parent[s.at(first)] && parent[s.at(i+1)]): // "me and my sister are going", "Mum and Dad are coming"
		case t.s == "and" && s.bothWith(first, i): // my lunch with Anna and Bob was moved
		case !(t.s == "and" && s.at(i+1) == "i" && !s.verbIn(first, i)) && (t.s == "and" || t.s == "but" || t.s == "so" || t.s == "because" || t.s == "though" || t.s == "although" || t.s == "while") && i > first && s.newClause(i+1):
			end := i
			if t.s == "so" && s.at(i-1) == "just" {
				end-- // "just so you know"
			}
			flush(end)
			first = i + 1
		case t.s == "so" && s.bidsAt(first, i):
			flush(i - boolInt(s.at(i-1) == ","))
			first = i + 1
		case t.kind == 'w' && s.asksAt(first, i):
			flush(i)
			first = i
		}
	}
	flush(len(s.toks))
	return all
}

// bothWith reports whether the "and" at token i joins two names, as in "my lunch with Anna and Bob". No verb may stand before.
func (s sentence) bothWith(first, i int) bool {
	k := i - 1
	for k > first && s.toks[k].cap {
		k--
	}
	if s.at(k) != "with" || k == i-1 || i+1 >= len(s.toks) || !s.toks[i+1].cap {
		return false
	}
	_, event := eventNoun(oneEvent(s.at(k - 1)))
	return event && !s.verbIn(first, k-1)
}

// startsAt reports "it starts at nine" or "it's at nine" at token i.
func (s sentence) startsAt(i int) bool {
	if s.at(i) == "and" {
		i++
	}
	verb := s.at(i + 1)
	_, hour := number(s.at(i + 2))
	return s.at(i) == "it" && (verb == "starts" || verb == "begins") && s.at(i+2) == "at" || s.at(i) == "it's" && verb == "at" && hour && i+3 == len(s.toks)
}

// listed reports whether token i, "and" or a comma, stands between names that do something together: "Leo, Max and Piet
// are allergic to nuts".
func (s sentence) listed(first, i int) bool {
	const most = 24 // tokens of names
	if i == first || i-first > most || !s.toks[i-1].cap || s.verbIn(first, i) {
		return false
	}
	joined, k := false, i
	for (s.at(k) == "," || s.at(k) == "and") && k < i+most {
		joined = joined || s.at(k) == "and"
		if k++; k == len(s.toks) || s.toks[k].kind == 'p' {
			continue
		}
		if !s.toks[k].cap && s.at(k) != "i" || !nameWord(s.at(k)) && s.at(k) != "i" {
			return false
		}
		for k < len(s.toks) && s.toks[k].cap {
			k++
		}
	}
	switch s.at(k) {
	case "is", "was", "has", "does", "'s":
		return false
	}
	return joined && (verbish(s.at(k)) || auxiliary(s.at(k)) || adverb(s.at(k)))
}

// newClause reports whether a subject and a verb begin at token i.
func (s sentence) newClause(i int) bool {
	for s.at(i) == "and" || s.at(i) == "but" || s.at(i) == "so" || s.at(i) == "then" || s.at(i) == "because" || s.at(i) == "," || s.at(i) == "now" {
		i++
	}
	w, next := s.at(i), s.at(i+1)
	if base, _ := contraction(w); subjectPronoun(base) {
		return true
	}
	switch w {
	case "my", "our", "his", "her", "their":
		return true
	case "the", "this", "that":
		return s.verbWithin(i+1, 5)
	case "not", "no":
		return false
	}
	if s.at(i-1) == "but" || s.at(i-1) == "then" && s.at(i-2) == "but" {
		if l, past, ing := lemma(next); i < len(s.toks) && s.toks[i].cap && nameWord(w) && l != "" && l != next && !past && !ing {
			return true // "but Janet brings doughnuts"
		}
	}
	if i < len(s.toks) && s.toks[i].cap {
		return s.verbWithin(i+1, 3) || next == "is"
	}
	return false
}

// verbIn reports whether there is a verb from token i up to j: "my colleagues
// and I" has none.
func (s sentence) verbIn(i, j int) bool {
	for ; i < j; i++ {
		if verbish(s.at(i)) {
			return true
		}
	}
	return false
}

func (s sentence) verbWithin(i, n int) bool {
	for k := i; k < min(len(s.toks), i+n); k++ {
		if s.toks[k].kind == 'p' {
			return false
		}
		switch s.at(k) {
		case "is", "are", "was", "were", "has", "have", "had", "will", "works", "lives", "likes", "loves", "hates", "moved", "said", "wants", "got", "takes", "starts", "can", "does", "did", "needs":
			return true
		}
	}
	return false
}

func preposition(s string) bool {
	switch s {
	case "for", "to", "at", "of", "with", "in", "on", "by", "from", "about", "after", "before", "into", "near":
		return true
	}
	return false
}

// function words are no name of an event: "next meeting", "and dinner".
func function(s string) bool {
	switch s {
	case "and", "or", "but", "next", "new", "another", "one", "two", "big", "small", "quick", "long", "short", "important", "first", "last", "no", "other", "same", "our", "whole", "late", "early", "nice", "little", "great", "good", "final":
		return true
	}
	return false
}

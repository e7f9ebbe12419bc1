// Package mark finds places where a text can be written in two ways with the same meaning, and
// finds out from a text whose copy it was. It seals nothing; package bundle does.
//
// The words:
//
//   - A spot is a place of a text where either of two forms may be: "usually" or
//     "normally", "don't" or "do not", "3" or "three", a full stop at the end or none.
//   - A copy has one form at each spot. Which one is a bit of the order for which it was
//     delivered.
//   - A mark is all bits of a copy. The bits of two orders are independent, and each is
//     0 or 1 with the same probability, for anybody without the seller's key.
//
// Everything here is a pure function of its arguments. Values are safe for concurrent
// reading.
package mark

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a bundle's spots, and of a form.
const (
	MinSpots  = 64  // with fewer, a bundle is not marked, because two thirds of a copy would identify nobody
	Robust    = 144 // from this number on, two thirds of a copy with a tenth of its words changed identify its order, out of a hundred
	MaxSpots  = 512 // of a bundle, as trade.MaxMarks
	MaxInItem = 16
	MaxForm   = 31 // bytes
)

// Spot is a place with either of two forms.
type Spot struct {
	At    int       // offset in bytes in the text without the forms at its spots
	Forms [2]string // either may be empty
	Was   int       // index of the form that the text had
}

// Text is a text, split into the parts between its spots, and the spots in their order.
type Text struct {
	Rest  string
	Spots []Spot
}

// WithForms returns the text with the form bit(i) at each spot i.
func (t *Text) WithForms(bit func(i int) int) string {
	var b strings.Builder
	from := 0
	for i, s := range t.Spots {
		b.WriteString(t.Rest[from:s.At])
		b.WriteString(s.Forms[bit(i)])
		from = s.At
	}
	b.WriteString(t.Rest[from:])
	return b.String()
}

// Original returns the original text.
func (t *Text) Original() string { return t.WithForms(func(i int) int { return t.Spots[i].Was }) }

// Without returns the text with spot i fixed to its original form.
func (t *Text) Without(i int) Text {
	s := t.Spots[i]
	was := s.Forms[s.Was]
	out := Text{Rest: t.Rest[:s.At] + was + t.Rest[s.At:], Spots: slices.Delete(slices.Clone(t.Spots), i, i+1)}
	for j := i; j < len(out.Spots); j++ {
		out.Spots[j].At += len(was)
	}
	return out
}

// RevealsSpot reports whether another text also has a word of a spot with the words around it, and so
// would show what the spot was.
func (t *Text) RevealsSpot(i int, other string) bool {
	s := t.Spots[i]
	was := s.Forms[s.Was]
	if was == "" || len(tokens(was)) == 0 {
		return false
	}
	all, n := tokens(t.Original()), len(tokens(was))
	from := 0
	for j := range i {
		from += len(t.Spots[j].Forms[t.Spots[j].Was])
	}
	at, _ := slices.BinarySearchFunc(all, s.At+from, func(w token, at int) int { return w.from - at })
	phrase := words(all[max(0, at-1):min(len(all), at+n+1)])
	return strings.Contains(words(tokens(other)), phrase)
}

// words joins tokens, with spaces around each.
func words(ts []token) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteByte(' ')
		b.WriteString(t.word)
	}
	b.WriteByte(' ')
	return b.String()
}

// token is a word, or one character of Chinese, in lower case.
type token struct {
	word     string
	from, to int // bytes
}

// tokens returns the words of a text. An apostrophe separates two words, so that "don't" has as
// many as "do not".
func tokens(s string) (out []token) {
	word := -1
	end := func(at int) {
		if word >= 0 {
			out = append(out, token{strings.ToLower(s[word:at]), word, at})
		}
		word = -1
	}
	for i, r := range s {
		switch {
		case unicode.Is(unicode.Han, r):
			end(i)
			out = append(out, token{string(r), i, i + utf8.RuneLen(r)})
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if word < 0 {
				word = i
			}
		default:
			end(i)
		}
	}
	end(len(s))
	return out
}

// Find returns the first [MaxInItem] spots of a text.
func Find(text string) Text {
	var t Text
	at := 0 // the end of what is already in t.Rest
	add := func(from, to, was int, forms [2]string) {
		t.Rest += text[at:from]
		t.Spots = append(t.Spots, Spot{At: len(t.Rest), Forms: forms, Was: was})
		at = to
	}
	ts := tokens(text)
	for i := 0; i < len(ts) && len(t.Spots) < MaxInItem; {
		n, was, forms := spotAt(text, ts, i)
		if n > 0 && len(forms[0]) <= MaxForm && len(forms[1]) <= MaxForm {
			add(ts[i].from, ts[i+n-1].to, was, forms)
			i += n
			continue
		}
		i++
	}
	if from, was, forms := stopOf(text, ts); len(t.Spots) < MaxInItem && from >= at && forms[1] != "" {
		add(from, from+len(forms[was]), was, forms)
	}
	t.Rest += text[at:]
	return t
}

// short are abbreviations that end with a full stop.
var short = strings.Fields("etc inc co corp ltd jr sr st mr mrs ms dr prof vs approx no nr dept fig vol")

// plainEnd reports whether a text ends in a plain word, and not in a link, address, number or code.
func plainEnd(text string, last token) bool {
	word := text[strings.LastIndexFunc(text[:last.to], unicode.IsSpace)+1 : last.to]
	if strings.ContainsAny(word, "/@_#:.\\=&%+*~|<>") || strings.ContainsFunc(text[last.from:last.to], unicode.IsDigit) {
		return false
	}
	_, size := utf8.DecodeRuneInString(last.word)
	rest := text[last.from:last.to][size:]
	return rest == strings.ToLower(rest)
}

// stopOf finds the full stop at the end of a text, or the place where it may be.
func stopOf(text string, ts []token) (from, was int, forms [2]string) {
	if len(ts) < 3 {
		return 0, 0, forms
	}
	last := ts[len(ts)-1]
	chinese := unicode.Is(unicode.Han, []rune(last.word)[0])
	if chinese {
		forms[1] = "。"
	} else {
		forms[1] = "."
	}
	if !chinese && (len(last.word) == 1 || slices.Contains(short, last.word)) || !plainEnd(text, last) { // "5 p.m."
		return 0, 0, [2]string{}
	}
	switch text[last.to:] {
	case "":
		return last.to, 0, forms
	case forms[1]:
		return last.to, 1, forms
	}
	return 0, 0, [2]string{}
}

// spotAt returns the spot that begins with token i, and its number of tokens; n is 0 if there is
// none.
func spotAt(text string, ts []token, i int) (n, was int, forms [2]string) {
	for _, p := range pairs[ts[i].word] {
		if n := p.fits(text, ts, i); n > 0 {
			raw := text[ts[i].from:ts[i+n-1].to]
			other, ok := inCaseOf(raw, p.to)
			if !ok {
				continue
			}
			forms[p.was], forms[1-p.was] = raw, other
			return n, p.was, forms
		}
	}
	return numberAt(text, ts, i)
}

// inCaseOf writes a form in the case of another: with an initial capital if that has one. It fails
// if that has other capitals.
func inCaseOf(raw, form string) (string, bool) {
	first, size := utf8.DecodeRuneInString(raw)
	if !unicode.IsUpper(first) {
		return form, raw == strings.ToLower(raw)
	}
	if rest := raw[size:]; rest != strings.ToLower(rest) {
		return "", false
	}
	f, size := utf8.DecodeRuneInString(form)
	return string(unicode.ToUpper(f)) + form[size:], true
}

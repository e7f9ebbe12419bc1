package greedy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is what the models see of a word: hashes of its letters.
type Word struct {
	low    uint32    // the word in lower case, digits as 0
	suffix [4]uint32 // its last letters, 1 to 4
	prefix [3]uint32 // its first letters, 1 to 3
	shape  uint32    // capitals, digits, marks
	lex    uint32    // what a lexicon says of it, 0 if nothing
}

const (
	shapeUpper = 1 << iota
	shapeAllUpper
	shapeDigit
	shapeAllDigit
	shapeHyphen
	shapeMark
	shapeNoLetter
)

// NewWord looks at a form; lex is what a lexicon says of it, 0 if nothing.
func NewWord(form string, lex uint32) Word {
	low := Fold(form)
	w := Word{low: Text(low), lex: lex}
	end := len(low)
	for i := range w.suffix {
		if end == 0 {
			break
		}
		_, n := utf8.DecodeLastRuneInString(low[:end])
		end -= n
		w.suffix[i] = Text(low[end:])
	}
	at := 0
	for i := range w.prefix {
		if at == len(low) {
			break
		}
		_, n := utf8.DecodeRuneInString(low[at:])
		at += n
		w.prefix[i] = Text(low[:at])
	}
	letters, upper, digits, runes := 0, 0, 0, 0
	for i, r := range form {
		runes++
		switch {
		case unicode.IsUpper(r):
			letters++
			upper++
			if i == 0 {
				w.shape |= shapeUpper
			}
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case r == '-':
			w.shape |= shapeHyphen
		default:
			w.shape |= shapeMark
		}
	}
	if upper == letters && upper > 1 {
		w.shape |= shapeAllUpper
	}
	if digits > 0 {
		w.shape |= shapeDigit
		if digits == runes {
			w.shape |= shapeAllDigit
		}
	}
	if letters == 0 {
		w.shape |= shapeNoLetter
	}
	w.shape |= min(uint32(runes), 7) << 8
	return w
}

// Fold brings a form to what its spellings have in common: lower case, one
// digit for all, one apostrophe.
func Fold(form string) string {
	plain := true
	for i := range len(form) {
		if c := form[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || '1' <= c && c <= '9' || c == '`' {
			plain = false
			break
		}
	}
	if plain {
		return form
	}
	return strings.Map(func(r rune) rune {
		switch {
		case '1' <= r && r <= '9':
			return '0'
		case r == '’', r == '‘', r == '`':
			return '\''
		case r == '“', r == '”':
			return '"'
		}
		return unicode.ToLower(r)
	}, form)
}

// Apostrophe spells every apostrophe the same.
func Apostrophe(form string) string {
	return strings.Map(func(r rune) rune {
		if r == '’' || r == '‘' || r == '`' {
			return '\''
		}
		return r
	}, form)
}

package secrets

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/lower"
)

// token is a word, a number, one Chinese character, or a mark.
type token struct {
	start, end int
	kind       byte   // w: letters; n: digits, with - or . or / inside; x: a mixture; c: Chinese character; p: mark
	s          string // as written, in lower case and with simplified characters
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) || r == '〇' }

func isMark(r rune) bool {
	switch r {
	case ',', ';', '"', '(', ')', '[', ']', '{', '}', '“', '”', '‘', '「', '」', '《', '》', '，', '。', '！', '？', '；', '：', '、', '…', '—', '–', '\n':
		return true
	}
	return false
}

// lex splits text into tokens. A run without spaces is one token, without the marks at
// its end: tulip-42-harbor, sk-a1b2. "password:x" and "password=x" are split, and so is
// "'s".
func lex(text string) []token {
	toks := make([]token, 0, len(text)/4+4)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || isMark(r):
			toks = append(toks, token{i, i + n, 'p', text[i : i+n]})
			i += n
		case unicode.IsSpace(r):
			i += n
		case isHan(r):
			toks = append(toks, token{i, i + n, 'c', hans.Fold(text[i : i+n])})
			i += n
		default:
			end := i
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if unicode.IsSpace(r) || isMark(r) || isHan(r) {
					break
				}
				end += n
			}
			toks = lexRun(toks, text, i, end)
			i = end
		}
	}
	return toks
}

// lexRun splits a run of other characters into head, "'s" and marks at its end.
func lexRun(toks []token, text string, start, end int) []token {
	for { // "pin:4821", "a=b": a name, its mark, and the rest
		run := text[start:end]
		k := strings.IndexAny(run, "=:")
		if k < 2 || strings.HasPrefix(run[k:], "://") || !allLetters(run[:k]) {
			break
		}
		toks = append(toks, token{start, start + k, kindOf(run[:k]), lower.Of(run[:k])}, token{start + k, start + k + 1, 'p', run[k : k+1]})
		if start += k + 1; start == end {
			return toks
		}
	}
	tail := end
	for tail > start && strings.IndexByte(".,!?:;'=", text[tail-1]) >= 0 {
		tail--
	}
	for head := start; head < tail && text[head] == '\''; head++ {
		toks = append(toks, token{head, head + 1, 'p', "'"})
		start++
	}
	word := text[start:tail]
	for _, s := range [...]string{"'s", "’s"} {
		if w, ok := strings.CutSuffix(word, s); ok && w != "" {
			toks = append(toks, token{start, start + len(w), kindOf(w), lower.Of(w)})
			start, word = start+len(w), ""
			toks = append(toks, token{start, tail, 'w', "'s"})
			break
		}
	}
	if word != "" {
		toks = append(toks, token{start, tail, kindOf(word), lower.Of(word)})
	}
	for ; tail < end; tail++ {
		toks = append(toks, token{tail, tail + 1, 'p', text[tail : tail+1]})
	}
	return toks
}

// spells reports whether the tokens from i on are the characters of a word.
func spells(toks []token, i int, word string) bool {
	for from := i; word != ""; i++ {
		if i >= len(toks) || i > from && toks[i].start != toks[i-1].end {
			return false
		}
		rest, ok := strings.CutPrefix(word, toks[i].s)
		if !ok {
			return false
		}
		word = rest
	}
	return true
}

func allLetters(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && r != '_' {
			return false
		}
	}
	return s != ""
}

func kindOf(s string) byte {
	letters, digits, other := false, false, false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || r == '\'' || r == '’':
			letters = true
		case r >= '0' && r <= '9':
			digits = true
		case r == '-' || r == '.' || r == '/' || r == ':' || r == ',':
		default:
			other = true
		}
	}
	switch {
	case letters && !digits && !other:
		return 'w'
	case digits && !letters && !other:
		return 'n'
	case letters || digits:
		return 'x'
	}
	return 'p'
}

func digitsOf(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			b = append(b, s[i])
		}
	}
	return string(b)
}

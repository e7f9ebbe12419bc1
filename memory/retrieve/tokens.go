package retrieve

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a language model counts in s: a token for
// every four bytes, rounded up, and one for each Chinese, Japanese or Korean
// character, whose three bytes are a token to most models and not three
// quarters of one. It errs on the high side for English by some 5 %, and for
// Chinese by up to a half with tokenizers that know many of its words.
func Tokens(s string) int { return of(s).tokens() }

// extent is how much text there is: characters of Chinese, Japanese and
// Korean, their punctuation included, and bytes of everything else.
type extent struct{ wide, bytes int }

func (e extent) tokens() int { return e.wide + (e.bytes+3)/4 }

func (e extent) plus(o extent) extent { return extent{e.wide + o.wide, e.bytes + o.bytes} }

func (e extent) minus(o extent) extent { return extent{e.wide - o.wide, e.bytes - o.bytes} }

func of(s string) (e extent) {
	for _, r := range s {
		if r < utf8.RuneSelf {
			e.bytes++
		} else if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef {
			e.wide++
		} else {
			e.bytes += utf8.RuneLen(r)
		}
	}
	return e
}

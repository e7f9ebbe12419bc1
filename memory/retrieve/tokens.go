package retrieve

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a language model counts in s: one for every four bytes, rounded
// up, and one for each Chinese, Japanese or Korean character, whose three bytes are a whole token
// for most models. The estimate is about 5 % too high for English, and up to a half too high for
// Chinese with tokenizers that know many of its words.
func Tokens(s string) int { return extentOf(s).tokens() }

// extent is a length of text: the number of Chinese, Japanese and Korean characters, including
// their punctuation, and the bytes of everything else.
type extent struct{ wide, bytes int }

func (e extent) tokens() int { return e.wide + (e.bytes+3)/4 }

func (e extent) plus(o extent) extent { return extent{e.wide + o.wide, e.bytes + o.bytes} }

func (e extent) minus(o extent) extent { return extent{e.wide - o.wide, e.bytes - o.bytes} }

func extentOf(s string) (e extent) {
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

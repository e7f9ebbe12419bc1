// Package hans reads traditional Chinese characters as simplified ones, so that what is written in
// one script is found, and understood, in the other.
//
// The words:
//
//   - A folded text has simplified characters in place of the traditional ones. Both are three bytes
//     in UTF-8, so an offset in the folded text is the same offset in the original.
//   - Folding is for comparison only. What is shown keeps the characters of whoever wrote it: see
//     [Said].
//
// The table is that of OpenCC: see LICENSE.md. It has the characters that have one usual simplified
// form, of three bytes. A few need the characters beside them: see beside.
package hans

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// All characters of the table are between these.
const (
	first = 0x4e00
	last  = 0x9fff
)

type table [last - first + 1]uint16

var load = sync.OnceValue(func() *table {
	t := new(table)
	at := first
	for b := packed; len(b) > 2; b = b[2:] {
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			at += int(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
		t[at-first] = uint16(b[0])<<8 | uint16(b[1])
	}
	for _, v := range [...]string{"妳你", "牠它", "祂他", "衞卫"} { // of Taiwan and Hong Kong; OpenCC keeps them
		r, _ := utf8.DecodeRuneInString(v)
		s, _ := utf8.DecodeLastRuneInString(v)
		t[r-first] = uint16(s)
	}
	return t
})

// Rune returns the simplified form of a character, or the character itself.
func Rune(r rune) rune {
	if r < first || r > last {
		return r
	}
	if s := load()[r-first]; s != 0 {
		return rune(s)
	}
	return r
}

// Has reports whether a text has a traditional character.
func Has(s string) bool { return index(s) >= 0 }

// index returns the offset of the first traditional character, or -1.
func index(s string) int {
	var t *table
	for i := range len(s) {
		if s[i] < 0xe4 || s[i] > 0xe9 || i+2 >= len(s) { // no character from U+4E00 to U+9FFF begins here
			continue
		}
		if t == nil {
			t = load()
		}
		if r, n := utf8.DecodeRuneInString(s[i:]); n == 3 && r >= first && r <= last && t[r-first] != 0 {
			return i
		}
	}
	return -1
}

// Fold returns a text with simplified characters. All bytes keep their places. A text without
// traditional characters is returned as it is.
func Fold(s string) string {
	i := index(s)
	if i < 0 {
		return s
	}
	t, b := load(), []byte(s)
	for ; i+2 < len(b); i++ {
		if b[i] < 0xe4 || b[i] > 0xe9 {
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if n == 3 && r >= first && r <= last {
			if v := t[r-first]; v != 0 {
				utf8.EncodeRune(b[i:], rune(v))
			}
			i += 2
		}
	}
	if strings.ContainsAny(s, sometimes) {
		beside(b)
	}
	return string(b)
}

// sometimes are characters that stand in simplified texts, too, where they mean something else:
// 著名, 乾隆, 慰藉, 瞭望.
const sometimes = "著乾甚瞭藉"

// beside folds these characters in a text that has others of the traditional script.
func beside(b []byte) {
	before := rune(0)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		next, _ := utf8.DecodeRune(b[i+n:])
		has := func(list string, r rune) bool { return strings.ContainsRune(list, r) }
		switch {
		case r == '著' && !has("名作述称者录书", next) && !has("名显原专论土编巨合拙遗译卓昭", before):
			r = '着'
		case r == '乾' && (has("净燥杯脆洗货旱粮衣涸酪电爹妈儿女哥", next) || has("饼晒烘擦吹弄肉豆风萄笋晾", before)):
			r = '干'
		case r == '甚' && next == '么':
			r = '什'
		case r == '瞭' && next != '望':
			r = '了'
		case r == '藉' && (has("由此口着机", next) || before == '凭'):
			r = '借'
		}
		if r >= first && r <= last {
			utf8.EncodeRune(b[i:], r)
		}
		before = r
		i += n
	}
}

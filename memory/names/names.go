// Package names compares the names of people, places and things: without case
// and accents, and a Chinese name with what it is in pinyin.
//
// The words:
//
//   - A folded name is in lower case, narrow, without accents, in simplified
//     characters, with one space between its words.
//   - A key is a folded name as one word, by which it may be met in either
//     script: 张伟 and "Zhang Wei" share the key "zhangwei", and so do
//     "Wei Zhang" and "zhang-wei".
//
// Two people may share a key, such as 张伟 and 张威, so a key only says who may be
// meant.
package names

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
)

//go:embed pinyin.txt
var pinyinText string

// MaxName is the greatest length of a name, in bytes: a longer text is not a name.
const MaxName = 96

// Pinyin returns the syllable of a character that is used in names, without its tone and with u for
// ü; it is empty if the character is not known.
func Pinyin(r rune) string { return table()[r] }

var table = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for line := range strings.Lines(pinyinText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		syllable, list, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, r := range list {
			if _, ok := m[r]; !ok {
				m[r] = strings.ReplaceAll(syllable, "ü", "u")
			}
		}
	}
	return m
})

// Fold returns the form in which names are compared. It is empty if s is not a name: it has no
// letter or digit, or is longer than MaxName.
func Fold(s string) string {
	if len(s) > 4*MaxName {
		return ""
	}
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			letter := Letter(unicode.ToLower(hans.Rune(r)))
			if letter == "" { // a mark that no word begins with
				continue
			}
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteString(letter)
		case r == '\'' || r == '’':
		default:
			gap = true
		}
	}
	if b.Len() > MaxName {
		return ""
	}
	return b.String()
}

// Keys returns the distinct keys of a folded name: the name as it is and, for two or more words,
// also with the first word moved to the end and the last to the front, because family names may
// come first or last.
func Keys(folded string) []string {
	if folded == "" {
		return nil
	}
	if han(folded) {
		return hanKeys(folded)
	}
	words := strings.Fields(folded)
	out := []string{strings.Join(words, "")}
	if len(words) > 1 {
		add := func(s string) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		add(strings.Join(words[1:], "") + words[0])
		add(words[len(words)-1] + strings.Join(words[:len(words)-1], ""))
	}
	return out
}

// hanKeys returns the keys of a Chinese name: the name itself and, if every character has one, its
// pinyin. Two to four characters are a person's name.
func hanKeys(s string) []string {
	s = strings.ReplaceAll(s, " ", "")
	out := []string{s}
	r := []rune(s)
	if len(r) < 2 || len(r) > 4 {
		return out
	}
	var b strings.Builder
	for _, c := range r {
		p := Pinyin(c)
		if p == "" {
			return out
		}
		b.WriteString(p)
	}
	return append(out, b.String())
}

func han(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// Letter removes the accent of a lower-case letter of Latin-1 or Latin Extended-A, and makes
// full-width letters narrow. For a combining accent (U+0300 to U+036F, as in NFD) it returns the
// empty string.
func Letter(r rune) string {
	if r < 0x80 {
		return string(r)
	}
	if r >= 0x300 && r <= 0x36f {
		return ""
	}
	if r >= 0xff01 && r <= 0xff5e {
		return string(unicode.ToLower(r - 0xfee0))
	}
	if i := strings.IndexRune(accented, r); i >= 0 {
		n := 0
		for range accented[:i] {
			n++
		}
		return string(plain[n])
	}
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	}
	return string(r)
}

const (
	accented = "àáâãäåāăąçćĉċčďđèéêëēĕėęěĝğġģĥħìíîïĩīĭįıĵķĺļľŀłñńņňòóôõöøōŏőŕŗřśŝşšţťŧùúûüũūŭůűųŵýÿŷźżžǎǐǒǔǚǜǘǖ"
	plain    = "aaaaaaaaacccccddeeeeeeeeegggghhiiiiiiiiijklllllnnnnooooooooorrrsssstttuuuuuuuuuuwyyyzzzaiouuuuu"
)

// Readings returns the ways to read letters as the pinyin of two to four characters: for each way,
// the characters that each syllable may be. It returns at most four ways.
func Readings(letters string) [][][]rune {
	var out [][][]rune
	chars := syllables()
	var read func(rest string, way [][]rune)
	read = func(rest string, way [][]rune) {
		if rest == "" && len(way) > 1 && len(out) < 4 {
			out = append(out, slices.Clone(way))
		}
		if len(way) == 4 || len(out) == 4 {
			return
		}
		for n := min(6, len(rest)); n > 0; n-- {
			if c := chars[rest[:n]]; c != nil {
				read(rest[n:], append(way, c))
			}
		}
	}
	if len(letters) <= 24 {
		read(letters, nil)
	}
	return out
}

var syllables = sync.OnceValue(func() map[string][]rune {
	m := map[string][]rune{}
	for r, s := range table() {
		m[s] = append(m[s], r)
	}
	for _, l := range m {
		slices.Sort(l)
	}
	return m
})

package syntax

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// Each pair of characters of simplified.txt is a traditional one and its
// simplified form, after OpenCC's TSCharacters.
//
//go:embed simplified.txt
var pairs string

var simple = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune, len(pairs)/6)
	var from rune
	for _, r := range strings.TrimSuffix(pairs, "\n") {
		if from == 0 {
			from = r
		} else {
			m[from], from = r, 0
		}
	}
	return m
})

// Simplified writes a text in simplified characters, one for one.
func Simplified(s string) string {
	m := simple()
	return strings.Map(func(r rune) rune {
		if to, ok := m[r]; ok {
			return to
		}
		return r
	}, s)
}

// A dictionary's words, as a hash table of 3 bytes a place: 2 of the word's
// hash, and its class from 1. It is made of jieba's dictionary, as gse ships it.
//
//go:embed weights/words.bin
var dictionary string

// WordBits says how many places the dictionary has, as a power of 2.
const WordBits = 17

// WordPlace is where a word is looked for first, and what is kept of it.
func WordPlace(word string) (place int, check uint16) {
	h := greedy.Text(word) * 0x9E3779B1
	return int(h >> (32 - WordBits)), uint16(h)
}

// class is what the dictionary says of a word, 0 if it doesn't know it.
func class(word string) uint32 {
	at, check := WordPlace(word)
	for {
		p := 3 * at
		if dictionary[p+2] == 0 {
			return 0
		}
		if uint16(dictionary[p])|uint16(dictionary[p+1])<<8 == check {
			return uint32(dictionary[p+2])
		}
		at = (at + 1) & (1<<WordBits - 1)
	}
}

// longestWord is how many characters a word of the dictionary has at most.
const longestWord = 4

// ChineseWord is what the models see of a word in simplified characters.
func ChineseWord(word string) greedy.Word { return greedy.NewWord(word, class(word)) }

// wide is a mark as Chinese print has it; talk is typed with narrow ones too.
func wide(word string) string {
	if len(word) == 1 {
		if i := strings.IndexByte(",.?!:;()", word[0]); i >= 0 {
			return "，。？！：；（）"[3*i : 3*i+3]
		}
	}
	return word
}

// The segmenter tells of each character where in its word it stands.
const (
	begins = iota
	inside
	ends
	alone
	segmentTags
)

// Characters cuts a text in simplified characters into what words are made of: Han
// characters one by one, letters and digits in runs, marks. Words says what
// the segmenter sees of each.
func Characters(text string) (spans []Span, words []greedy.Word) {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			at += n
			continue
		}
		stop := at + n
		if kind := runOf(r); kind != 0 {
			for stop < len(text) {
				r, n := utf8.DecodeRuneInString(text[stop:])
				if runOf(r) != kind && !((r == '.' || r == ':') && kind == 2 && stop+n < len(text) && isDigit(text[stop+n])) {
					break
				}
				stop += n
			}
		}
		spans = append(spans, Span{at, stop})
		at = stop
	}
	words = make([]greedy.Word, len(spans))
	starts, stops, middles := make([]uint32, len(spans)), make([]uint32, len(spans)), make([]uint32, len(spans))
	kinds := make([]uint32, len(spans))
	for i := range spans {
		if !isHan(text, spans[i]) {
			continue
		}
		for n := 2; n <= longestWord && i+n <= len(spans) && isHan(text, spans[i+n-1]) && spans[i+n-1].Start == spans[i+n-2].End; n++ {
			c := class(text[spans[i].Start:spans[i+n-1].End])
			if c == 0 {
				continue
			}
			starts[i], kinds[i] = uint32(n), c
			stops[i+n-1] = max(stops[i+n-1], uint32(n))
			for k := i + 1; k < i+n-1; k++ {
				middles[k] = max(middles[k], uint32(n))
			}
		}
	}
	for i, s := range spans {
		words[i] = greedy.NewWord(text[s.Start:s.End], 1+starts[i]+8*stops[i]+64*middles[i])
	}
	return spans, words
}

// runOf tells letters (1) and digits (2), of which runs are one, from what stands alone (0).
func runOf(r rune) int {
	switch {
	case unicode.Is(unicode.Han, r):
		return 0
	case unicode.IsDigit(r):
		return 2
	case unicode.IsLetter(r):
		return 1
	}
	return 0
}

func isHan(text string, s Span) bool {
	r, _ := utf8.DecodeRuneInString(text[s.Start:])
	return unicode.Is(unicode.Han, r)
}

// Joins says whether the segmenter may put a character to the one before it.
func joins(text string, spans []Span, i int) bool {
	return i > 0 && spans[i-1].End == spans[i].Start && isHan(text, spans[i-1]) && isHan(text, spans[i])
}

// cutChinese cuts a text into sentences and those into words.
func (r *Reader) cutChinese(text string) [][]Span {
	var out [][]Span
	for at := 0; at < len(text); {
		stop := at
		for stop < len(text) {
			c, n := utf8.DecodeRuneInString(text[stop:])
			stop += n
			if c == '\n' || strings.ContainsRune("。！？!?；;", c) {
				// What closes belongs to the sentence.
				for stop < len(text) {
					c, n := utf8.DecodeRuneInString(text[stop:])
					if !strings.ContainsRune("。！？!?”’」』）)", c) {
						break
					}
					stop += n
				}
				break
			}
		}
		if list := r.cutWords(text[at:stop]); len(list) > 0 {
			for i := range list {
				list[i].Start += at
				list[i].End += at
			}
			out = append(out, list)
		}
		at = stop
	}
	return out
}

func (r *Reader) cutWords(text string) []Span {
	plain := Simplified(text)
	if len(plain) != len(text) { // a character beyond the basic plane: its place would be wrong
		plain = text
	}
	spans, chars := Characters(plain)
	for i, s := range spans {
		if w := plain[s.Start:s.End]; wide(w) != w {
			chars[i] = greedy.NewWord(wide(w), 1)
		}
	}
	r.tags = append(r.tags[:0], make([]uint8, len(chars))...)
	r.segment.Tag(chars, r.tags)
	var list []Span
	for i, s := range spans {
		if joins(plain, spans, i) && (r.tags[i] == inside || r.tags[i] == ends) {
			list[len(list)-1].End = s.End
		} else {
			list = append(list, s)
		}
	}
	return list
}

// SegmentTags gives the segmenter's tags for words that are known.
func SegmentTags(spans, words []Span) []uint8 {
	tags := make([]uint8, len(spans))
	k := 0
	for i, s := range spans {
		for k < len(words) && words[k].End <= s.Start {
			k++
		}
		first := k < len(words) && words[k].Start == s.Start
		last := k < len(words) && words[k].End == s.End
		switch {
		case first && last:
			tags[i] = alone
		case first:
			tags[i] = begins
		case last:
			tags[i] = ends
		default:
			tags[i] = inside
		}
	}
	return tags
}

// Package language detects the language of a line, so that later extractors
// need not. A script of one language is enough by itself. Among languages of
// the Latin script, common small words decide, and letters that few languages
// have. A line that shows neither ("Rufus", "42") gets no answer rather than a
// guess.
package language

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// Version of the extractor, as its manifest says.
const Version = "1.0.0"

// maxRead is how many bytes of a text are read: more would not change the
// answer.
const maxRead = 4 << 10

// minShare is the share of a line's letters that a second language must have to be
// reported.
const minShare = 0.2

// Extract annotates the line with its language, or with two, the one with the larger share first:
// kind "language", as text the BCP 47 tag, as number its share of the letters. It returns no
// error.
func Extract(ev *abi.Event, out *abi.Output) error {
	for _, g := range Detect(ev.Text) {
		out.Annotations = append(out.Annotations, abi.Annotation{Kind: "language", Text: g.Tag, Number: g.Share})
	}
	return nil
}

// Guess is a language of a text, and its share of the text.
type Guess struct {
	Tag   string  // BCP 47
	Share float64 // share of the letters; a Chinese character counts as three
}

// Detect returns the languages of a text, at most two, the one with the larger share first; none if
// nothing shows it.
func Detect(text string) []Guess {
	scripts := map[string]int{}
	var words []string
	var word strings.Builder
	latin := 0
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for i, r := range text {
		if i >= maxRead {
			break
		}
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
			word.WriteRune(r)
			continue
		case (r == '\'' || r == '’') && word.Len() > 0:
			word.WriteByte('\'')
			continue
		}
		flush()
		if tag, weight := scriptOf(r); tag != "" {
			scripts[tag] += weight
		}
	}
	flush()
	settleScripts(scripts, text[:min(len(text), maxRead)])
	if tag := latinOf(words); tag != "" {
		scripts[tag] += latin
	}
	total := 0
	for _, n := range scripts {
		total += n
	}
	var all []Guess
	for tag, n := range scripts {
		if share := float64(n) / float64(total); share >= minShare {
			all = append(all, Guess{tag, share})
		}
	}
	slices.SortFunc(all, func(a, b Guess) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Tag, b.Tag))
	})
	return all[:min(len(all), 2)]
}

// scriptOf returns the language that a letter's script indicates, and the letter's weight: a
// Chinese character is about half a word.
func scriptOf(r rune) (string, int) {
	switch {
	case unicode.Is(unicode.Han, r):
		return "zh", 3
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return "ja", 3
	case unicode.Is(unicode.Hangul, r):
		return "ko", 3
	case unicode.Is(unicode.Cyrillic, r):
		return "ru", 1
	case unicode.Is(unicode.Greek, r):
		return "el", 1
	case unicode.Is(unicode.Arabic, r):
		return "ar", 1
	case unicode.Is(unicode.Hebrew, r):
		return "he", 1
	case unicode.Is(unicode.Thai, r):
		return "th", 1
	case unicode.Is(unicode.Devanagari, r):
		return "hi", 1
	}
	return "", 0
}

// settleScripts assigns characters that several languages share to the one whose own letters are
// present: Chinese characters among kana are Japanese.
func settleScripts(scripts map[string]int, text string) {
	move := func(from, to string) {
		if n := scripts[from]; n > 0 {
			scripts[to] += n
			delete(scripts, from)
		}
	}
	if scripts["ja"] > 0 {
		move("zh", "ja")
	}
	if strings.ContainsAny(text, "іїєґІЇЄҐ") {
		move("ru", "uk")
	}
	if strings.ContainsAny(text, "پچژگ") {
		move("ar", "fa")
	}
}

// latinOf weighs the words of a line: 2 for a small word of one language, less for one that several
// share, 3 for a letter of few.
func latinOf(words []string) string {
	var score [len(latinLanguages)]float64
	for _, w := range words {
		if set := smallWords[w]; set != 0 {
			for i := range score {
				if set&(1<<i) != 0 {
					score[i] += 2 / float64(bits.OnesCount32(set))
				}
			}
		}
		if english(w) {
			score[0] += 2
		}
		for i := 0; i < len(w); i++ {
			if w[i] < utf8.RuneSelf {
				continue
			}
			for k, l := range latinLanguages {
				if strings.ContainsAny(w, l.letters) {
					score[k] += 3 / float64(l.lettersShared)
				}
			}
			break
		}
	}
	best, second := 0, -1
	for i := 1; i < len(score); i++ {
		if score[i] > score[best] {
			best, second = i, best
		} else if second < 0 || score[i] > score[second] {
			second = i
		}
	}
	if score[best] < 0.5 || score[best] <= score[second] {
		return ""
	}
	return latinLanguages[best].tag
}

// english contractions have endings that no other language has.
func english(w string) bool {
	for _, end := range [...]string{"n't", "'s", "'re", "'ll", "'ve", "'d", "'m"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

package recall

import (
	"strings"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory/names"
)

// word is one token of a text: its folded form, its term, and whether it had a capital.
type word struct {
	text    string // lower case, accents folded
	term    string // stem, Chinese pair or single character; empty: not a term
	capital bool
	stop    bool
	clip    string // the part after an apostrophe: 'll
	han     bool
}

// maxTerm is the longest term, in bytes: longer words are cut.
const maxTerm = 48

// split cuts text into words. Runs of Chinese, Japanese and Korean characters become their single
// characters and pairs, and so do those of scripts without spaces between words, such as Thai; a
// pictograph (🎂) is a word. A pair may contain grammar characters, as 京都 and 过敏 do; it is then
// marked as a stop word and counts less.
// Traditional characters become simplified ones.
func split(text string) []word {
	text = hans.Fold(text)
	var out []word
	var b strings.Builder
	var run []rune
	capital := false
	flush := func() {
		if b.Len() > 0 {
			out = append(out, english(b.String(), capital))
			b.Reset()
		}
		if len(run) > 0 {
			out = pairs(out, run)
			run = run[:0]
		}
	}
	for _, r := range text {
		switch {
		case ideographic(r):
			if b.Len() > 0 {
				flush()
			}
			run = append(run, r)
		case pictograph(r):
			flush()
			out = append(out, word{text: string(r), term: string(r)})
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if len(run) > 0 {
				flush()
			}
			if b.Len() == 0 {
				capital = unicode.IsUpper(r)
			}
			b.WriteString(names.Letter(unicode.ToLower(r)))
		case (r == '\'' || r == '’') && b.Len() > 0:
			b.WriteByte('\'')
		default:
			flush()
		}
	}
	flush()
	return out
}

func english(s string, capital bool) word {
	s = strings.TrimRight(s, "'")
	base, _, _ := strings.Cut(s, "'")
	clip := ""
	if len(base) < len(s) && len(base) > 0 { // it's, don't, Anna's, o'clock
		s, clip = base, s[len(base):]
	}
	w := word{text: s, capital: capital, stop: stopWords[s], clip: clip}
	if !w.stop {
		w.term = lemma(s)
		if len(w.term) > maxTerm {
			w.term = strings.ToValidUTF8(w.term[:maxTerm], "")
		}
	}
	return w
}

func pairs(out []word, run []rune) []word {
	for i, r := range run {
		s := string(r)
		w := word{text: s, han: true, stop: stopHan[r]}
		if !w.stop {
			w.term = s
		}
		out = append(out, w)
		if i+1 < len(run) {
			p := s + string(run[i+1])
			out = append(out, word{text: p, term: p, han: true, stop: stopHan[r] || stopHan[run[i+1]]})
		}
	}
	return out
}

// ideographic reports whether a character is of a script without spaces between words. The first
// such script is Thai.
func ideographic(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pictograph reports whether a character is a picture: an emoji or a dingbat. A modifier, such as a
// skin colour, is not one.
func pictograph(r rune) bool {
	return r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff && (r < 0x1f3fb || r > 0x1f3ff)
}

// maxAsideHan is the greatest number of characters in a question that asks only with 呢: 那你呢.
const maxAsideHan = 5

// isQuestion reports whether a turn asks rather than tells.
func isQuestion(text string) bool {
	t := strings.TrimRight(text, " \t\r\n\"')”’")
	if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") {
		return true
	}
	if strings.HasSuffix(t, "呢") { // 你呢 and 谁呢 ask, 要六个钟头呢 tells
		return len([]rune(t)) <= maxAsideHan || strings.ContainsAny(t, "什谁哪几怎何多")
	}
	return strings.HasSuffix(t, "吗")
}

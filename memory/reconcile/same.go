package reconcile

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
)

// Same reports whether a candidate says what a known memory says: it has the same owner, polarity
// and time, and the same words in the same order (see [Statement]). If either fills a slot, the
// values of the slots decide.
func Same(c *memory.Candidate, m *memory.Memory) bool {
	if c.Type != m.Type || c.Owner != m.Owner || c.Slot != nil || m.Slot != nil || c.Negates != m.Negates || happened(c) != happened(&m.Candidate) {
		return false
	}
	s := Statement(c.Text)
	return s != "" && s == Statement(m.Text)
}

// happened returns when the event of a candidate took place. It is the instant, or only
// the day if the event began when it was told and so has no clock time of its own. It is
// "" if the candidate has no time.
func happened(c *memory.Candidate) string {
	f := c.Fields.Episodic
	if f == nil || f.Started.IsZero() {
		return ""
	}
	at := f.Started.UTC()
	for _, e := range c.Evidence {
		if d := e.At.Sub(at); d > -time.Minute && d < time.Minute {
			return at.Format(time.DateOnly)
		}
	}
	return at.Format(time.RFC3339)
}

// Statement returns a text in the form in which texts are compared: who does what, in order, then
// what each preposition adds, in any order. Articles and words that only colour a sentence are left
// out. So "flew from Paris to Rome" is "flew to Rome from Paris", and not "flew from Rome to
// Paris".
func Statement(text string) string {
	var core, phrases []string
	phrase := ""
	end := func() {
		if phrase != "" {
			phrases = append(phrases, phrase)
		}
		phrase = ""
	}
	for _, w := range statementWords(hans.Fold(text)) {
		switch {
		case prepositions[w] && (len(core) > 0 || phrase != ""):
			end()
			phrase = w
		case phrase != "":
			phrase += " " + w
		default:
			core = append(core, w)
		}
	}
	end()
	slices.Sort(phrases)
	return strings.Join(append(core, phrases...), " | ")
}

// statementWords returns the words of a text that make a difference, in lower case. Contractions
// are split, and each Chinese character is a word.
func statementWords(text string) []string {
	var out []string
	add := func(w string) {
		w = strings.Trim(strings.ReplaceAll(strings.ToLower(w), "’", "'"), "'")
		base, not := strings.CutSuffix(w, "n't")
		switch {
		case not && base == "ca":
			base = "can"
		case base == "cannot":
			base, not = "can", true
		case not && base == "wo":
			base = "will"
		}
		if base != "" && !colour[base] {
			out = append(out, base)
		}
		if not {
			out = append(out, "not")
		}
	}
	word := func(r rune) bool {
		return !unicode.Is(unicode.Han, r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’')
	}
	start := -1
	for i, r := range text {
		if word(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			add(text[start:i])
			start = -1
		}
		switch {
		case unicode.Is(unicode.Han, r):
			add(string(r))
		case r == '(' || r == '（': // a date in parentheses after the words that name it
			out = append(out, "at")
		}
	}
	if start >= 0 {
		add(text[start:])
	}
	return out
}

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	prepositions = wordSet("every each from to in on at with for by after before since until during about into near under over between through")
	colour       = wordSet("a an the really just very quite so actually also then now currently please 了 的 地 得 着 吧 呢 啊 呀 嘛")
)

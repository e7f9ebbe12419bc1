package retrieve

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory/recall"
)

// Parameters of [Topic].
const (
	lookBack  = 4  // turns before the last one that may lend it words
	standing  = 4  // number of content words from which a turn stands by itself
	lentWords = 12 // greatest number of words from the turns before
	maxTopic  = 2 << 10
)

// pointers are the words by which a turn refers to an earlier one.
var pointers = wordSet(`it its that this these those they them their theirs he him his she her hers there then one ones
another same such too either both former latter`)

// sounds are hesitations.
var sounds = wordSet(`hm hmm mm mmm uh um er ah eh huh 嗯 哦 呃`)

// pointersHan do the same in Chinese.
var pointersHan = []string{"它", "他", "她", "那个", "这个", "那里", "那儿", "这里", "这儿", "那次", "那时", "那天"}

// Topic says what the last turns are about, as a query for recall. A last turn that stands
// by itself is its own topic. One that refers back ("and where did she buy it?"), or has few words
// of its own, gets names and words from earlier turns, the nearest first. The topic begins with
// own, which is the text of one turn. Both are empty if nobody said anything that carries meaning.
func Topic(turns []Turn) (topic, own string) {
	last := len(turns) - 1
	var words []recall.Word
	for ; last >= 0; last-- { // "yes", "hm" and the like are about what was said before
		words = slices.DeleteFunc(recall.ContentWords(turns[last].Text), func(w recall.Word) bool { return sounds[w.Text] })
		if len(words) > 0 {
			break
		}
	}
	if last < 0 {
		return "", ""
	}
	if end := len(turns) - 1; last < end && IsQuestion(turns[end].Text) { // "how much is it?" has no content word of its own
		last, words = end, nil
	}
	own = clip(strings.TrimSpace(turns[last].Text))
	if weight(words) >= standing && !RefersBack(own) {
		return own, own
	}
	have := map[string]bool{}
	for _, w := range words {
		have[w.Term] = true
	}
	var lent []string
	for i := last - 1; i >= max(0, last-lookBack) && len(lent) < lentWords; i-- {
		lent = lend(lent, turns[i], have)
	}
	if len(lent) == 0 {
		return own, own
	}
	return clip(own + " " + strings.Join(lent, " ")), own
}

// lend adds a turn's words that the topic lacks: names with their capital, and Chinese words as
// pairs of characters, which carry more meaning than single ones.
func lend(to []string, t Turn, have map[string]bool) []string {
	words := recall.ContentWords(t.Text)
	for i, w := range words {
		switch {
		case have[w.Term] || len(to) == lentWords:
			continue
		case w.Han && len([]rune(w.Text)) == 1 && (i > 0 && paired(words[i-1], w) || i+1 < len(words) && paired(words[i+1], w)):
			continue
		}
		have[w.Term] = true
		text := w.Text
		if w.Name {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		to = append(to, text)
	}
	return to
}

// paired reports whether a pair contains a character.
func paired(pair, one recall.Word) bool {
	return len([]rune(pair.Text)) == 2 && strings.Contains(pair.Text, one.Text)
}

// weight counts content words; a Chinese character counts half.
func weight(words []recall.Word) int {
	n := 0
	for _, w := range words {
		switch {
		case !w.Han:
			n += 2
		case len([]rune(w.Text)) == 1:
			n++
		}
	}
	return n / 2
}

// RefersBack reports whether a text has a word that refers to something said before, such as "she"
// or "there".
func RefersBack(text string) bool {
	text = hans.Fold(text)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if pointers[w] {
			return true
		}
	}
	return slices.ContainsFunc(pointersHan, func(w string) bool { return strings.Contains(text, w) })
}

// clip shortens a topic to the greatest length of a query.
func clip(s string) string {
	if len(s) <= maxTopic {
		return s
	}
	return strings.ToValidUTF8(s[:maxTopic], "")
}

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

package recall

import (
	"slices"
	"strings"
)

// Shape is what kind of answer a question wants.
type Shape string

const (
	Who        Shape = "who"
	When       Shape = "when"
	Where      Shape = "where"
	HowTo      Shape = "how_to"
	HowMany    Shape = "how_many"
	Exact      Shape = "exact" // words in quotation marks
	Preference Shape = "preference"
	Plain      Shape = "plain"
)

// shapeOf finds the shape from a question's words.
func shapeOf(text string, words []word) Shape {
	has := func(list ...string) bool {
		for _, s := range list {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	lower := " " + strings.ToLower(text) + " "
	low := func(list ...string) bool {
		for _, s := range list {
			if strings.Contains(lower, s) {
				return true
			}
		}
		return false
	}
	first := ""
	for _, w := range words {
		if w.text != "and" && w.text != "so" {
			first = w.text
			break
		}
	}
	switch {
	case low(" how many ", " how much ", " how often ", " how old ") || has("多少", "几个", "几次"):
		return HowMany
	case first == "when" || low(" when did ", " when does ", " when is ", " when was ", " when will ", " what date ", " what day ", " which day ", " which year ", " what year ", " which month ", " what month ", " what time ", " how long ") || has("什么时候", "啥时候", "何时", "哪天", "几点", "几号", "哪年", "多久"):
		return When
	case first == "where" || low(" where did ", " where does ", " where is ", " where was ", " which city ", " which country ", " which place ") || has("哪里", "哪儿", "在哪", "什么地方"):
		return Where
	case low(" how to ", " how do i ", " how can i ", " how do you ", " steps to ") || has("如何", "步骤") || has("怎么") && !has("怎么了", "怎么样", "怎么回事", "怎么没", "怎么不", "怎么会"):
		return HowTo
	case first == "who" || first == "whose" || first == "whom" || low(" with whom ", " who did ", " who is ") || has("谁"):
		return Who
	case low(" favorite ", " favourite ", " prefer ", " like to ", " hobbies", " hobby", " enjoy ", " does not like", " like ") || has("喜欢", "爱好", "最爱"):
		return Preference
	}
	return Plain
}

// marks are pairs of quotation marks.
var marks = []string{`""`, "“”", "„“", "「」", "『』", "《》", "«»", "＂＂"}

// unquote removes quotation marks from a text.
func unquote(s string) string {
	all := strings.Join(marks, "")
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(all, r) {
			return ' '
		}
		return r
	}, s)
}

// quoted returns the phrases in quotation marks.
func quoted(s string) []string {
	var out []string
	for _, q := range marks {
		r := []rune(q)
		rest := s
		for {
			_, after, ok := strings.Cut(rest, string(r[0]))
			if !ok {
				break
			}
			in, tail, ok := strings.Cut(after, string(r[1]))
			if !ok {
				break
			}
			if strings.TrimSpace(in) != "" {
				out = append(out, in)
			}
			rest = tail
		}
	}
	return out
}

// Phrase is a phrase that a question has in quotation marks. The index knows which words a document
// has, but not their order. A caller that has the texts checks the order with [Phrase.In].
type Phrase []string

// In reports whether a text contains the words of the phrase one after the
// other, ignoring case and accents.
func (p Phrase) In(text string) bool {
	words := phraseOf(text)
	for i := 0; i+len(p) <= len(words); i++ {
		if slices.Equal(words[i:i+len(p)], p) {
			return true
		}
	}
	return false
}

func phraseOf(s string) Phrase {
	var out Phrase
	for _, w := range split(s) {
		if !w.han || len([]rune(w.text)) == 1 {
			out = append(out, w.text)
		}
	}
	return out
}

// namedSpeaker returns the one speaker whom the question names, or 0 if it
// names none or several. "I" and 我 name the wearer.
func (c *core) namedSpeaker(words []word, wearer string) uint32 {
	one := uint32(0)
	name := func(s string) bool {
		n := c.speaks(s)
		if n == none || n == one {
			return true
		}
		if one != 0 {
			return false
		}
		one = n
		return true
	}
	me := foldName(wearer)
	cased := slices.ContainsFunc(words, func(w word) bool { return w.capital })
	for i, w := range words {
		if (w.text == "i" || w.text == "my" || w.text == "me" || w.text == "我") && me != "" && !name(me) {
			return 0
		}
		if cased && !w.capital && !w.han || w.stop { // some texts have no capitals at all
			continue
		}
		full := w.text
		if !name(full) {
			return 0
		}
		for j := i + 1; j < len(words) && j < i+4; j++ {
			if words[j].han != w.han || w.han && len([]rune(words[j].text)) > 1 {
				continue
			}
			full += " " + words[j].text
			if !name(full) {
				return 0
			}
		}
	}
	return one
}

// asksTrade reads "what does Daniel do", with or without "for a living", as a
// question for somebody's job, which those words do not name.
func asksTrade(words []word) []word {
	n := len(words)
	if n > 5 && words[n-1].text == "living" && words[n-2].text == "a" && words[n-3].text == "for" {
		n -= 3
	}
	if n < 4 || n > 7 || words[0].text != "what" || words[1].text != "does" && words[1].text != "do" || words[n-1].text != "do" {
		return words
	}
	if slices.ContainsFunc(words[2:n-1], func(w word) bool { return w.text == "to" || w.text == "must" || w.text == "should" }) {
		return words // "what do I have to do"
	}
	return append(words[:n:n], english("job", false))
}

// homeWords ask for an address in a question that asks where: "where does Tom live".
var homeWords = set("live 住 住在")

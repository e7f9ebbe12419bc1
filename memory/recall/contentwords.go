package recall

// Word is a word of a text that carries meaning of its own.
type Word struct {
	Text string // in lower case, accents folded; of Chinese one character or a pair
	Term string // what it is known by: words of one stem have one term
	Name bool   // stood with a capital
	Han  bool
}

// ContentWords returns the words of a text as the index takes them, in order,
// without those that are grammar.
func ContentWords(text string) []Word {
	var out []Word
	for _, w := range split(text) {
		if w.term != "" && !w.stop {
			out = append(out, Word{w.text, w.term, w.capital, w.han})
		}
	}
	return out
}

// Shared counts the content words of a question that stand in a label, whether
// they are written as one or as two: "wifi" and "Wi-Fi".
func Shared(question, label string) (n int) {
	there := map[string]bool{}
	words := ContentWords(label)
	for i, w := range words {
		there[w.Term], there[w.Text] = true, true
		if i > 0 {
			there[words[i-1].Text+w.Text] = true
		}
	}
	words = ContentWords(question)
	for i, w := range words {
		if there[w.Term] || i > 0 && there[words[i-1].Text+w.Text] {
			n++
		}
	}
	return n
}

package recall

// Word is a word of a text that carries meaning by itself.
type Word struct {
	Text string // in lower case, accents folded; in Chinese one character or a pair
	Term string // words of one stem have the same term
	Name bool   // it has a capital
	Han  bool
}

// ContentWords returns the words of a text as the index has them, in order, without grammar words.
func ContentWords(text string) []Word {
	var out []Word
	for _, w := range split(text) {
		if w.term != "" && !w.stop {
			out = append(out, Word{w.text, w.term, w.capital, w.han})
		}
	}
	return out
}

// Shared counts the content words of a question that are in a label, whether they are written as
// one word or two: "wifi" and "Wi-Fi".
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

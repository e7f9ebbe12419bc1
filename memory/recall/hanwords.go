package recall

import "slices"

// betweenWords returns the indexes of the pairs of characters in a question that begin in one Chinese
// word and end in another, such as 天去 in 哪天去医院. Documents that have such a pair are found by it,
// but it says nothing of the matter. The words are the longest ones from the left that are a name, or
// are among the built-in pairs of words or the synonyms.
func (c *core) betweenWords(words []word) map[int]bool {
	between := map[int]bool{}
	var run []rune
	var at []int // of each character in run, its index in words
	end := func() {
		for from := 0; from < len(run); {
			n := c.wordAt(run[from:])
			if n > 1 && from > 0 {
				between[at[from]-1] = true
			}
			if n > 1 && from+n < len(run) {
				between[at[from+n]-1] = true
			}
			from += n
		}
		run, at = run[:0], at[:0]
	}
	for i, w := range words {
		r := []rune(w.text)
		switch {
		case !w.han:
			end()
		case len(r) == 1:
			if n := len(at); n > 0 && at[n-1] != i-2 { // another run begins: there is no pair between
				end()
			}
			run, at = append(run, r[0]), append(at, i)
		}
	}
	end()
	return between
}

// wordAt returns the length in characters of the longest known word at the beginning of the run, 1 if
// there is none.
func (c *core) wordAt(run []rune) int {
	pairs := theLexicon().pairs
	for n := min(pairs.longest, len(run)); n > 1; n-- {
		word := string(run[:n])
		same := slices.ContainsFunc(theSynonyms()[string(run[:2])], func(s synonym) bool {
			return s.tail == "" && n == 2 || s.tail != "" && word == string(run[:1])+s.tail
		})
		if same || len(pairs.inEnglish(word)) > 0 || c.knows(word) || c.knows(foldName(word)) {
			return n
		}
	}
	return 1
}

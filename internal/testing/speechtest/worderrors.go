package speechtest

import (
	"strings"
	"unicode"
)

// WordErrors returns the least number of words to change, remove or insert to turn said into heard,
// and the number of words in said: errors/words is the word error rate. Case and punctuation don't
// count.
func WordErrors(said, heard string) (errors, words int) {
	a, b := wordsOf(said), wordsOf(heard)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)], len(a)
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
}

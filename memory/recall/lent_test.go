package recall

import "testing"

// Words that a conversation lends count less than the question's own: the line about the previous
// subject is not an answer.
func TestLentWordsCountLess(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1,
		[2]string{"Mei", "Tomasz is allergic to hazelnuts"},
		[2]string{"Mei", "The bus was late again"},
		[2]string{"Mei", "We need two more chairs"},
		[2]string{"Mei", "It rained until noon"},
		[2]string{"Mei", "Ola is the sister of Tomasz"},
	)
	const question, lent = "who is his sister", " Tomasz allergic hazelnuts"
	for own, want := range map[string]int{question: 5, "": 1} { // read as one question, it is about the allergy
		r := find(t, x, Query{Text: question + lent, Own: own, Now: june, K: 2})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(want) {
			t.Errorf("own %q: %+v, want line %d first", own, r.Hits, want)
		}
	}
}

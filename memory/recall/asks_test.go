package recall

import (
	"strconv"
	"testing"
)

// A question about a relative's thing is not answered by what has only the relative, or only the thing.
func TestThingsOfRelatives(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	for i, line := range []string{"My sister Jo is expecting in May", "Ravi's flight lands at 9:40 tomorrow night", "I keep my passport in the blue folder", "My sister is called Jo", "My brother's flight is at six", "My dad wears hearing aids", "奶奶的护照在抽屉里"} {
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, Session: strconv.Itoa(i), At: june, Speaker: "Ana", Text: line}); err != nil {
			t.Fatal(err)
		}
	}
	for q, known := range map[string]bool{
		"when is my sister's flight": false, "where is my sister's passport": false, "where is my dad's passport": false, "when is my brother's flight": true, "what is my sister called": true,
		"奶奶的护照在哪": true, "奶奶的电话是多少": false,
	} {
		if r := find(t, x, Query{Text: q, Now: june, Wearer: "Ana", K: 3}); r.Confidence >= Unsure != known {
			t.Errorf("%s: %v, want known %v", q, r.Confidence, known)
		}
	}
}

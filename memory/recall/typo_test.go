package recall

import (
	"strings"
	"testing"
)

// A misspelt word finds the words that it may be, and a very long one stays as it is, because each
// of its letters has fifty possible slips.
func TestMisspeltWords(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	long := strings.Repeat("kazoo", 7)
	talk(t, x, "s1", june, 1, [2]string{"Mei", "The harmonium is at the tuner's"}, [2]string{"Mei", "His address is " + long})
	for question, want := range map[string]int{
		"where is the harmonuim":       1,
		"what is " + long + "x":        0,
		strings.Repeat("ha", 1<<15):    0,
		strings.Repeat("harmonuim", 9): 0,
	} {
		r := find(t, x, Query{Text: question, Now: june, K: 1})
		if got := len(r.Hits); got != want || got > 0 && r.Hits[0].ID != idOf(1) {
			t.Errorf("%.40s: %+v", question, r.Hits)
		}
	}
}

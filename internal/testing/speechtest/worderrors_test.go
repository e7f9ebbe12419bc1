package speechtest

import (
	"testing"
)

func TestWordErrors(t *testing.T) {
	for _, c := range []struct {
		said, heard   string
		errors, words int
	}{
		{"drop the two", "drop the two", 0, 3},
		{"Drop the two!", "drop a two", 1, 3},
		{"drop the two", "drop two", 1, 3},
		{"drop the two", "oh drop the two", 1, 3},
		{"drop the two", "", 3, 3},
		{"", "oh", 1, 0},
	} {
		if e, w := WordErrors(c.said, c.heard); e != c.errors || w != c.words {
			t.Errorf("%q as %q: %d of %d", c.said, c.heard, e, w)
		}
	}
}

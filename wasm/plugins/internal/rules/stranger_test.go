package rules

import (
	"strings"
	"testing"
)

// TestHalves uses lines that were written, with the expected memories, before the rules read any of
// them. stranger: ordinary life; lost: classes that the rules once lost (where a thing was left or
// is kept, what is liked better, the people of one's family, what a professional said, who comes,
// what is true until a day, what a school or a firm says); daily: errands, health, children, money,
// repairs, travel, changed plans, lent things, and owners of things. One half of each is only
// measured; nobody looks at its lines.
func TestHalves(t *testing.T) {
	for _, half := range []struct {
		file              string
		precision, recall float64
	}{
		{"stranger", 0.95, 0.9}, {"lost", 0.95, 0.9}, {"daily", 0.95, 0.9},
		{"stranger_held", 0.95, 0.85}, {"lost_held", 0.95, 0.9}, {"daily_held", 0.92, 0.75},
	} {
		say := t.Logf
		if strings.HasSuffix(half.file, "_held") {
			say = nil
		}
		en, zh := measure(t, "testdata/"+half.file+".txt", say)
		if s := report(t, half.file, en, zh); s.precision() < half.precision || s.recall() < half.recall {
			t.Errorf("%s: want a precision of %.2f and a recall of %.2f", half.file, half.precision, half.recall)
		}
	}
}

package rules

import (
	"strings"
	"testing"
)

// TestHalves is of lines that were written, with what should be kept of them, before the rules read any:
// stranger, of ordinary life; lost, of classes that the rules once lost (where a thing was left or is kept,
// what is liked better, the people of one's family, what somebody skilled said, who comes, what is so until
// a day, what a school or a firm says); daily, of errands, health, children, money, repairs, travel, changed
// plans, what is lent, and whose something is. One half of each is only measured; nobody looks at its lines.
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

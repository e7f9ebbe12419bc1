package rules

import (
	"strings"
	"testing"
)

// TestTimes reads each line of testdata/times.txt on monday.
func TestTimes(t *testing.T) {
	for line := range lines(t, "testdata/times.txt") {
		said, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%q", line)
		}
		got := "-"
		for _, s := range sentences(said) {
			for _, w := range findWhens(s, monday) {
				if got != "-" {
					got += " and " + w.plain()
				} else {
					got = w.plain()
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", said, got, want)
		}
	}
}

// plain writes a time as testdata/times.txt has it.
func (w *when) plain() string {
	day := func(n int) string {
		y, m, d := date(n)
		return itoa(y) + "-" + pad2(m) + "-" + pad2(d)
	}
	s := day(w.day)
	if w.clock {
		s += " " + pad2(w.minute/60) + ":" + pad2(w.minute%60)
	}
	if w.last > 0 {
		s += ".." + day(w.last)
	}
	return s
}

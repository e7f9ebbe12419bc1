package rules

import (
	"strings"
	"testing"
)

// TestAnother checks whether a second line is about the appointment of the first, which it then
// moves, or about another one, which leaves the first as it is. Ten utterances are made of each
// line.
func TestAnother(t *testing.T) {
	lists := map[string][]string{}
	for line := range lines(t, "testdata/variations/lists.txt") {
		name, values, _ := strings.Cut(strings.TrimPrefix(line, "= "), ": ")
		lists[name] = strings.Split(values, " | ")
	}
	for line := range lines(t, "testdata/another.txt") {
		for n := range variations {
			turns, want, ok := strings.Cut(vary(lists, line, n), "\t")
			first, _, two := strings.Cut(turns, " / ")
			if !ok || !two {
				t.Fatalf("%q", line)
			}
			slot := func(turns string) string {
				for _, c := range hear(t, turns).Candidates {
					if c.Type == "episodic" && c.Slot != nil {
						return c.Slot.Subject + " " + c.Slot.Attribute
					}
				}
				return ""
			}
			was, is := slot(first), slot(turns)
			got := "two"
			switch {
			case was == "":
				got = "no plan"
			case is == "":
				got = "nothing"
			case was == is:
				got = "one"
			}
			if got != want {
				t.Errorf("%q: %s (%s; %s), want %s", turns, got, was, is, want)
			}
		}
	}
}

package rules

import "testing"

// TestIdioms uses the half of the lines of testdata/idioms*.txt with which the rules were
// developed.
func TestIdioms(t *testing.T) {
	s, _ := measure(t, "testdata/idioms.txt", t.Logf)
	t.Logf("%d lines, precision %.3f, recall %.3f, %d false", s.lines, s.precision(), s.recall(), s.extra)
	if s.extra > 1 || s.missed > 1 {
		t.Error("want one false memory and one missed at most")
	}
}

// TestIdiomsHeld uses the half that is only measured; nobody looks at its lines.
func TestIdiomsHeld(t *testing.T) {
	s, _ := measure(t, "testdata/idioms_held.txt", nil)
	t.Logf("%d lines, precision %.3f, recall %.3f, %d false", s.lines, s.precision(), s.recall(), s.extra)
	if s.extra > 4 {
		t.Error("want four false memories at most")
	}
}

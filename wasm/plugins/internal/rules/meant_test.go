package rules

import "testing"

// TestMeant is the part of the lines of testdata/meant*.txt that the rules were
// developed on.
func TestMeant(t *testing.T) {
	en, zh := measure(t, "testdata/meant.txt", t.Logf)
	if s := report(t, "meant", en, zh); s.precision() < 0.95 || s.recall() < 0.8 {
		t.Error("want a precision of 0.95 and a recall of 0.8")
	}
}

// TestMeantHeld is the part that was only measured; nobody looks at its lines.
func TestMeantHeld(t *testing.T) {
	en, zh := measure(t, "testdata/meant_held.txt", nil)
	report(t, "meant, held back", en, zh)
}

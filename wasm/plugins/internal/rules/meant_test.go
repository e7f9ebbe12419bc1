package rules

import "testing"

// TestMeant uses the part of the lines of testdata/meant*.txt with which the rules were developed.
func TestMeant(t *testing.T) {
	en, zh := measure(t, "testdata/meant.txt", t.Logf)
	if s := report(t, "meant", en, zh); s.precision() < 0.88 || s.recall() < 0.85 {
		t.Error("want a precision of 0.88 and a recall of 0.85")
	}
}

// TestMeantHeld uses the part that is only measured; nobody looks at its lines.
func TestMeantHeld(t *testing.T) {
	en, zh := measure(t, "testdata/meant_held.txt", nil)
	if s := report(t, "meant, held back", en, zh); s.precision() < 0.8 || s.recall() < 0.85 {
		t.Error("want a precision of 0.8 and a recall of 0.85")
	}
}

package rules

import "testing"

// TestTalk uses the half of the lines of ordinary talk with which the rules were developed.
func TestTalk(t *testing.T) {
	en, zh := measure(t, "testdata/talk.txt", t.Logf)
	if s := report(t, "talk", en, zh); s.precision() < 0.95 || s.recall() < 0.85 {
		t.Error("want a precision of 0.95 and a recall of 0.85")
	}
}

// TestTalkHeld uses the half that is only measured; nobody looks at its lines.
func TestTalkHeld(t *testing.T) {
	en, zh := measure(t, "testdata/talk_held.txt", nil)
	if s := report(t, "talk, held back", en, zh); s.precision() < 0.92 || s.recall() < 0.72 {
		t.Error("want a precision of 0.92 and a recall of 0.72")
	}
}

// TestGeneral uses lines about what is true of anybody, about calls and captions, and about small
// deeds in a clause of a longer sentence. One half is only measured; nobody looks at its lines.
func TestGeneral(t *testing.T) {
	en, zh := measure(t, "testdata/general.txt", t.Logf)
	if s := report(t, "general", en, zh); s.precision() < 0.85 || s.recall() < 0.7 {
		t.Error("want a precision of 0.85 and a recall of 0.7")
	}
	en, zh = measure(t, "testdata/general_held.txt", nil)
	if s := report(t, "general, held back", en, zh); s.precision() < 0.85 || s.recall() < 0.7 {
		t.Error("want a precision of 0.85 and a recall of 0.7")
	}
}

package rules

import "testing"

// TestTalk is the half of the lines of ordinary talk that the rules were developed on.
func TestTalk(t *testing.T) {
	en, zh := measure(t, "testdata/talk.txt", t.Logf)
	if s := report(t, "talk", en, zh); s.precision() < 0.95 || s.recall() < 0.85 {
		t.Error("want a precision of 0.95 and a recall of 0.85")
	}
}

// TestTalkHeld is the half that was only measured; nobody looks at its lines.
func TestTalkHeld(t *testing.T) {
	en, zh := measure(t, "testdata/talk_held.txt", nil)
	if s := report(t, "talk, held back", en, zh); s.precision() < 0.92 || s.recall() < 0.72 {
		t.Error("want a precision of 0.92 and a recall of 0.72")
	}
}

// TestGeneral is of what holds for anybody, of calls and captions, and of small deeds in a
// clause of a longer sentence. One half is only measured; nobody looks at its lines.
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

package rules

import "testing"

// TestStranger is of lines of ordinary life that were written, with what should be kept of them,
// before the rules read any. One half is only measured; nobody looks at its lines.
func TestStranger(t *testing.T) {
	en, zh := measure(t, "testdata/stranger.txt", t.Logf)
	if s := report(t, "stranger", en, zh); s.precision() < 0.95 || s.recall() < 0.9 {
		t.Error("want a precision of 0.95 and a recall of 0.9")
	}
	en, zh = measure(t, "testdata/stranger_held.txt", nil)
	if s := report(t, "stranger, held back", en, zh); s.precision() < 0.95 || s.recall() < 0.85 {
		t.Error("want a precision of 0.95 and a recall of 0.85")
	}
}

// TestLost is of classes of lines that the rules once lost: where a thing was left or is kept, what is
// liked better, the people of one's family, what somebody skilled said, who comes, what is so until a
// day, and what a school or a firm says. One half is only measured; nobody looks at its lines.
func TestLost(t *testing.T) {
	en, zh := measure(t, "testdata/lost.txt", t.Logf)
	if s := report(t, "lost", en, zh); s.precision() < 0.95 || s.recall() < 0.9 {
		t.Error("want a precision of 0.95 and a recall of 0.9")
	}
	en, zh = measure(t, "testdata/lost_held.txt", nil)
	if s := report(t, "lost, held back", en, zh); s.precision() < 0.95 || s.recall() < 0.9 {
		t.Error("want a precision of 0.95 and a recall of 0.9")
	}
}

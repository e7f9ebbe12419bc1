package recall

import (
	"slices"
	"testing"
)

// TestMixedTalk asks in one language what was said in the other, about everyday life in both. Its questions were
// written before anybody looked at what is missed.
func TestMixedTalk(t *testing.T) {
	x, asked := everyday(t, "mixed.txt")
	five, ten := 0, 0
	for _, q := range asked {
		if !q.cross {
			t.Errorf("%s: the answer is in the same language", q.text)
		}
		r := find(t, x, Query{Text: q.text, Now: june, Wearer: "陈静", K: 10})
		at := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.ID == idOf(q.want) })
		if at >= 0 {
			ten++
		}
		if at >= 0 && at < 5 {
			five++
		} else {
			t.Logf("%s: place %d, confidence %.2f", q.text, at+1, r.Confidence)
		}
	}
	t.Logf("%d questions: %d within five hits, %d within ten", len(asked), five, ten)
	if five < 54 || ten < 58 { // 53 and 55 with 13,400 pairs of words, before hours and numbers were read
		t.Errorf("%d questions: %d within five hits, %d within ten", len(asked), five, ten)
	}
}

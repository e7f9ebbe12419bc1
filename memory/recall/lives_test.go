package recall

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLives asks about five talks of two people that were written without knowledge of recall, half of
// the questions in other words than the line. FILE.none has questions about the same people that the
// talk does not answer. No weight, word or rule was chosen on them; docs/recall.md has the figures.
func TestLives(t *testing.T) {
	for _, life := range []struct {
		file  string
		least float64 // recall within ten: what was measured, less a question
	}{{"en-1", 59}, {"en-2", 51}, {"zh-1", 86}, {"zh-2", 75}, {"zh-3", 76}} {
		path := "testdata/lives/" + life.file
		turns, asked := readFriends(t, path+".txt")
		x, now := friends(t, turns, nil, nil)
		o := openTalk{file: life.file, x: x, now: now, turns: turns, asked: asked}
		for _, q := range asked {
			o.right = append(o.right, evidenceOf(turns, q))
		}
		all, _ := o.recalled(t, nil)
		found, refused, known := 0, 0, 0
		for i, q := range asked {
			r := find(t, x, Query{Text: q.text, Now: now, K: 10})
			if slices.ContainsFunc(r.Hits, func(h Hit) bool { return o.right[i][h.ID] }) {
				found++
				if r.Confidence < Unsure {
					refused++
				}
			}
		}
		b, err := os.ReadFile(path + ".none")
		if err != nil {
			t.Fatal(err)
		}
		none := strings.Split(strings.TrimSpace(string(b)), "\n")
		for _, text := range none {
			if find(t, x, Query{Text: text, Now: now, K: 10}).Confidence >= Unsure {
				known++
			}
		}
		t.Logf("%s: %d turns, %d questions, within 5, 10 and 25: %v; %d found, of which %d refused; of %d without an answer %d known", life.file, len(turns), len(asked), all, found, refused, len(none), known)
		if all[1] < life.least {
			t.Errorf("%s: %.1f %% within ten, want %v", life.file, all[1], life.least)
		}
	}
}

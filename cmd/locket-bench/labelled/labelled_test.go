package labelled

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The sets are unchanged since before the first measurement.
func TestFrozen(t *testing.T) {
	var want string
	for _, name := range []string{"asr.jsonl", "chinese_lines.jsonl", "chinese_questions.jsonl", "extract.jsonl", "few.jsonl"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256(b), name)
	}
	got, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("SHA256SUMS is\n%swant\n%s", got, want)
	}
}

func TestExtractSet(t *testing.T) {
	lines, err := Extract()
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, lines)
}

// A recogniser writes neither capitals nor punctuation.
func TestASRSet(t *testing.T) {
	lines, err := ASR()
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, lines)
	for _, l := range lines {
		if l.Text != strings.ToLower(l.Text) || strings.ContainsAny(l.Text, ".,!?;:。，！？、") {
			t.Errorf("%s: %s", l.ID, l.Text)
		}
	}
}

func checkLines(t *testing.T, lines []Line) {
	t.Helper()
	ids, none, langs := map[string]bool{}, 0, map[string]int{}
	for i, l := range lines {
		if ids[l.ID] || l.Speaker == "" || l.Text == "" || (l.None == "") == (len(l.Expect) == 0) || l.Either && l.None == "" {
			t.Errorf("%s: %+v", l.ID, l)
		}
		ids[l.ID] = true
		if l.None != "" {
			none++
		}
		langs[l.Lang]++
		if i > 0 && l.At.Before(lines[i-1].At) {
			t.Errorf("%s comes before the line before it", l.ID)
		}
		if _, err := time.LoadLocation(l.Zone); err != nil {
			t.Errorf("%s: %v", l.ID, err)
		}
		for _, e := range l.Expect {
			for _, k := range e.Kinds {
				if !slices.Contains(Kinds[:], k) {
					t.Errorf("%s: there is no kind %q", l.ID, k)
				}
			}
			if len(e.Kinds) == 0 || len(e.Terms) == 0 && e.Date == "" {
				t.Errorf("%s: a label that anything fits: %+v", l.ID, e)
			}
		}
	}
	if len(lines) < 240 || 3*none < len(lines) || langs["en"] == 0 || 10*(langs["zh"]+langs["mixed"]) < 3*len(lines) {
		t.Errorf("%d lines, %d without a memory, by language %v", len(lines), none, langs)
	}
}

func TestChineseSet(t *testing.T) {
	lines, questions, err := Chinese()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, l := range lines {
		if there[l.ID] || l.Text == "" || l.Speaker == "" {
			t.Errorf("%s: %+v", l.ID, l)
		}
		there[l.ID] = true
	}
	cross := 0
	for _, q := range questions {
		if q.Cross {
			cross++
		}
		if len(q.Evidence) == 0 {
			t.Errorf("%s has no evidence", q.ID)
		}
		for _, e := range q.Evidence {
			if !there[e] {
				t.Errorf("%s: there is no line %s", q.ID, e)
			}
		}
	}
	if len(lines) < 650 || len(questions) < 120 || 4*cross < len(questions) {
		t.Errorf("%d lines, %d questions, %d across", len(lines), len(questions), cross)
	}
}

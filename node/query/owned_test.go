package query_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// TestOwnedQuestions asks who somebody is to somebody else, and what belongs to them, of a life in
// each language, and counts how often the answer is rightly known or not known.
func TestOwnedQuestions(t *testing.T) {
	asked, right := askFile(t, "testdata/owned.txt")
	for name, least := range map[string]int{"en+=": 8, "en-=": 9, "zh+=": 9, "zh-=": 10} { // before: 8, 6, 9, 8
		if asked[name] != 10 || right[name] < least {
			t.Errorf("%s: %d of %d are right, and %d were", name, right[name], asked[name], least)
		}
	}
}

// TestQuestionsAboutTheWearer asks what is true of the wearer, and whom somebody married.
func TestQuestionsAboutTheWearer(t *testing.T) {
	asked, right := askFile(t, "testdata/mine.txt")
	// Before: in English 5 of 5 and 3 of 3 of the questions with an answer, and 1 of 9 and none of
	// 8 of those without one; in Chinese none of 9.
	for name, least := range map[string]int{"en+=": 3, "en-=": 7, "zh+=": 2, "zh-=": 4} {
		if right[name] < least {
			t.Errorf("%s: %d of %d are right, and %d were", name, right[name], asked[name], least)
		}
	}
}

// TestRelativesByAnotherWord asks for relatives by another word than the one that was used, and for
// what one relative likes where only another's liking is known.
func TestRelativesByAnotherWord(t *testing.T) {
	asked, right := askFile(t, "testdata/kin.txt")
	for name, least := range map[string]int{"zh+=": 2, "zh-=": 2, "en+=": 2, "en-=": 2} {
		if asked[name] < least || right[name] < least {
			t.Errorf("%s: %d of %d are right, want %d", name, right[name], asked[name], least)
		}
	}
}

// TestCountedQuestions asks for numbers, for what a single character names, and for who somebody
// is.
func TestCountedQuestions(t *testing.T) { askFile(t, "testdata/counts.txt") }

// askFile asks the questions of a file, and counts all questions and those that are rightly known
// or not known, by language, kind of question, and half.
func askFile(t *testing.T, file string) (asked, right map[string]int) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var n *node.Node
	at := time.Now().Add(-time.Hour)
	right, asked = map[string]int{}, map[string]int{}
	lang := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		mark, question, asks := strings.Cut(line, " ")
		held := strings.HasPrefix(mark, "=")
		switch mark = strings.TrimPrefix(mark, "="); {
		case line == "" || line[0] == '#':
		case line == "en" || line == "zh":
			n, lang = nodetest.New(t, nil), line
		case !asks || mark != "+" && mark != "-":
			at = at.Add(time.Second)
			speaker := "Ana"
			if name, said, ok := strings.Cut(line, ": "); ok {
				speaker, line = name, said
			}
			nodetest.Hear(t, n, at, speaker, line)
		default:
			question, has, _ := strings.Cut(question, " | ")
			res, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
			if err != nil {
				t.Fatal(err)
			}
			name := lang + mark
			if held {
				name += "="
			}
			if asked[name]++; res.Known == (mark == "+") && strings.Contains(res.Hits[0].Text+res.Hits[0].Said, has) {
				right[name]++
			} else if !held {
				t.Errorf("%s %s: known %v, confidence %.2f, by %q", mark, question, res.Known, res.Confidence, res.Hits[0].Text)
			}
		}
	}
	return asked, right
}

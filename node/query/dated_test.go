package query_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// TestDatedQuestions asks, of a life in each language, what happened on a day, naming nothing
// but the day.
func TestDatedQuestions(t *testing.T) {
	b, err := os.ReadFile("testdata/days.txt")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC)
	var n *node.Node
	lang, about := "", map[string]string{} // the day that a line is about
	asked, first, five := map[string]int{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		switch kind, rest, _ := strings.Cut(line, " "); {
		case line == "" || line[0] == '#':
		case line == "en" || line == "zh":
			lang, n = line, nodetest.New(t, func(c *config.Config) { c.Zone = "UTC" })
		case kind == "?" || kind == "=?":
			question, days, _ := strings.Cut(rest, " | ")
			from, to, span := strings.Cut(days, " ")
			if !span {
				to = from
			}
			res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, At: now, K: 5})
			if err != nil {
				t.Fatal(err)
			}
			name := lang + strings.TrimSuffix(kind, "?")
			asked[name]++
			at := slices.IndexFunc(res.Hits, func(h serve.Hit) bool {
				day := h.Evidence[0].At.UTC().Format(time.DateOnly)
				for _, said := range []string{h.Text, h.Said, h.Evidence[0].Excerpt} {
					day = cmp.Or(about[said], day)
				}
				return day >= from && day <= to
			})
			if at >= 0 {
				five[name]++
			}
			if at == 0 {
				first[name]++
			} else if kind == "?" {
				t.Errorf("%s: place %d of %d", question, at+1, len(res.Hits))
			}
		default:
			text, day, _ := strings.Cut(line[len("2006-01-02 15:04 "):], " @")
			at, err := time.Parse("2006-01-02 15:04", line[:len("2006-01-02 15:04")])
			if err != nil {
				t.Fatal(err)
			}
			about[text] = day
			nodetest.Hear(t, n, at, "Ana", text)
		}
	}
	for _, c := range []struct {
		name             string
		all, first, five int // correct answers among the held-out questions; before: 6 and 8, 8 and 9
	}{{"zh=", 17, 14, 17}, {"en=", 13, 13, 13}} {
		if asked[c.name] != c.all || first[c.name] < c.first || five[c.name] < c.five {
			t.Errorf("%s: %d first and %d among five, of %d", c.name, first[c.name], five[c.name], asked[c.name])
		}
	}
}

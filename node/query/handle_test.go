package query_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// TestDaysOfEvents asks for what was said on days that only a memory of an event makes known.
func TestDaysOfEvents(t *testing.T) {
	n := nodetest.New(t, func(c *config.Config) { c.Zone = "UTC" })
	hear := func(day, text string) {
		t.Helper()
		at, err := time.Parse("2006-01-02 15:04", day+" 18:00")
		if err != nil {
			t.Fatal(err)
		}
		nodetest.Hear(t, n, at, "Ana", text)
	}
	hear("2026-01-05", "My birthday is on May 4th.")
	hear("2026-01-06", "Ben's birthday is on February 29th.")
	hear("2026-01-07", "小王的生日是十月三号。")
	hear("2026-01-08", "My exam is on 20 March 2026.")
	hear("2024-02-29", "The bakery sold out of rye.")
	hear("2026-02-28", "The neighbours argued about parking.")
	hear("2026-03-01", "We moved to Ghent yesterday.")
	hear("2026-03-20", "The heating broke down.")
	hear("2026-03-21", "The kids planted radishes.")
	hear("2026-03-22", "The bus was full of tourists.")
	hear("2026-04-12", "The umbrella was left in the tram.")
	hear("2026-04-29", "The piano got tuned.")
	hear("2026-05-04", "The cake had too much cream.")
	hear("2026-05-05", "The dishwasher leaks.")
	hear("2026-06-20", "窗帘洗好了。")
	hear("2026-06-21", "我们昨天搬家了。")
	hear("2026-06-22", "水管漏水。")
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC)
	for question, want := range map[string]string{
		"What happened in the week before my birthday?": "The piano got tuned.",
		"In the week before my birthday, what happened": "The piano got tuned.",
		"what did we talk about on my birthday":         "The cake had too much cream.",
		"What happened the day after my birthday?":      "The dishwasher leaks.",
		"what happened on the day after the exam":       "The kids planted radishes.",
		"what happened two days after the exam?":        "The bus was full of tourists.",
		"what did we talk about on the day of the exam": "The heating broke down.",
		"what happened on Ben's birthday":               "The bakery sold out of rye.", // 2024 was the last year that had the day
		"what happened on the day we moved to Ghent":    "The neighbours argued about parking.",
		"我生日前一周发生了什么":                                   "The piano got tuned.",
		"我生日那天聊了什么":                                     "The cake had too much cream.",
		"搬家那天聊了什么":                                      "窗帘洗好了。",
		"搬家后两天发生了什么":                                    "水管漏水。",
	} {
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, At: now, K: 5})
		if err != nil {
			t.Fatal(err)
		}
		// The move itself is an answer, too.
		if first := res.Hits[:min(len(res.Hits), 2)]; !slices.ContainsFunc(first, func(h serve.Hit) bool { return h.Text == want || h.Said == want }) {
			t.Errorf("%s:", question)
			for _, h := range res.Hits {
				t.Logf("    %s | %s", h.Text, h.Said)
			}
		}
	}
	// Nothing is known of a graduation, and Ana's birthday is not Carl's.
	for _, question := range []string{"what happened in the week before my graduation", "what happened on Carl's birthday", "毕业那天聊了什么"} {
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, At: now, K: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if h.Parts["time_match"] > 0 {
				t.Errorf("%s: %s has a time", question, h.Text)
			}
		}
	}
}

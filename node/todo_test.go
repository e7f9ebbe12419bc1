package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// What has to be done ranks before what has the question's words.
func TestTasksRankFirst(t *testing.T) {
	n := newNode(t, nil)
	at := time.Date(2026, 3, 4, 16, 0, 0, 0, time.UTC)
	for i, line := range []string{"I work as a physiotherapist.", "Anna is a teacher.", "My brother Jonas is a vet.", "I need to buy milk and oat flakes.", "We're out of coffee.", "I bought a new kettle on Saturday.", "I already bought the paint for the kitchen.",
		"I promised Jonas to send him the photos of the cabin.", "I have a dentist appointment tomorrow at 9 pm.", "Tom is getting married next year.", "我要买鸡蛋和豆腐。", "我喜欢喝乌龙茶。", "小李的工作是护士。"} {
		hear(t, n, at.Add(time.Duration(i)*time.Second), "Ana", line)
	}
	for question, want := range map[string][]string{
		"what do I have to do":          {"dentist", "photos", "milk"},
		"what's on my to-do list":       {"dentist", "photos", "milk"},
		"what do I still need to buy":   {"milk", "coffee"},
		"我要买什么":                         {"milk", "鸡蛋"},
		"what did I promise":            {"photos"},
		"what do I have to do tomorrow": {"dentist"},
		"明天要做什么":                        {"dentist"},
	} {
		hits := search(t, n, serve.SearchRequest{Query: question, At: at})
		var got []string
		for _, h := range hits[:min(len(want)+1, len(hits))] {
			got = append(got, h.Text)
		}
		for i, w := range want {
			if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, w) }) || i == 0 && len(want) == 1 && !strings.Contains(got[0], w) {
				t.Errorf("%q: %q, want %q", question, got, w)
			}
		}
	}
	res, err := n.Search(t.Context(), serve.SearchRequest{Query: "what do I have to do", At: at})
	if err != nil || !res.Known || res.Confidence != res.Hits[0].Memory.Confidence || res.Confidence == 1 {
		t.Errorf("known %v, confidence %v of %+v: %v", res.Known, res.Confidence, res.Hits[0], err)
	}
	none, err := filter.Parse("tags contains nothing", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "what do I have to do", At: at, Filters: none, Sees: none}); len(hits) > 0 {
		t.Errorf("for an app that sees nothing: %q", hits[0].Text)
	}
}

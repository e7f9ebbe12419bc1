package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// TestDayWithoutTasks: what was said on a day is not an answer to what has to be done on it, unless it
// is a task.
func TestDayWithoutTasks(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Now().Add(-time.Minute)
	for _, line := range []string{"thanks", "hi", "Lena is my sister."} {
		nodetest.Hear(t, n, at, "Ana", line)
	}
	ask := func() serve.SearchResult {
		t.Helper()
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: "what do I have to do today", At: at.Add(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		res.Hits = slices.DeleteFunc(res.Hits, func(h serve.Hit) bool { return h.Minor })
		return res
	}
	if res := ask(); res.Known || len(res.Hits) > 0 {
		t.Errorf("known %v, %+v", res.Known, res.Hits)
	}
	nodetest.Hear(t, n, at, "Ana", "call Erik")
	if res := ask(); !res.Known || len(res.Hits) != 1 || !strings.Contains(res.Hits[0].Text, "call Erik") {
		t.Errorf("known %v, %+v", res.Known, res.Hits)
	}
}

// TestPlansOfAPeriod: a plan for another day is not an answer to what is on this week, and neither is
// something that has already happened.
func TestPlansOfAPeriod(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) // a Tuesday
	for i, line := range []string{"I have a dentist appointment on Thursday at half past nine.", "We're going to Lisbon in March.", "I paid the plumber 240 euros yesterday.", "I have a haircut today at eight in the morning.", "I have an interview next Tuesday."} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), "Ana", line)
	}
	for question, want := range map[string]string{"what is on this week": "dentist", "what's planned for next week": "interview", "where are we going in March": "Lisbon", "我们三月去哪儿": "Lisbon"} {
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, At: at.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		res.Hits = slices.DeleteFunc(res.Hits, func(h serve.Hit) bool { return h.Minor })
		if !res.Known || len(res.Hits) != 1 || !strings.Contains(res.Hits[0].Text, want) {
			t.Errorf("%s: known %v, %+v", question, res.Known, res.Hits)
		}
	}
}

// TestTripsFirst: where one goes is answered by a trip, and not by the appointment of an earlier day.
func TestTripsFirst(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for i, line := range []string{"My meeting with the bank is on 14 December 2026 at ten.", "We're going to Lisbon from the 20th to the 27th of December.", "我一月五号有个体检。", "我们一月十号要去哈尔滨看冰灯。"} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), "Ana", line)
	}
	for question, want := range map[string]string{"where are we going in December": "Lisbon", "what are we doing in December": "bank", "我们一月去哪儿": "哈尔滨"} {
		if res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, At: at.Add(time.Minute)}); err != nil || !res.Known || !strings.Contains(res.Hits[0].Text, want) {
			t.Errorf("%s: %v, known %v, %q", question, err, res.Known, res.Hits[0].Text)
		}
	}
}

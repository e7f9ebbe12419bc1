package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// TestSupersededLineRanksBelow: the line of a memory that is no longer true is marked
// and ranks below what replaced it; in a search of the time when it was true, it
// ranks first.
func TestSupersededLineRanksBelow(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	morning := time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)
	for i, l := range []string{"I live in Beijing.", "It rained on the market this morning.", "我搬到上海了。"} {
		if _, err := n.Add(ctx, serve.AddRequest{Text: l, Speaker: "Ana", At: morning.Add(time.Duration(i) * 24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	later := morning.Add(72 * time.Hour)
	places := func(hits []serve.Hit) (old, now int) {
		old, now = -1, -1
		for i, h := range hits {
			if strings.Contains(h.Text, "Beijing") {
				old = i
			}
			if strings.Contains(h.Text, "上海") && now < 0 {
				now = i
			}
		}
		return old, now
	}
	for _, q := range []string{"where do I live", "Do I live in Beijing?", "我住在哪里"} {
		res, err := n.Search(ctx, serve.SearchRequest{Query: q, At: later})
		if err != nil {
			t.Fatal(err)
		}
		old, now := places(res.Hits)
		if now < 0 || old >= 0 && old < now {
			t.Errorf("%s: the old home at %d, the new one at %d: %+v", q, old, now, res.Hits)
		}
		for i, h := range res.Hits {
			if i == old && (h.Until.IsZero() || h.Until.Before(morning)) {
				t.Errorf("%s: the old home is not marked: %+v", q, h)
			}
			if i != old && !h.Until.IsZero() {
				t.Errorf("%s: %q is marked", q, h.Text)
			}
			sum := 0.0 // of parts that are each rounded to six places
			for _, p := range h.Parts {
				sum += p
			}
			if diff := sum - h.Score; diff > 1e-5 || diff < -1e-5 || i > 0 && h.Score > res.Hits[i-1].Score+1e-6 {
				t.Errorf("%s: hit %d scores %.3f, its parts %.3f", q, i, h.Score, sum)
			}
		}
	}
	res, err := n.Search(ctx, serve.SearchRequest{Query: "where do I live", At: later, Types: []memory.Type{memory.Episodic}})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range res.Hits {
		if h.Memory != nil && h.Memory.Type != memory.Episodic {
			t.Errorf("what the request leaves out was brought in: %+v", h)
		}
	}
	res, err = n.Search(ctx, serve.SearchRequest{Query: "where do I live", AsOf: morning.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if old, _ := places(res.Hits); old != 0 || !res.Hits[0].Until.IsZero() {
		t.Errorf("as it was then: %+v", res.Hits)
	}
	block, err := n.Context(ctx, serve.ContextRequest{Topic: "where do I live", At: later})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(block.Text) {
		if strings.Contains(line, "Beijing") && !strings.Contains(line, "until") {
			t.Errorf("the context shows the old home unmarked: %s", line)
		}
	}
	if !strings.Contains(block.Text, "上海") {
		t.Errorf("the context has no new home:\n%s", block.Text)
	}
}

// TestSupersededLinesRankBelow: each line that says what has ended is marked and
// ranks below what replaced it.
func TestSupersededLinesRankBelow(t *testing.T) {
	n := newNode(t, nil)
	morning := time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)
	for i, l := range []string{"I live in Oslo.", "I live in Oslo.", "I moved to Bergen."} {
		if _, err := n.Add(t.Context(), serve.AddRequest{Text: l, Speaker: "Ana", At: morning.Add(time.Duration(i) * 24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := n.Search(t.Context(), serve.SearchRequest{Query: "where do I live", At: morning.Add(72 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "Bergen") {
		t.Errorf("want Bergen first: %+v", res.Hits)
	}
	lines := 0
	for _, h := range res.Hits {
		if strings.Contains(h.Text, "Oslo") {
			lines++
			if h.Until.IsZero() {
				t.Errorf("%q is not marked: %+v", h.Text, h)
			}
		}
	}
	if lines < 2 {
		t.Errorf("want both lines about Oslo: %+v", res.Hits)
	}
}

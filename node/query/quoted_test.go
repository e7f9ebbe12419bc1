package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// TestNoQuoteContradictsItsMemory: what is said of a memory after a correction is not quoted from the line that
// was corrected: not if another line did that, and not if the wearer gave the memory a new text.
func TestNoQuoteContradictsItsMemory(t *testing.T) {
	for _, tt := range []struct {
		said             []string
		text             string // what the wearer makes of the last memory; empty: nothing
		ask, first, gone string
	}{
		{[]string{"My dentist appointment is on Thursday at half past three", "No wait, it's Wednesday"}, "", "When is the dentist?", "Wednesday", "on Thursday"},
		{[]string{"我的牙医预约在周四下午三点半", "不对，是周三"}, "", "牙医预约是什么时候", "星期三", "周四"},
		{[]string{"I live in Beijing"}, "Ana lives in Oslo.", "Where do I live?", "Oslo", "Beijing"},
		{[]string{"我住在北京"}, "Ana住在奥斯陆。", "我住在哪里？", "奥斯陆", "北京"},
		{[]string{"I live in Beijing"}, "", "Where do I live?", "Beijing", "Oslo"},
	} {
		n := nodetest.New(t, nil)
		at := time.Now().Add(-time.Hour)
		for i, line := range tt.said {
			nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Minute), "Ana", line)
		}
		if tt.text != "" {
			page, err := n.List(t.Context(), serve.ListQuery{State: memory.Active, Limit: 9})
			if err != nil || len(page.Memories) != 1 {
				t.Fatal(page.Memories, err)
			}
			if _, err := n.Update(t.Context(), page.Memories[0].ID, serve.UpdateRequest{Text: &tt.text}); err != nil {
				t.Fatal(err)
			}
		}
		found, err := n.Search(t.Context(), serve.SearchRequest{Query: tt.ask})
		if err != nil || len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Text, tt.first) {
			t.Errorf("%s: %+v, %v", tt.ask, found.Hits, err)
			continue
		}
		h := &found.Hits[0]
		if len(h.Evidence) == 0 || strings.Contains(h.Evidence[0].Excerpt+h.Said, tt.gone) || tt.text == "" && h.Evidence[0].Excerpt == "" {
			t.Errorf("%s: %q is quoted from %+v, %q", tt.ask, h.Text, h.Evidence, h.Said)
		}
		if got := len(h.Memory.Evidence); got != len(tt.said) {
			t.Errorf("%s: %d pieces of evidence", tt.ask, got)
		}
		res, err := n.Ask(t.Context(), serve.AskRequest{Question: tt.ask})
		if err != nil || slices.ContainsFunc(res.Evidence, func(it serve.ContextItem) bool {
			return it.Until.IsZero() && strings.Contains(it.Text+it.Said, tt.gone)
		}) {
			t.Errorf("%s: %+v, %v", tt.ask, res.Evidence, err)
		}
		context, err := n.Context(t.Context(), serve.ContextRequest{Topic: tt.ask})
		if err != nil || strings.Contains(context.Text, tt.gone) {
			t.Errorf("%s: %s, %v", tt.ask, context.Text, err)
		}
	}
}

// TestQuotesWhatToldIt: a memory that is said again is quoted from the line that told it, also if all lines came
// long after they were said.
func TestQuotesWhatToldIt(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Now().AddDate(0, 0, -20)
	for i, line := range []string{"我搬到上海了。", "I live in Shanghai now."} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Hour), "Ana", line)
	}
	found, err := n.Search(t.Context(), serve.SearchRequest{Query: "Where do I live?"})
	if err != nil || len(found.Hits) == 0 || len(found.Hits[0].Evidence) != 2 || found.Hits[0].Evidence[0].Excerpt != "我搬到上海了" {
		t.Errorf("%+v, %v", found.Hits, err)
	}
}

package query_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// TestTypedLinesHaveNoNeighbours: the lines next to a line of talk may be about the same matter, and are
// shown with it. What was typed before and after a note is not.
func TestTypedLinesHaveNoNeighbours(t *testing.T) {
	lines := []string{"婆婆不吃羊肉", "我每天早上跑五公里", "The tent is in the attic behind the skis", "We are out of oat milk", "妈妈的降压药快吃完了", "办公室的空调坏了，师傅说明天来修"}
	questions := map[string]string{"婆婆不能吃什么": "小雨的婆婆不吃羊肉。", "妈妈吃什么药": "小雨的妈妈的降压药快吃完了。", "Is the tent in the garage?": "The tent is in the attic behind the skis."}
	shown := func(n *node.Node, question string) (texts []string) {
		t.Helper()
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if !h.Minor {
				texts = append(texts, h.Text)
			}
		}
		return texts
	}
	typed := nodetest.New(t, func(c *config.Config) { c.Wearer = "小雨" })
	for _, line := range lines {
		if _, err := typed.Add(t.Context(), serve.AddRequest{Text: line, Keep: true}); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range questions {
		if got := shown(typed, question); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q are shown", question, got)
		}
	}
	talk := nodetest.New(t, nil)
	for i, line := range lines {
		nodetest.Hear(t, talk, time.Now().Add(time.Duration(i-len(lines))*time.Second), "Tom", line)
	}
	if got := shown(talk, "婆婆不能吃什么"); len(got) < 2 {
		t.Errorf("of talk, %q are shown", got)
	}
}

// TestOnlyMinorHitsIsUnknown: where nothing matches the question well enough to be shown, the answer is
// that it is not known, and not silence.
func TestOnlyMinorHitsIsUnknown(t *testing.T) {
	n := nodetest.New(t, func(c *config.Config) { c.Wearer = "林小雨" })
	for _, line := range []string{"我妹妹小雨住在杭州", "我下周三下午三点看牙医", "我的护照在书桌左边的抽屉里", "我对青霉素过敏", "谢谢"} {
		if _, err := n.Add(t.Context(), serve.AddRequest{Text: line, Keep: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, question := range []string{"我住在哪里", "where do I live"} {
		res, err := n.Ask(t.Context(), serve.AskRequest{Question: question})
		if err != nil {
			t.Fatal(err)
		}
		shown := slices.ContainsFunc(res.Evidence, func(it serve.ContextItem) bool { return !it.Minor })
		if res.Known != shown || !res.Known && res.Answer == "" {
			t.Errorf("%s: known %v with evidence %+v, answer %q", question, res.Known, res.Evidence, res.Answer)
		}
	}
}

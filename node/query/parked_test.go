package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// "Where is my car" is answered by where it was parked, and not by what else was said of a car.
func TestWhereTheCarIs(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Now().Add(-time.Hour)
	for i, line := range []string{"I parked on level two at the airport.", "My car needs new tyres.", "Ben washed the car on Sunday.", "我的电动车充好电了。"} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), "Ana", line)
	}
	ask := func(question string) serve.SearchResult {
		t.Helper()
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, question := range []string{"where is my car", "Where's the car?"} {
		if res := ask(question); !res.Known || !strings.Contains(res.Hits[0].Text, "level two") {
			t.Errorf("%s: %v, %q", question, res.Known, res.Hits[0].Text)
		}
	}
	nodetest.Hear(t, n, at.Add(time.Minute), "Ana", "我把车停在地下二层了。")
	for _, question := range []string{"我的车在哪", "车子现在在哪儿？"} {
		if res := ask(question); !res.Known || !strings.Contains(res.Hits[0].Text, "地下二层") {
			t.Errorf("%s: %v, %q", question, res.Known, res.Hits[0].Text)
		}
	}
	if res := ask("what does my car need"); !res.Known || !strings.Contains(res.Hits[0].Text, "tyres") {
		t.Errorf("%v, %q", res.Known, res.Hits[0].Text)
	}
}

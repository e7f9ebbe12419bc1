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

// Neither the car of somebody else nor a bike, which were parked later, is the wearer's car.
func TestWhereOnlyTheCarIs(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	for _, tt := range []struct {
		lines     []string
		questions []string
		want      string // empty: it isn't known
	}{
		{[]string{"I parked my car on Elm Street.", "I parked the bike behind the library.", "Tom parked his van behind the school.", "Tom: I parked at the station."}, []string{"where is my car", "where's the car?"}, "Elm Street"},
		{[]string{"我把面包车停在中山路了。", "小李把车停在学校后面。", "我把自行车停在图书馆后面了。"}, []string{"我的车在哪", "车在哪儿"}, "中山路"},
		{[]string{"Ben: I parked your car on Elm Street.", "Tom parked his van behind the school."}, []string{"where is my car"}, "Elm Street"},
		{[]string{"Tom parked his van behind the school.", "Tom: I parked at the station."}, []string{"where is my car"}, ""},
	} {
		n := nodetest.New(t, nil)
		for i, line := range tt.lines {
			speaker := "Ana"
			if name, said, ok := strings.Cut(line, ": "); ok {
				speaker, line = name, said
			}
			nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), speaker, line)
		}
		for _, question := range tt.questions {
			if res, err := n.Search(t.Context(), serve.SearchRequest{Query: question}); err != nil || res.Known != (tt.want != "") || !strings.Contains(res.Hits[0].Text, tt.want) {
				t.Errorf("%s: %v, %v, %q; want %q", question, err, res.Known, res.Hits[0].Text, tt.want)
			}
		}
	}
}

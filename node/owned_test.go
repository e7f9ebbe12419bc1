package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// What is known of somebody else's birthday is not an answer to "when is my birthday", and the other
// way round.
func TestPropertyOfAnotherPerson(t *testing.T) {
	others := []string{"Hanna's birthday is on March 3rd.", "My mother's birthday is on May 6th.", "Tom's address is Bergweg 4 in Kassel.", "Anna is a teacher.", "My wife works at the town hall.",
		"Dr. Albers is Tom's doctor.", "Don't forget to buy a birthday card for Hanna.", "Tom's wife is called Petra.", "小王的生日是5月6日。", "小李的工作是护士。", "小李的医生是陈医生。", "我老婆在医院上班。"}
	own := []string{"My birthday is on June 11th.", "My address is Lindenstrasse 12 in Porto.", "I work as a physiotherapist at the clinic.", "My wife is called Karin.", "My doctor is Dr. Albers.",
		"Anna moved to Hamburg last month.", "Tom is getting married in June.", "小王搬到杭州了。", "小李昨天来过。"}
	for _, c := range []struct {
		lines []string
		known []string
		not   []string
	}{
		{others,
			[]string{"when is Hanna's birthday", "when is my mother's birthday", "what is Tom's address", "what is Anna's job", "who is Tom's doctor", "what is Tom's wife's name", "where does my wife work", "小王的生日是什么时候", "小李的工作是什么", "小李的医生是谁", "我老婆在哪里上班"},
			[]string{"when is my birthday", "what is my address", "what's my job", "what do I do for a living", "what is my wife's name", "who is my doctor", "when is Tom's birthday", "what is Anna's address",
				"我的生日是什么时候", "我的工作是什么", "我的医生是谁", "我老婆叫什么名字"}},
		{own,
			[]string{"when is my birthday", "what is my address", "what is my job", "what is my wife's name", "who is my doctor", "where does Anna live", "我的生日是什么时候", "我的医生是谁", "我的工作是什么"},
			[]string{"when is Anna's birthday", "what is Anna's address", "what is Tom's job", "who is Anna's doctor", "when is my wife's birthday", "where does Tom live", "小王的生日是什么时候", "小李的医生是谁", "小王的工作是什么"}},
	} {
		n := newNode(t, nil)
		at := time.Now().Add(-time.Hour)
		for i, line := range append(c.lines, "I bought a new kettle on Saturday.", "The heating in the bathroom is broken again.", "My bike stands in the cellar.", "I like Assam tea.", "我喜欢喝乌龙茶。") {
			hear(t, n, at.Add(time.Duration(i)*time.Second), "Ana", line)
		}
		asks := func(question string, want bool) {
			t.Helper()
			res, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
			if err != nil {
				t.Fatal(err)
			}
			if res.Known != want {
				t.Errorf("%q: known %v, confidence %.2f, by %q", question, res.Known, res.Confidence, res.Hits[0].Text)
			}
		}
		for _, question := range c.known {
			asks(question, true)
		}
		for _, question := range c.not {
			asks(question, false)
		}
	}
}

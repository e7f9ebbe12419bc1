package retrieve

import (
	"strings"
	"testing"
)

func TestTopic(t *testing.T) {
	for _, c := range []struct {
		turns []Turn
		want  string
	}{
		{nil, ""},
		{[]Turn{{"Ann", "Hm, well."}}, ""},
		{[]Turn{{"Ann", "When does the ferry to Texel leave on Sundays?"}}, "When does the ferry to Texel leave on Sundays?"},
		// The question stands by itself: the earlier turn is about something else.
		{[]Turn{{"Ann", "The cat is ill again"}, {"Bo", "When does the ferry to Texel leave on Sundays?"}}, "When does the ferry to Texel leave on Sundays?"},
		{[]Turn{{"Ann", "Maja bought a red kayak"}, {"Bo", "Where did she buy it?"}}, "Where did she buy it? Maja red kayak"},
		{[]Turn{{"Ann", "Maja bought a red kayak in Lindau in the old boat shop at the harbour"}, {"Bo", "Yes."}}, "Maja bought a red kayak in Lindau in the old boat shop at the harbour"},
		{[]Turn{{"Ann", "我搬到上海了"}, {"Bo", "那里怎么样？"}}, "那里怎么样？ 搬 上海"},
		{[]Turn{{"Ann", "我们上次去的餐厅在静安寺旁边"}}, "我们上次去的餐厅在静安寺旁边"},
	} {
		got, own := Topic(c.turns)
		if got != c.want || !strings.HasPrefix(got, own) || (own == "") != (got == "") {
			t.Errorf("%q\n got %q, own %q\nwant %q", c.turns, got, own, c.want)
		}
	}
}

func TestTopicIsAQuery(t *testing.T) {
	long := make([]Turn, 200)
	for i := range long {
		long[i] = Turn{"Ann", string(make([]byte, 5000)) + " kayak 上海 it"}
	}
	if got, _ := Topic(long); len(got) > maxTopic {
		t.Errorf("%d bytes", len(got))
	}
}

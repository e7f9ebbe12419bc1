package consent

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
)

// One party's questions take up no more than its share: further ones are denied
// without asking, others can still ask, and after an answer there is room again.
func TestThreatFloodOfQuestions(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	loud := policy.Request{Action: policy.Read, Kind: policy.App, Name: "loud", Key: "1"}
	calm := policy.Request{Action: policy.Read, Kind: policy.App, Name: "calm", Key: "2"}
	rules := make([]*policy.Rule, 3*maxTheirs)
	for i := range rules {
		rules[i] = policy.Asking("", string(rune('A'+i)))
	}
	held := func(by policy.Request, rules []*policy.Rule, memories int) (out []Held) {
		for i := range memories {
			out = append(out, Held{By: by, Rules: rules, Memory: memory.ID{byte(i), byte(i >> 8), 1}})
		}
		return out
	}
	list, begun, _ := ask(nil, held(loud, rules, 1), true, now)
	if len(list) != maxTheirs || len(begun) != maxTheirs {
		t.Fatalf("%d questions, %d begun", len(list), len(begun))
	}
	list, _, _ = ask(list, held(loud, rules[:1], 10*maxWaits), true, now)
	questions, memories := waitingOf(list, &loud, now)
	if questions != maxTheirs || memories != maxWaits || !list[0].More {
		t.Errorf("%d questions about %d memories, more: %v", questions, memories, list[0].More)
	}
	if _, _, changed := ask(list, held(loud, rules[:1], 10*maxWaits), false, now); changed {
		t.Error("what there is no room for was counted without being asked again")
	}
	list, begun, _ = ask(list, held(calm, rules[:1], 3), true, now)
	if _, n := waitingOf(list, &calm, now); len(begun) != 1 || n != 3 {
		t.Errorf("another asks: %d begun, %d memories wait", len(begun), n)
	}
	list[0].refuse(now.Add(time.Hour), now)
	list, begun, _ = ask(list, held(loud, rules[maxTheirs:], 1), true, now)
	if questions, _ := waitingOf(list, &loud, now); len(begun) != 1 || questions != maxTheirs {
		t.Errorf("after an answer: %d begun, %d wait", len(begun), questions)
	}
}

package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What came with somebody's job, such as the boss and the pay, ends with the job where a model
// finds the end: with a new employer, and where there is none. What belongs to a later job goes on.
func TestModelEndsFactsOfAJob(t *testing.T) {
	for name, end := range map[string]struct {
		line string
		op   op
	}{
		"another": {"So the badge is done, Lumen is where my desk stands from today", op{"op": "UPDATE", "quote": "Lumen is where my desk stands from today", "text": "Ana works at Lumen", "value": "Lumen"}},
		"none":    {"Philips does not employ me any more, that was it", op{"op": "DELETE", "quote": "Philips does not employ me any more"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, s := withModel(t, llmtest.Options{})
			for i, line := range []string{"I work at Philips", "My boss is called Dana", "My salary is 60,000 euros", "My sister is called Lena"} {
				hear(t, n, monday.Add(time.Duration(i)*time.Hour), "Ana", line)
			}
			find(t, n)
			hear(t, n, monday.Add(240*time.Hour), "Ana", end.line)
			s.Script(llmtest.Func(func(r *llmtest.Request) string {
				o := op{"id": number(t, r, "Ana works at Philips.")}
				for k, v := range end.op {
					o[k] = v
				}
				return answerOf(o)
			}))
			find(t, n)
			page, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]memory.Memory{}
			for _, m := range page.Memories {
				if m.Slot != nil && !m.Negates {
					got[m.Slot.Attribute+" "+m.Slot.Value] = m
				}
			}
			for slot, want := range map[string]memory.State{"employer Philips": memory.Superseded, "boss Dana": memory.Superseded, "salary 60,000 euros": memory.Superseded, "sister Lena": memory.Active} {
				if m := got[slot]; m.State != want || want == memory.Superseded && !m.TrueTo.Equal(monday.Add(240*time.Hour)) {
					t.Errorf("%s: %s until %v, want %s; refused %q", slot, m.State, m.TrueTo, want, refusedByModel(t, n))
				}
			}
			hear(t, n, monday.Add(480*time.Hour), "Ana", "My boss is called Marek")
			find(t, n)
			if m := byText(t, n, "Marek"); m.State != memory.Active {
				t.Errorf("the next boss: %+v", m)
			}
		})
	}
}

// byText returns the one memory that names somebody.
func byText(t *testing.T, n *Node, name string) (found memory.Memory) {
	t.Helper()
	page, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Memories {
		if m.Slot != nil && m.Slot.Value == name {
			found = m
		}
	}
	return found
}

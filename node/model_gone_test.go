package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// When a line that made a model end a memory is forgotten, none of its words
// remain in what stays of that memory.
func TestForgottenLineLeavesTheMemoryItEnded(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: modelKey})
	s.Otherwise(operations())
	n := keyed(t, func(c *config.Config) {
		c.LLM = config.LLM{URL: s.URL, Model: s.Model(), Key: modelKey, Extract: true}
	})
	const text = "Ana's dog Rex snores like a tractor every night"
	hear(t, n, monday, "Ana", "Last night again, that dog Rex snores like a tractor, every single night, whatever we try with pillows")
	s.Script(operations(op{"quote": "Rex snores like a tractor", "text": text, "confidence": 1}))
	find(t, n)
	hear(t, n, monday.Add(72*time.Hour), "Ana", "Rex does not snore any more, poor Quintavius")
	s.Script(llmtest.Func(func(r *llmtest.Request) string {
		return answerOf(op{"op": "DELETE", "id": number(t, r, text), "quote": "Rex does not snore any more, poor Quintavius"})
	}))
	find(t, n)
	m, ok := byModel(t, n)[text]
	if !ok || m.TrueTo.IsZero() {
		t.Fatalf("it did not end: %+v, refused %q", m, refusedByModel(t, n))
	}
	for i := range 20 { // a proof looks at several values
		hear(t, n, monday.Add(time.Duration(100+i)*time.Hour), "Bo", "The kettle stands beside the stove, number "+string(rune('a'+i))+".")
	}
	confirm(t, n, serve.ForgetSelection{Query: "quintavius"})
	if _, ok := byModel(t, n)[text]; !ok {
		t.Error("what it ended went, too")
	}
	if r := dig(t, n, "Quintavius"); len(r.Finds) > 0 {
		t.Errorf("still there: %v", r.Finds)
	}
}

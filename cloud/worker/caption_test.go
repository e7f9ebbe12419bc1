package worker

import (
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
)

// sees configures a worker with a vision model and nothing else.
func sees(s *llmtest.Server) Engines {
	return Engines{Speech: "none", Sight: "none", VisionURL: s.URL, VisionModel: s.Model(), Prices: cost.Prices{s.Model(): {Prompt: 2e6, Completion: 4e6}}}
}

// spentOf returns the cost that a memory records.
func spentOf(t *testing.T, m *memory.Memory) (s delta.Spent) {
	t.Helper()
	var err error
	if s.Tokens, err = strconv.ParseInt(m.Metadata["tokens"], 10, 64); err == nil {
		s.MicroUSD, err = strconv.ParseInt(m.Metadata["micro_usd"], 10, 64)
	}
	if err != nil || s.Tokens == 0 || s.MicroUSD == 0 {
		t.Fatalf("%+v, %v", m.Metadata, err)
	}
	return s
}

// A caption records its prompt and its cost. When the day's budget is used up, the next photo
// waits, and the owner sees why.
func TestCaptionsObeyTheBudget(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Say("A poster on a wall."))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	w, _, _ := run(t, Config{Home: home, Budget: queue.Cost{Tokens: 10}, Engines: sees(s)})
	m := o.await(note)
	if m.Text != "A poster on a wall." || m.Metadata["prompt"] != "caption.v2" || m.Source.Model != "vision test-model" || m.Links[0].Relation != result.CaptionOf {
		t.Errorf("%+v", m)
	}
	took := spentOf(t, &m)
	o.source("image/png", day(t, "note.png"))
	last, reads := o.told(w.Spaces()[0].Member, func(last delta.ReportContent, _ []delta.Read) bool {
		for _, k := range last.Work {
			if k.Kind == "caption" && len(k.Reasons) == 1 && strings.Contains(k.Reasons[0].Reason, "budget of the space is spent: ") {
				return true
			}
		}
		return false
	})
	if last.Spent != took || len(reads) == 0 || reads[len(reads)-1].To != host(s.URL) {
		t.Errorf("%+v, want %+v; %+v", last, took, reads)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

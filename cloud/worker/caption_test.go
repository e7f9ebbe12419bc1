package worker

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/worker/cost"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/sync/delta"
)

// A caption says what asked for it and what it cost; when the day's budget is
// spent the next photo waits, and the owner sees why.
func TestCaptionsCostAndWait(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model    string
			Messages []struct{ Role string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || asked.Model != "llava" || len(asked.Messages) == 0 {
			http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"A poster on a wall."}}],"usage":{"prompt_tokens":1000,"completion_tokens":10}}`)
	}))
	t.Cleanup(service.Close)
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	w, _, _ := run(t, Config{Home: home, Budget: queue.Cost{Tokens: 1000}, Prices: cost.Prices{"llava": {Prompt: 2e6, Completion: 4e6}},
		Engines: Engines{Speech: "none", Sight: "none", VisionURL: service.URL, VisionModel: "llava"}})
	m := o.await(note)
	if m.Text != "A poster on a wall." || m.Metadata["prompt"] != "caption/1" || m.Metadata["tokens"] != "1010" || m.Metadata["micro_usd"] != "2040" || m.Source.Model != "vision llava" {
		t.Errorf("%+v", m)
	}
	o.source("image/png", day(t, "note.png"))
	host := strings.TrimPrefix(service.URL, "http://")
	last, reads := o.told(w.Spaces()[0].Member, func(last delta.Told, _ []delta.Read) bool {
		for _, k := range last.Work {
			if k.Kind == "caption" && len(k.Reasons) == 1 && strings.Contains(k.Reasons[0].Reason, "budget of the space is spent: 1010 of 1000 tokens") {
				return true
			}
		}
		return false
	})
	if last.Spent != (delta.Spent{Tokens: 1010, MicroUSD: 2040}) || len(reads) == 0 || reads[len(reads)-1].To != host {
		t.Errorf("%+v, %+v", last, reads)
	}
}

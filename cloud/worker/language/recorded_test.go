package language

import (
	"flag"
	"net/http"
	"testing"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/internal/testing/record"
)

var again = flag.Bool("record", false, "write testdata/recorded anew, from the counterpart")

// The pipeline's requests are exactly those that are recorded. If a prompt, a schema or what is
// shown changes, the request changes, and there is no record of it. The answers come from package
// llmtest's mock server, because no model is available here.
func TestRecorded(t *testing.T) {
	p := &record.Player{Dir: "testdata/recorded", Model: "the counterpart of internal/testing/llmtest"}
	url := "http://127.0.0.1:1/v1"
	if *again {
		s := llmtest.New(t, llmtest.Options{})
		answers(s, map[string]string{
			"router":    `{"managers":["semantic"],"reason":"a job"}`,
			"semantic":  `{"candidates":[{"message":1,"quote":"Bo works for Philips now","text":"Bo works for Philips","sensitivity":"personal","confidence":0.8,"relation":{"subject":"Bo","predicate":"works for","object":"Philips"}}]}`,
			"reconcile": `{"decisions":[{"candidate":1,"op":"ADD","id":null,"value":null}]}`,
		})
		url, p.Next = s.URL, http.DefaultTransport
	}
	c, err := llm.New(llm.Config{URL: url, Model: "test-model", Tries: 1, Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	res, err := pipeline(c, fact(1, "Bo looks for work")).Work(t.Context(), batch("Bo works for Philips now"))
	if err != nil {
		t.Fatalf("%v\nto write the records anew: go test ./cloud/worker/language -run TestRecorded -record", err)
	}
	if len(res.Rulings) != 1 || res.Rulings[0].Candidate == nil || res.Rulings[0].Candidate.Slot.Value != "Philips" {
		t.Errorf("%q", verdicts(res))
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// If something is parked, the list says how to try it again.
func TestParkedHasANextStep(t *testing.T) {
	for _, c := range []struct {
		e    serve.Engine
		want string
	}{
		{serve.Engine{Kind: "eyes", Engine: "tesseract", Local: true, Parked: 1}, "tried again: locket engine add eyes tesseract\n"},
		{serve.Engine{Kind: "ears", Engine: "openai", URL: "https://speech.example/v1", Model: "my whisper", Keyed: true, Parked: 2},
			"tried again: locket engine add ears https://speech.example/v1 'my whisper' --key-file FILE --consent\n"},
		{serve.Engine{Kind: "mind", Engine: "llm", URL: "http://127.0.0.1:11434/v1", Model: "qwen3:8b", Local: true, Parked: 1}, "tried again: locket llm retry\n"},
		{serve.Engine{Kind: "ears", Engine: "whisper.cpp", URL: "http://127.0.0.1:8080", Local: true, Waiting: 1}, ""},
	} {
		var out strings.Builder
		new(App).ShowEngine(&out, &c.e)
		if got := out.String(); !strings.HasSuffix(got, c.want) || c.want == "" && strings.Contains(got, "again") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// An engine whose answer was far from what the sample says is shown with both.
func TestMisheardSampleIsShown(t *testing.T) {
	var out strings.Builder
	new(App).ShowEngine(&out, &serve.Engine{Kind: "ears", Engine: "whisper.cpp", Sample: &serve.EngineSample{Text: "la la la", Words: 3, Seconds: 0.1, Said: "and so my fellow Americans"}})
	if got := out.String(); !strings.Contains(got, `sample: 3 words in 0.1 s: "la la la", but the sample says "and so my fellow Americans"`+"\n") {
		t.Error(got)
	}
}

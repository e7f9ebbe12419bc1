package llm

import (
	"encoding/json"
	"testing"
)

// A server's count is used if it is plausible; otherwise the bytes count.
func TestPlausibleUsage(t *testing.T) {
	for _, c := range []struct {
		name           string
		said           Usage
		sent, pictures int
		answered       int
		want           Usage
	}{
		{"as it should be", Usage{Prompt: 250, Completion: 25}, 1000, 0, 100, Usage{Prompt: 250, Completion: 25}},
		{"none", Usage{}, 1000, 0, 100, Usage{Prompt: 334, Completion: 34, Estimated: 1}},
		{"less than none", Usage{Prompt: -5, Completion: -1}, 1000, 0, 100, Usage{Prompt: 334, Completion: 34, Estimated: 1}},
		{"millions", Usage{Prompt: 9e6, Completion: 9e6}, 1000, 0, 100, Usage{Prompt: 334, Completion: 34, Estimated: 1}},
		{"too few", Usage{Prompt: 1, Completion: 1}, 1000, 0, 100, Usage{Prompt: 334, Completion: 34, Estimated: 1}},
		{"it thought", Usage{Prompt: 250, Completion: 1900}, 1000, 0, 100, Usage{Prompt: 250, Completion: 1900}},
		{"two pictures", Usage{Prompt: 70_000, Completion: 25}, 1000, 2, 100, Usage{Prompt: 70_000, Completion: 25}},
		{"pictures for nothing", Usage{Completion: 25}, 1000, 2, 100, Usage{Prompt: 2334, Completion: 25, Estimated: 1}},
		{"nothing was answered", Usage{Prompt: 250}, 1000, 0, 0, Usage{Prompt: 250}},
	} {
		if got := believed(c.said, c.sent, c.pictures, c.answered, 2000); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// An answer with an invalid count is still used.
func TestStrangeCounts(t *testing.T) {
	for _, usage := range []string{`null`, `{}`, `{"prompt_tokens":"many"}`, `{"prompt_tokens":1.5,"completion_tokens":1e99}`} {
		var a chatAnswer
		if err := json.Unmarshal([]byte(`{"choices":[{"message":{"content":"yes"},"finish_reason":null}],"usage":`+usage+`}`), &a); err != nil || a.Choices[0].Message.Content != "yes" || a.Usage.Prompt != 0 {
			t.Errorf("%s: %+v, %v", usage, a, err)
		}
	}
}

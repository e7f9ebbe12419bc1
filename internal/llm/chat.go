package llm

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// chatRequest is the body of POST /chat/completions, as far as it is used
// (platform.openai.com/docs/api-reference/chat/create).
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Temperature         *float64        `json:"temperature,omitempty"` // 0 is sent
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"` // newer servers' name for it
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // string, or []contentPart if there are pictures
}

type contentPart struct {
	Type     string    `json:"type"` // text, image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type responseFormat struct {
	Type       string      `json:"type"` // json_schema, json_object
	JSONSchema *namedShape `json:"json_schema,omitempty"`
}

type namedShape struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// chatAnswer is the answer.
type chatAnswer struct {
	Choices []struct {
		Message struct {
			Content   loose  `json:"content"`
			Refusal   string `json:"refusal"` // why the model refuses, instead of content
			ToolCalls []struct {
				Function struct {
					Arguments loose `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
			ReasoningContent string `json:"reasoning_content"` // thoughts, if the server tells them from the text
			Reasoning        string `json:"reasoning"`         // the same, as Ollama and vLLM have it
		} `json:"message"`
		FinishReason string `json:"finish_reason"` // stop, length, content_filter, tool_calls, error, …
	} `json:"choices"`
	Usage struct {
		Prompt     tokenCount `json:"prompt_tokens"`
		Completion tokenCount `json:"completion_tokens"`
	} `json:"usage"`
}

// loose is a text that some servers send in another form: Mistral's models that think, as a list of
// parts, of which those of type text count; arguments of a tool, as an object.
type loose string

func (l *loose) UnmarshalJSON(b []byte) error {
	var text string
	var parts []contentPart
	if json.Unmarshal(b, &text) != nil {
		if json.Unmarshal(b, &parts) != nil {
			text = string(b)
		}
		for _, p := range parts {
			if p.Type == "text" {
				text += p.Text
			}
		}
	}
	*l = loose(text)
	return nil
}

// text returns the model's answer without its thoughts. cut says that it reached the limit of
// tokens. If asJSON is set, the answer may be where a server put it in place of the text: in the
// arguments of a call that nobody offered (Ollama looks for calls in every answer of some models), or
// among the thoughts (vLLM, if a model was told not to think).
func (a *chatAnswer) text(asJSON bool) (text string, cut bool, err error) {
	if len(a.Choices) == 0 {
		return "", false, faultf(Babbled, http.StatusOK, "an answer without text")
	}
	c := &a.Choices[0]
	m := &c.Message
	cut = c.FinishReason == "length"
	text, thinks := afterThoughts(string(m.Content))
	called := len(m.ToolCalls) > 0
	if asJSON && blank(text) {
		if called {
			text = string(m.ToolCalls[0].Function.Arguments)
		} else if t := m.ReasoningContent + m.Reasoning; strings.HasPrefix(strings.TrimSpace(t), "{") {
			text = t
		}
	}
	switch {
	case m.Refusal != "":
		return "", false, faultf(Refused, http.StatusOK, "the model says: %s", m.Refusal)
	case c.FinishReason == "content_filter":
		return "", false, faultf(Refused, http.StatusOK, "a filter of the server stopped the answer")
	case c.FinishReason == "error":
		return "", false, faultf(Gone, http.StatusInternalServerError, "it failed while it answered")
	case !asJSON && (called && blank(text) || strings.HasPrefix(strings.TrimSpace(text), "<tool_call>")):
		return "", cut, faultf(Babbled, http.StatusOK, "it calls a tool, and was offered none")
	case !blank(text):
		return strings.ToValidUTF8(text, ""), cut, nil
	case cut || thinks:
		return "", cut, faultf(Babbled, http.StatusOK, "the limit of tokens ended it before there was text")
	}
	return "", cut, faultf(Babbled, http.StatusOK, "an answer without text")
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// size returns how many bytes of text the answer has, thoughts included.
func (a *chatAnswer) size() int {
	if len(a.Choices) == 0 {
		return 0
	}
	m := &a.Choices[0].Message
	return len(m.Content) + len(m.ReasoningContent) + len(m.Reasoning) + len(m.Refusal)
}

// thoughts are the marks around thoughts: those of DeepSeek, Qwen and most others, Mistral, gpt-oss and
// Gemma. Servers that know a model remove them.
var thoughts = [...][2]string{
	{"<think>", "</think>"},
	{"[THINK]", "[/THINK]"},
	{"<|channel|>analysis", "<|channel|>final<|message|>"},
	{"<|channel>thought", "<channel|>"},
}

// afterThoughts returns what follows a model's thoughts, which come first. The mark before them may
// be missing, as part of the question. thinks says that they have no end.
func afterThoughts(text string) (rest string, thinks bool) {
	for _, t := range thoughts {
		if _, after, ok := strings.Cut(text, t[1]); ok {
			return after, false
		}
		if strings.HasPrefix(strings.TrimSpace(text), t[0]) {
			return "", true
		}
	}
	return text, false
}

// tokenCount is a number that a server reports. A value that is not a whole
// number counts as missing, and the answer is still used.
type tokenCount int

func (n *tokenCount) UnmarshalJSON(b []byte) error {
	var i int
	if json.Unmarshal(b, &i) != nil {
		i = 0
	}
	*n = tokenCount(i)
	return nil
}

// modelList is the answer to GET /models.
type modelList struct {
	Data []struct {
		ID string `json:"id"`
	} `json:"data"`
}

// userMessage returns a message with a text, or with a text and pictures.
func userMessage(m *Message) chatMessage {
	if len(m.Pictures) == 0 {
		return chatMessage{"user", m.Text}
	}
	parts := []contentPart{{Type: "text", Text: m.Text}}
	for _, p := range m.Pictures {
		url := "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
		parts = append(parts, contentPart{Type: "image_url", ImageURL: &imageURL{url}})
	}
	return chatMessage{"user", parts}
}

// textBytes returns how many bytes of text a request has: instructions,
// messages and schema, without pictures.
func textBytes(system string, messages []Message, s *Schema) int {
	n := len(system)
	for _, m := range messages {
		n += len(m.Text)
	}
	if s != nil {
		n += len(s.JSON)
	}
	return n
}

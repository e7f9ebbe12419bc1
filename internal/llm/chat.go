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
			Content string `json:"content"` // some servers send the thoughts apart, as reasoning_content or reasoning
			Refusal string `json:"refusal"` // why the model refuses, instead of content
		} `json:"message"`
		FinishReason string `json:"finish_reason"` // stop, length, content_filter, …
	} `json:"choices"`
	Usage struct {
		Prompt     tokenCount `json:"prompt_tokens"`
		Completion tokenCount `json:"completion_tokens"`
	} `json:"usage"`
}

// text returns the model's answer without its thoughts. cut says that it reached the limit of
// tokens.
func (a *chatAnswer) text() (text string, cut bool, err error) {
	if len(a.Choices) == 0 {
		return "", false, faultf(Babbled, http.StatusOK, "an answer without text")
	}
	c := &a.Choices[0]
	cut = c.FinishReason == "length"
	text, thinks := afterThoughts(c.Message.Content)
	switch {
	case c.Message.Refusal != "":
		return "", false, faultf(Refused, http.StatusOK, "the model says: %s", c.Message.Refusal)
	case c.FinishReason == "content_filter":
		return "", false, faultf(Refused, http.StatusOK, "a filter of the server stopped the answer")
	case strings.TrimSpace(text) != "":
		return strings.ToValidUTF8(text, ""), cut, nil
	case cut || thinks:
		return "", cut, faultf(Babbled, http.StatusOK, "the limit of tokens ended it before there was text")
	}
	return "", cut, faultf(Babbled, http.StatusOK, "an answer without text")
}

// size returns how many bytes of text the answer has, thoughts included.
func (a *chatAnswer) size() int {
	if len(a.Choices) == 0 {
		return 0
	}
	return len(a.Choices[0].Message.Content)
}

// afterThoughts returns what follows a model's thoughts, which come first and between <think> and
// </think>. thinks says that they have no end.
func afterThoughts(text string) (rest string, thinks bool) {
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		return after, false
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<think>") {
		return "", true
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

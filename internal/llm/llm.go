// Package llm asks a language model over the chat-completions protocol, as
// OpenAI, Ollama, llama.cpp, vLLM and others serve it.
//
// The words:
//
//   - An endpoint is a base URL and a model's name.
//   - A format is the way of asking for JSON: by a schema, which the best servers enforce; as any
//     JSON object; or in words alone. A client begins with the best, and remembers what its server
//     refused.
//   - A [Fault] says how asking failed, and whether it may succeed later.
//
// It sends only what the caller provides: no header describes this machine,
// redirects are not followed, and no environment variable is read.
package llm

import (
	"embed"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Format is the way of asking for JSON.
type Format string

// The formats, best first.
const (
	FormatAuto   Format = "" // the best that the server accepts
	FormatSchema Format = "schema"
	FormatObject Format = "object"
	FormatText   Format = "text"
)

// Config names an endpoint. URL and Model are required.
type Config struct {
	URL       string        // base, such as http://127.0.0.1:11434/v1; without a path, /v1 is assumed
	Model     string        // the server's name for it
	Key       string        // sent as a bearer token; empty: none
	Timeout   time.Duration // timeout of one answer; 0: 2 min, because small machines are slow
	MaxTokens int           // limit of one answer; 0: 2000
	Format    Format
	Tries     int // tries of one request; 0: 3
	// Transport carries requests; nil: cutoff.Transport. Package record has
	// one that answers from files.
	Transport http.RoundTripper
}

// A client's defaults.
const (
	defaultTimeout   = 2 * time.Minute
	defaultMaxTokens = 2000
	defaultTries     = 3
)

// Role of a message.
type Role string

// The roles in which a caller writes. What a person or a device said is part of a User message, as
// data.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn that the model is shown.
type Message struct {
	Role     Role
	Text     string
	Pictures []Picture // after the text; in a User message
}

// Picture is a picture for a vision model.
type Picture struct {
	Media string // image/jpeg or image/png
	Data  []byte
}

// FromUser returns a user's text, followed by pictures, as the only turn.
func FromUser(text string, pictures ...Picture) []Message {
	return []Message{{Role: User, Text: text, Pictures: pictures}}
}

// JSON encodes data for a model. v may consist of strings, numbers, times, and lists, maps and
// structs of them. JSON panics if v holds anything that can't be encoded.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Request is one question to a model.
type Request struct {
	System   string
	Messages []Message
	Schema   *Schema // nil: the answer is a text
}

// Schema is the form of a JSON answer, in the subset of JSON Schema that strict servers accept: all
// properties of an object are required, and there are no others.
type Schema struct {
	Name string // of a-z, A-Z, 0-9, _ and -
	JSON json.RawMessage
}

// Answer is a model's answer.
type Answer struct {
	Text  string
	Cut   bool // it was cut off at MaxTokens
	Usage Usage
}

// Stats counts what a client has done since it was made.
type Stats struct {
	Usage
	Calls    int       `json:"calls"` // requests that were sent, including repetitions
	Faults   int       `json:"faults"`
	Last     string    `json:"last_fault,omitempty"`
	LastAt   time.Time `json:"last_fault_at,omitzero"`
	Answered time.Time `json:"answered,omitzero"` // time of the last answer
}

// Prompt returns the text of prompts/NAME.md in the caller's embedded files. It
// panics if there is none, because the program was then not built correctly.
func Prompt(prompts embed.FS, name string) string {
	b, err := prompts.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(b))
}

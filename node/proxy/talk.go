package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/node/serve"
)

var errBody = errors.New("bad request")

// talk is a conversation in a request.
type talk struct {
	turns []serve.ContextMessage // what user and assistant said, the latest last
	last  string                 // what the user said in this request; empty: the request continues with the result of a tool, for example
	with  func(block string) ([]byte, error)
}

// adder parses the body of a call to which memories are added.
type adder func(body []byte) (*talk, error)

var adders = map[string]adder{"/v1/chat/completions": chat, "/v1/responses": responses, "/api/chat": chat, "/api/generate": generate}

// lastTurns is how many messages the topic is taken from.
const lastTurns = 8

// object parses a body into its members, each unchanged.
func object(body []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("%w: the body is not a JSON object: %v", errBody, err)
	}
	if m == nil {
		return nil, fmt.Errorf("%w: the body is null", errBody)
	}
	return m, nil
}

// chat is for a body with messages, as in OpenAI's and Ollama's APIs. The block becomes
// a system message after the existing ones.
func chat(body []byte) (*talk, error) {
	m, err := object(body)
	if err != nil {
		return nil, err
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(m["messages"], &messages); err != nil {
		return nil, fmt.Errorf("%w: messages: want a list", errBody)
	}
	t, system := &talk{}, 0
	for i, raw := range messages {
		var of struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &of); err != nil {
			return nil, fmt.Errorf("%w: messages[%d]: want an object with role and content", errBody, i)
		}
		text, err := textOf(of.Content)
		if err != nil {
			return nil, fmt.Errorf("%w: messages[%d].content: %v", errBody, i, err)
		}
		switch of.Role {
		case "system", "developer":
			if system == i {
				system++
			}
		case "user", "assistant":
			if strings.TrimSpace(text) != "" {
				t.turns = append(t.turns, serve.ContextMessage{Speaker: of.Role, Text: text})
			}
			if of.Role == "user" && i == len(messages)-1 {
				t.last = text
			}
		}
	}
	t.turns = t.turns[max(0, len(t.turns)-lastTurns):]
	t.with = func(block string) ([]byte, error) {
		own, err := json.Marshal(struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}{"system", block})
		if err != nil {
			return nil, err
		}
		list := append(append(append([]json.RawMessage{}, messages[:system]...), own), messages[system:]...)
		if m["messages"], err = json.Marshal(list); err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
	return t, nil
}

// responses is for OpenAI's Responses API. The block is added after the instructions,
// which the server reads anew in each request. Tools of the server itself are refused:
// they reach what the server stores for its account, which is the wearer's and not the
// app's.
func responses(body []byte) (*talk, error) {
	m, err := object(body)
	if err != nil {
		return nil, err
	}
	var tools []struct {
		Type string `json:"type"`
	}
	if raw := m["tools"]; len(raw) > 0 && json.Unmarshal(raw, &tools) != nil {
		return nil, fmt.Errorf("%w: tools: want a list", errBody)
	}
	for i, tool := range tools {
		if tool.Type != "function" && tool.Type != "custom" {
			return nil, fmt.Errorf("%w: tools[%d].type: %.40q: only functions and custom tools are passed on, no tools of the server's own", errBody, i, tool.Type)
		}
	}
	var instructions string
	if raw := m["instructions"]; len(raw) > 0 && json.Unmarshal(raw, &instructions) != nil {
		return nil, fmt.Errorf("%w: instructions: want a text", errBody)
	}
	t := &talk{}
	var items []json.RawMessage
	if json.Unmarshal(m["input"], &t.last) == nil {
		if strings.TrimSpace(t.last) != "" {
			t.turns = []serve.ContextMessage{{Speaker: "user", Text: t.last}}
		}
	} else if err := json.Unmarshal(m["input"], &items); err != nil {
		return nil, fmt.Errorf("%w: input: want a text or a list", errBody)
	}
	for i, raw := range items {
		var of struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &of); err != nil {
			return nil, fmt.Errorf("%w: input[%d]: want an object", errBody, i)
		}
		if of.Type != "" && of.Type != "message" || of.Role != "user" && of.Role != "assistant" {
			continue
		}
		text, err := textOf(of.Content)
		if err != nil {
			return nil, fmt.Errorf("%w: input[%d].content: %v", errBody, i, err)
		}
		if strings.TrimSpace(text) != "" {
			t.turns = append(t.turns, serve.ContextMessage{Speaker: of.Role, Text: text})
		}
		if of.Role == "user" && i == len(items)-1 {
			t.last = text
		}
	}
	t.turns = t.turns[max(0, len(t.turns)-lastTurns):]
	t.with = func(block string) ([]byte, error) {
		if instructions != "" {
			block = instructions + "\n\n" + block
		}
		if m["instructions"], err = json.Marshal(block); err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
	return t, nil
}

// textOf returns the text of a content: a string, or parts of which some are text.
func textOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("want a text, or a list of parts")
	}
	var all []string
	for _, p := range parts {
		if (p.Type == "text" || p.Type == "input_text" || p.Type == "output_text") && p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n"), nil
}

// generate is for a body with a prompt. The block is added after the system text; a raw
// prompt has no place for it.
func generate(body []byte) (*talk, error) {
	m, err := object(body)
	if err != nil {
		return nil, err
	}
	var of struct {
		Prompt string `json:"prompt"`
		System string `json:"system"`
		Suffix string `json:"suffix"`
		Raw    bool   `json:"raw"`
	}
	if err := json.Unmarshal(body, &of); err != nil {
		return nil, fmt.Errorf("%w: want texts in prompt, system and suffix, and true or false in raw", errBody)
	}
	t := &talk{}
	if of.Raw || of.Suffix != "" || strings.TrimSpace(of.Prompt) == "" { // a template of the caller's own, code to complete, or a request to load a model
		return t, nil
	}
	t.last, t.turns = of.Prompt, []serve.ContextMessage{{Speaker: "user", Text: of.Prompt}}
	t.with = func(block string) ([]byte, error) {
		if of.System != "" {
			block = of.System + "\n\n" + block
		}
		if m["system"], err = json.Marshal(block); err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
	return t, nil
}

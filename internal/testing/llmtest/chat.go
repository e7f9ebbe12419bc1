package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// chatBody has the allowed fields of a chat request; anything else is refused, as by OpenAI.
type chatBody struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
		Name    string `json:"name"`
	} `json:"messages"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Seed                *int            `json:"seed"`
	Stop                json.RawMessage `json:"stop"`
	Stream              *bool           `json:"stream"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Strict      *bool           `json:"strict"`
			Schema      json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if e := s.admit(r); e != nil {
		s.refuse(w, e)
		return
	}
	req, e := s.check(body)
	if e != nil {
		s.refuse(w, e)
		return
	}
	req.Header, req.Body = r.Header.Clone(), string(body)
	s.next(req)(s, w, r, &req)
}

// check checks a request against the protocol.
func (s *Server) check(body []byte) (req Request, e *refusal) {
	var c chatBody
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return req, bad("", "We could not parse the JSON body of your request: %v", err)
	}
	if e := s.known(c.Model); e != nil {
		return req, e
	}
	switch {
	case len(c.Messages) == 0:
		return req, bad("messages", "Invalid 'messages': empty array")
	case c.Stream != nil && *c.Stream:
		return req, bad("stream", "This server does not stream")
	case s.opt.NewTokens && c.MaxTokens != nil:
		return req, bad("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	case s.opt.NoTemperature && c.Temperature != nil:
		return req, bad("temperature", "Unsupported value: 'temperature' does not support %v with this model.", *c.Temperature)
	case c.Temperature != nil && (*c.Temperature < 0 || *c.Temperature > 2):
		return req, bad("temperature", "Invalid 'temperature': want 0 to 2")
	case c.MaxTokens != nil && *c.MaxTokens < 1, c.MaxCompletionTokens != nil && *c.MaxCompletionTokens < 1:
		return req, bad("max_tokens", "Invalid 'max_tokens': below 1")
	}
	for i, m := range c.Messages {
		text, ok := m.Content.(string)
		var pictures int
		if !ok && m.Role == "user" {
			var why string
			if text, pictures, why = parts(m.Content); why != "" {
				return req, bad("messages", "Invalid 'messages[%d].content': %s", i, why)
			}
			ok = true
		}
		req.Pictures += pictures
		switch {
		case !slices.Contains([]string{"system", "developer", "user", "assistant"}, m.Role):
			return req, bad("messages", "Invalid value: '%s' in 'messages[%d].role'", m.Role, i)
		case !ok:
			return req, bad("messages", "Invalid type for 'messages[%d].content': want a string", i)
		case m.Role == "system" && s.opt.NoSystem:
			return req, bad("", "System role not supported")
		case m.Role == "system" && i > 0:
			return req, bad("messages", "the system message comes first")
		case m.Role == "system":
			req.System = text
		default:
			req.Messages = append(req.Messages, Message{m.Role, text})
		}
	}
	if len(req.Messages) == 0 || req.Messages[len(req.Messages)-1].Role != "user" {
		return req, bad("messages", "the last message is the user's")
	}
	if f := c.ResponseFormat; f != nil {
		req.Format = f.Type
		switch {
		case s.opt.Kind == LMStudio && f.Type != "json_schema":
			return req, bad("response_format.type", "'response_format.type' must be 'json_schema' or 'text'")
		case s.opt.NoFormat:
			return req, bad("response_format", "Unrecognized request argument supplied: response_format")
		case f.Type == "json_object":
			if !strings.Contains(strings.ToLower(string(body)), "json") {
				return req, bad("messages", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
			}
		case f.Type == "json_schema" && !s.opt.NoSchema && f.JSONSchema != nil:
			if !schemaName.MatchString(f.JSONSchema.Name) {
				return req, bad("response_format.json_schema.name", "Invalid 'response_format.json_schema.name'")
			}
			if why := strict(f.JSONSchema.Schema); f.JSONSchema.Strict != nil && *f.JSONSchema.Strict && why != "" {
				return req, bad("response_format", "Invalid schema for response_format '%s': %s", f.JSONSchema.Name, why)
			}
		default:
			return req, bad("response_format.type", "Invalid value: '%s'. response_format.type is not supported", f.Type)
		}
	}
	return req, nil
}

// parts reads a content with several parts: texts, and pictures as data.
func parts(content any) (text string, pictures int, why string) {
	list, ok := content.([]any)
	if !ok || len(list) == 0 {
		return "", 0, "want a string, or an array of parts"
	}
	for _, p := range list {
		m, _ := p.(map[string]any)
		url, _ := m["image_url"].(map[string]any)
		switch m["type"] {
		case "text":
			s, _ := m["text"].(string)
			if s == "" || len(m) != 2 {
				return "", 0, "a part of type text without text"
			}
			text += s
		case "image_url":
			s, _ := url["url"].(string)
			head, data, _ := strings.Cut(s, ";base64,")
			b, err := base64.StdEncoding.DecodeString(data)
			if len(m) != 2 || head != "data:image/jpeg" && head != "data:image/png" || err != nil || http.DetectContentType(b) != strings.TrimPrefix(head, "data:") {
				return "", 0, "a part of type image_url without a picture as data"
			}
			pictures++
		default:
			return "", 0, "a part of another type"
		}
	}
	return text, pictures, ""
}

var schemaName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// strict returns what a schema lacks for a server that enforces it: each object requires all of its
// properties and allows no others.
func strict(raw json.RawMessage) string {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil || root["type"] != "object" {
		return "schema must be of type object"
	}
	return strictNode(root, "()")
}

func strictNode(n map[string]any, at string) string {
	if p, ok := n["properties"].(map[string]any); ok || n["type"] == "object" {
		if n["additionalProperties"] != false {
			return "In context=" + at + ", 'additionalProperties' is required to be supplied and to be false."
		}
		required, _ := n["required"].([]any)
		for name, v := range p {
			if !slices.Contains(required, any(name)) {
				return "In context=" + at + ", 'required' is required to include every key in properties. Missing '" + name + "'."
			}
			if sub, ok := v.(map[string]any); ok {
				if why := strictNode(sub, at+"."+name); why != "" {
					return why
				}
			}
		}
	}
	if items, ok := n["items"].(map[string]any); ok {
		return strictNode(items, at+"[]")
	}
	for _, k := range []string{"oneOf", "allOf", "patternProperties", "minLength", "if"} {
		if n[k] != nil {
			return "In context=" + at + ", '" + k + "' is not permitted."
		}
	}
	return ""
}

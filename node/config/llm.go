package config

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// LLM configures a language model. With an empty URL there is none, and nothing
// that was said leaves the node.
type LLM struct {
	URL       string   `toml:"url" kind:"url"` // OpenAI-compatible, such as http://127.0.0.1:11434/v1
	Model     string   `toml:"model"`
	Key       Secret   `toml:"key"`
	KeyFile   string   `toml:"key_file" kind:"path"`
	Extract   bool     `toml:"extract"`    // the model is sent what is said, to find memories in it
	Topic     bool     `toml:"topic"`      // the model is sent the last messages, to say what they are about
	Format    string   `toml:"format"`     // form of JSON answers: auto, schema, object, text
	Timeout   Duration `toml:"timeout"`    // for one answer
	MaxTokens Count    `toml:"max_tokens"` // for one answer
}

// Secret is a setting that is never shown.
type Secret string

// String returns only whether it is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// GoString returns the same as String.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the same as String, so that no encoding reveals it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Count is a whole number that is not negative.
type Count int

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Count) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 10, 31)
	if err != nil {
		return fmt.Errorf("%q: want a whole number", b)
	}
	*c = Count(n)
	return nil
}

// APIKey returns the key, from the setting or its file; empty if neither is set.
func (c *LLM) APIKey() (string, error) {
	return keyIn("llm.key_file", c.KeyFile, c.Key)
}

// keyIn returns the key from a file if there is one, and otherwise from the
// setting.
func keyIn(setting, path string, key Secret) (string, error) {
	if path == "" {
		return string(key), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", fmt.Errorf("%s: %s is empty", setting, path)
	}
	return text, nil
}

func (l *Loaded) checkLLM() error {
	c := &l.LLM
	if !slices.Contains([]string{"auto", "schema", "object", "text"}, c.Format) {
		return l.wrong("llm.format", "%q: want auto, schema, object or text", c.Format)
	}
	if c.URL == "" {
		for _, s := range []struct {
			key string
			on  bool
		}{{"llm.extract", c.Extract}, {"llm.topic", c.Topic}} {
			if s.on {
				return l.wrong(s.key, "true, and llm.url names nobody to ask")
			}
		}
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return l.wrong("llm.url", "want a URL such as http://127.0.0.1:11434/v1")
	}
	switch {
	case c.Model == "":
		return l.wrong("llm.url", "is set, and llm.model is not: both are needed")
	case c.Key != "" && c.KeyFile != "":
		return l.wrong("llm.key_file", "is set, and so is llm.key at %s: choose one", l.Origin("llm.key"))
	case strings.ContainsAny(string(c.Key), "\r\n"):
		return l.wrong("llm.key", "has a line end in it")
	case c.Timeout <= 0:
		return l.wrong("llm.timeout", "want more than 0")
	case c.MaxTokens < 100:
		return l.wrong("llm.max_tokens", "%d: want 100 or more", c.MaxTokens)
	}
	return nil
}

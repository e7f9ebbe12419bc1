package config

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Proxy configures the model server to whose requests memories are added, for apps
// with the right to chat; with an empty URL there is none.
type Proxy struct {
	URL     string `toml:"url" kind:"url"`       // without the path: http://127.0.0.1:11434, https://api.openai.com
	KeyFile string `toml:"key_file" kind:"path"` // file with the key that is sent to it; empty: none is sent
	Learn   bool   `toml:"learn"`                // learn what the wearer says to the model, if the app may add memories
	Budget  Count  `toml:"budget"`               // tokens of memories in a request; 0: 1000
}

// MCP configures assistants whose hooks ask for memories (locket mcp hook).
type MCP struct {
	Learn bool `toml:"learn"` // learn what the wearer says to the assistant, if the app may add memories
}

// Key returns the key for the model server; empty: there is none.
func (c *Proxy) Key() (string, error) { return wordIn("proxy.key_file", c.KeyFile) }

// wordIn reads a file that contains one word; the result is empty if no file is named.
func wordIn(setting, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", fmt.Errorf("%s: %s: want one word", setting, path)
	}
	return key, nil
}

// maxProxyBudget is serve.MaxBudget, which this package can't import.
const maxProxyBudget = 32000

func (l *Loaded) checkProxy() error {
	c := &l.Proxy
	if c.URL == "" {
		if c.Learn {
			return l.wrong("proxy.learn", "true, and proxy.url names no model server")
		}
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return l.wrong("proxy.url", "want a URL such as http://127.0.0.1:11434")
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		return l.wrong("proxy.url", "leave out /v1: the calls bring it")
	}
	if c.Budget > maxProxyBudget {
		return l.wrong("proxy.budget", "%d: want at most %d", c.Budget, maxProxyBudget)
	}
	return nil
}

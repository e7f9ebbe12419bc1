package config

import (
	"fmt"
	"os"
	"strings"
)

// HomeAssistant configures the broker of a Home Assistant that shows the node; with an
// empty URL there is none.
type HomeAssistant struct {
	URL          string `toml:"url" kind:"url"` // tcp, ssl, mqtt, mqtts, ws or wss
	Username     string `toml:"username"`
	PasswordFile string `toml:"password_file" kind:"path"`
	CA           string `toml:"ca" kind:"path"`       // PEM; empty: the system's
	Prefix       string `toml:"prefix"`               // of its discovery topics; empty: homeassistant
	KeyFile      string `toml:"key_file" kind:"path"` // file with the key of an app that reads and asks; empty: no memories are sent there
}

// Password returns the password for the broker; empty: there is none.
func (c *HomeAssistant) Password() (string, error) {
	if c.PasswordFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(c.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("homeassistant.password_file: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// AppKey returns the app's key; empty: there is none.
func (c *HomeAssistant) AppKey() (string, error) { return wordIn("homeassistant.key_file", c.KeyFile) }

func (l *Loaded) checkHomeAssistant() error {
	c := &l.HomeAssistant
	if c.URL != "" {
		if err := l.checkBrokerURL("homeassistant.url", c.URL); err != nil {
			return err
		}
	}
	if strings.ContainsAny(c.Prefix, "#+\x00") || strings.HasPrefix(c.Prefix, "/") || strings.HasSuffix(c.Prefix, "/") {
		return l.wrong("homeassistant.prefix", "%q: want a topic such as homeassistant", c.Prefix)
	}
	return nil
}

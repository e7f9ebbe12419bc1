package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Settings that have other effects than a person may expect are reported.
func TestDoctorReportsSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*config.Config)
		want string // in the detail of a warning; empty: none of these
	}{
		"as they are":        {func(c *config.Config) { c.Plugins.Disabled = []string{"facts"} }, ""},
		"a broker for all":   {func(c *config.Config) { c.Broker.Listen = "0.0.0.0:0" }, "without TLS"},
		"sealed":             {func(c *config.Config) { c.Broker.Listen, c.Broker.TLSCert, c.Broker.TLSKey = "0.0.0.0:0", "c", "k" }, ""},
		"another's broker":   {func(c *config.Config) { c.Broker.URL = "tcp://broker.example:1883" }, "has no TLS"},
		"another's, sealed":  {func(c *config.Config) { c.Broker.URL = "ssl://broker.example:8883" }, ""},
		"another's, at home": {func(c *config.Config) { c.Broker.URL = "tcp://localhost:1883" }, ""},
		"a plugin misspelt":  {func(c *config.Config) { c.Plugins.Disabled = []string{"fact"} }, "nothing is turned off"},
	} {
		n := initNode(t, c.set, InitOptions{KeyFile: true})
		if _, err := n.UnlockAsConfigured(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := n.Doctor(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, f := range r.Findings {
			if f.Level == serve.LevelWarning && (f.Check == "broker" || f.Check == "plugins") {
				told = append(told, f.Detail)
			}
		}
		if ok := slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, c.want) }); ok != (c.want != "") {
			t.Errorf("%s: %q", name, told)
		}
	}
}

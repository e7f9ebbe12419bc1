package config

import (
	"net/url"
	"time"
)

// Telemetry configures the OpenTelemetry collector to which the node sends traces and
// metrics of what it does. No memories are sent. An empty URL turns it off.
type Telemetry struct {
	URL   string   `toml:"url" kind:"url"` // for OTLP over HTTP, without the paths of traces and metrics: http://127.0.0.1:4318
	Every Duration `toml:"every"`          // interval at which metrics are sent, if metrics are on
}

func (l *Loaded) checkTelemetry() error {
	c := &l.Telemetry
	if c.URL == "" {
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return l.wrong("telemetry.url", "want a URL such as http://127.0.0.1:4318")
	}
	if c.Every.Std() < time.Second {
		return l.wrong("telemetry.every", "%q: want 1s or more", c.Every)
	}
	return nil
}

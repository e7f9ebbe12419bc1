package runcmd

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/otlp"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/wasm/plugins"
)

// tellCollector returns a sink for the daemon's spans, and a function that sends them and the
// metrics until its context ends. Without a collector in the settings, the sink is nil and nothing
// is sent.
func tellCollector(cfg *config.Config, metrics *prometheus.Registry, log *slog.Logger) (span.Sink, func(context.Context), error) {
	c := &cfg.Telemetry
	if c.URL == "" {
		return nil, func(context.Context) {}, nil
	}
	bundles, err := plugins.All()
	if err != nil {
		return nil, nil, err
	}
	ours := map[string]bool{}
	for _, b := range bundles {
		ours[b.Manifest.ID] = true
	}
	to := otlp.Config{URL: c.URL, Service: "locket", Version: cli.ThisBuild().Release, Every: c.Every.Std(), Log: log,
		// The name of a plugin that the wearer chose may reveal something about the wearer.
		KeepOnly: func(label, value string) bool { return label != "plugin" || ours[value] }}
	if metrics != nil {
		to.Metrics = metrics
	}
	out := otlp.New(to)
	return out, out.Run, nil
}

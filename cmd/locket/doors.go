package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/locket-dev/locket/node/calendar"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/hooks"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/proxy"
	"github.com/locket-dev/locket/node/serve"
)

// tellApps tells apps of new memories until ctx ends.
func tellApps(ctx context.Context, services serve.Services, zone *time.Location, log *slog.Logger) {
	if book, ok := services.Apps.(hooks.Book); ok {
		hooks.Run(ctx, hooks.Config{Book: book, Zone: zone, Log: log})
	}
}

// doorsForApps gives the doors for apps beside the API itself.
func doorsForApps(c *config.Config, zone *time.Location, log *slog.Logger) (func(api http.Handler) map[string]serve.Door, error) {
	key, err := c.Proxy.Key()
	if err != nil {
		return nil, err
	}
	model := proxy.Config{URL: c.Proxy.URL, Key: serve.Secret(key), Learn: c.Proxy.Learn, Budget: int(c.Proxy.Budget), Log: log}
	return func(api http.Handler) map[string]serve.Door {
		doors := map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, version().Release)}, "/mem0/": {Handler: mem0.Handler(api)},
			calendar.Pattern: calendar.Door(calendar.Config{Wearer: c.Wearer, Zone: zone}, api)}
		if model.URL != "" {
			maps.Copy(doors, proxy.Doors(model, api))
		}
		return doors
	}, nil
}

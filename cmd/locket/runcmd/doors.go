package runcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/calendar"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/hooks"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/homeassistant"
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

// showHome returns a function that shows the node in Home Assistant until its context ends. If no
// broker is configured, the function does nothing.
func showHome(cfg *config.Config, services serve.Services, log *slog.Logger) (func(context.Context), error) {
	c := &cfg.HomeAssistant
	if c.URL == "" {
		return func(context.Context) {}, nil
	}
	password, err := c.Password()
	if err != nil {
		return nil, err
	}
	key, err := c.AppKey()
	if err != nil {
		return nil, err
	}
	tls, err := intake.TLSConfig(c.CA, "", "")
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256([]byte(cfg.Home))
	show := homeassistant.Config{URL: c.URL, Username: c.Username, Password: password, TLS: tls, Prefix: c.Prefix, ID: "locket_" + hex.EncodeToString(id[:4]),
		Version: cli.ThisBuild().Release, Node: homeassistant.Node{Devices: services.Devices, Intake: services.Intake, Diagnostics: services.Diagnostics, Watcher: services.Watcher}, Listed: cfg.Broker.URL == "", Log: log}
	if key != "" {
		show.App = serve.InProcess(serve.New(serve.Options{Services: services, Log: log})).WithKey(serve.Secret(key))
	}
	return func(ctx context.Context) { homeassistant.Run(ctx, show) }, nil
}

// doorsForApps returns the doors for apps besides the API itself.
func doorsForApps(c *config.Config, zone *time.Location, log *slog.Logger) (func(api http.Handler) map[string]serve.Door, error) {
	key, err := c.Proxy.Key()
	if err != nil {
		return nil, err
	}
	model := proxy.Config{URL: c.Proxy.URL, Key: serve.Secret(key), Learn: c.Proxy.Learn, Budget: int(c.Proxy.Budget), Log: log}
	return func(api http.Handler) map[string]serve.Door {
		doors := map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, cli.ThisBuild().Release)}, "/mem0/": {Handler: mem0.Handler(api)},
			calendar.Pattern: calendar.Door(calendar.Config{Wearer: c.Wearer, Zone: zone}, api), calendar.DAVPattern: calendar.DAVDoor(calendar.Config{Wearer: c.Wearer, Zone: zone}, api)}
		maps.Copy(doors, proxy.Doors(model, api))
		return doors
	}, nil
}

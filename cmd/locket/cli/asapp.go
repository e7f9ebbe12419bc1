package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

// AsApp returns a client that acts as the app whose key is in a file. It talks to the running
// daemon, or, if the file contains a link, to the node at that link.
func (a *App) AsApp(ctx context.Context, file string) (*serve.Client, error) {
	if file == "" {
		return nil, Usagef("give --key-file, with the key that locket app add printed")
	}
	key, err := serve.ReadToken(file)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(key), "https://") {
		return a.daemonAs(ctx, key)
	}
	l, err := door.ParseLink(string(key))
	if err != nil {
		return nil, err
	}
	c, err := door.Dial(l)
	if err != nil {
		return nil, err
	}
	if _, err := c.Self(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("asking the node at %s: %w", l.Address, err)
	}
	return c, nil
}

// daemonAs returns a client of the running daemon that acts as an app.
func (a *App) daemonAs(ctx context.Context, key serve.Secret) (*serve.Client, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	network, address, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	c := serve.Dial(network, address, key)
	self, err := c.Self(ctx)
	switch {
	case serve.IsUnreachable(err):
		err = AdvisedError{Err: errors.New("no daemon runs on " + l.Home), Advice: "Start it: locket run"}
	case err == nil && self.App == nil:
		err = errors.New("the key file does not contain the key of an app")
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

package cli

import (
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

func DoorConfig(c *config.Config) door.Config {
	return door.Config{Home: c.Home, Cert: c.API.TLSCert, Key: c.API.TLSKey}
}

// LinkFor is what an app on another machine is given; empty: the node has no address
// for it.
func LinkFor(c *config.Config, n *serve.NewApp) (string, error) {
	if c.API.Remote == "" && c.API.Public == "" {
		return "", nil
	}
	address, err := door.Address(c.API.Remote, c.API.Public)
	if err != nil {
		return "", err
	}
	pin, err := door.Pin(DoorConfig(c))
	if err != nil {
		return "", err
	}
	return door.Link{Address: address, App: n.App.Name, Key: string(n.Key), Pin: pin}.String(), nil
}

package cli

import (
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
)

func DoorConfig(c *config.Config) door.Config {
	return door.Config{Home: c.Home, Cert: c.API.TLSCert, Key: c.API.TLSKey}
}

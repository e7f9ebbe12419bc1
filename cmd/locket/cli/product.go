package cli

import (
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node"
)

func (o *InitOptions) ForNode(work int) node.InitOptions {
	return node.InitOptions{Work: work, Passphrase: string(o.Passphrase), KeyFile: o.KeyFile, Keyring: o.Keyring, Language: keyring.Language(o.Language)}
}

// ReadyPlugins is the folder in which packages put compiled plugins for all homes of the machine.
const ReadyPlugins = "/var/cache/locket/plugins"

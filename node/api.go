package node

import "github.com/locket-dev/locket/node/serve"

// Services gives what the local API's routes call.
func (n *Node) Services() serve.Services {
	return serve.Services{
		Reader: n, Writer: n, Recaller: n, Forgetter: n, Intake: n, Zoner: n, Keeper: n, MediaReader: n, Keys: n, Vault: n,
		Devices: n, Syncer: n, Relayer: n, Membership: n, Sharer: n, Granter: n, Plugger: n, Tracer: n, Settler: n,
		Modeller: n, Enginer: n, Dreamer: n, Grapher: n, Refuser: n, Diagnostics: n, Exchange: n,
	}
}

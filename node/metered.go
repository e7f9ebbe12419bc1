package node

import (
	"context"

	"github.com/locket-dev/locket/internal/metered"
	"github.com/locket-dev/locket/node/config"
)

// meteredNow returns a function that reports whether the connection costs by the byte now,
// as sync.metered says. It is nil if it never does.
func (n *Node) meteredNow() func(context.Context) bool {
	switch n.cfg.Sync.Metered {
	case config.MeteredYes:
		return func(context.Context) bool { return true }
	case config.MeteredAuto:
		l := &metered.Line{Now: n.now, Changed: func(costs bool) {
			if costs {
				n.log.Info("the network is metered: photos and recordings wait")
			} else {
				n.log.Info("the network is no longer metered: photos and recordings are sent")
			}
		}}
		return l.Costs
	}
	return nil
}

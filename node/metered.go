package node

import (
	"context"

	"github.com/locket-dev/locket/internal/metered"
	"github.com/locket-dev/locket/node/config"
)

// meteredNow reads sync.metered: whether the line costs by the byte now. nil: it never does.
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

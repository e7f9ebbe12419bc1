package node

import (
	"context"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Tally implements serve.Refuser.
func (n *Node) Tally(ctx context.Context) (out serve.Tally, err error) {
	err = n.view(ctx, func(_ *session, tx *store.Tx) error {
		c, err := tx.Tally()
		out = serve.NewTally(c.Taken, c.Refused)
		return err
	})
	return out, err
}

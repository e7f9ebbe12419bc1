package node

import (
	"context"

	"github.com/locket-dev/locket/memory"
)

// HearWorker takes over what a feed's worker said, for tests of other packages.
func (n *Node) HearWorker(ctx context.Context, said ...memory.Assertion) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	return o.sharing.TakeClaims(ctx, said, nil)
}

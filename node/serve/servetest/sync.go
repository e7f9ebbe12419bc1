package servetest

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A node in memory syncs with nobody.
var errAlone = fmt.Errorf("%w: sync.relay is not set", serve.ErrUnsupported)

// SyncStatus implements serve.Syncer.
func (n *Node) SyncStatus(context.Context) (serve.SyncStatus, error) {
	return serve.SyncStatus{Problems: []serve.SyncProblem{}}, nil
}

// SyncNow implements serve.Syncer.
func (n *Node) SyncNow(context.Context) (serve.SyncStatus, error) {
	return serve.SyncStatus{}, errAlone
}

// Members implements serve.Syncer.
func (n *Node) Members(context.Context) ([]serve.Member, error) { return nil, errAlone }

// RemoveMember implements serve.Syncer.
func (n *Node) RemoveMember(context.Context, memory.MemberID, serve.Secret) error { return errAlone }

// PairInvite implements serve.Pairer.
func (n *Node) PairInvite(context.Context) (serve.Pairing, error) { return serve.Pairing{}, errAlone }

// PairWait implements serve.Pairer.
func (n *Node) PairWait(context.Context) (serve.Pairing, error) { return serve.Pairing{}, errAlone }

// PairConfirm implements serve.Pairer.
func (n *Node) PairConfirm(context.Context, bool) (serve.Pairing, error) {
	return serve.Pairing{}, errAlone
}

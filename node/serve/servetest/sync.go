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

// Rotate implements serve.Membership.
func (n *Node) Rotate(context.Context) (serve.Rotated, error) { return serve.Rotated{}, errAlone }

// Heads implements serve.Syncer.
func (n *Node) Heads(context.Context) (serve.Heads, error) { return serve.Heads{}, errAlone }

// CompareHeads implements serve.Syncer.
func (n *Node) CompareHeads(context.Context, string) (serve.HeadsCompared, error) {
	return serve.HeadsCompared{}, errAlone
}

// RecoverVault implements serve.Vault: its secrets are nobody else's.
func (n *Node) RecoverVault(context.Context, serve.Secret) (serve.VaultRecovered, error) {
	return serve.VaultRecovered{}, errAlone
}

// Fetch implements serve.MediaReader.
func (n *Node) Fetch(context.Context, memory.ID) (serve.Fetched, error) {
	return serve.Fetched{}, errAlone
}

// PairInvite implements serve.Membership.
func (n *Node) PairInvite(context.Context) (serve.Pairing, error) { return serve.Pairing{}, errAlone }

// PairWait implements serve.Membership.
func (n *Node) PairWait(context.Context) (serve.Pairing, error) { return serve.Pairing{}, errAlone }

// PairConfirm implements serve.Membership.
func (n *Node) PairConfirm(context.Context, bool) (serve.Pairing, error) {
	return serve.Pairing{}, errAlone
}

// Relays implements serve.Relayer.
func (n *Node) Relays(context.Context) ([]serve.Relay, error) { return []serve.Relay{}, nil }

// AddRelay implements serve.Relayer.
func (n *Node) AddRelay(context.Context, string) ([]serve.Relay, error) { return nil, errAlone }

// RemoveRelay implements serve.Relayer.
func (n *Node) RemoveRelay(_ context.Context, url string) ([]serve.Relay, error) {
	return nil, fmt.Errorf("relay %s: %w", url, memory.ErrNotFound)
}

// MoveRelay implements serve.Relayer.
func (n *Node) MoveRelay(context.Context, string) ([]serve.Relay, error) { return nil, errAlone }

// SyncFolder implements serve.Relayer.
func (n *Node) SyncFolder(context.Context, string) (serve.FolderSynced, error) {
	return serve.FolderSynced{}, errAlone
}

package servetest

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

var (
	_ serve.Sharer  = (*Node)(nil)
	_ serve.Granter = (*Node)(nil)
)

// PreviewShare implements serve.Sharer: this node has no relay.
func (n *Node) PreviewShare(context.Context, serve.ShareRequest) (serve.SharePreview, error) {
	return serve.SharePreview{}, errAlone
}

// CreateShare implements serve.Sharer.
func (n *Node) CreateShare(context.Context, serve.ShareRequest) (serve.Share, error) {
	return serve.Share{}, errAlone
}

// Shares implements serve.Sharer.
func (n *Node) Shares(context.Context) ([]serve.Share, error) { return nil, errAlone }

// Share implements serve.Sharer.
func (n *Node) Share(context.Context, string) (serve.SharedView, error) {
	return serve.SharedView{}, errAlone
}

// ShareLog implements serve.Sharer.
func (n *Node) ShareLog(context.Context) (serve.ShareLog, error) {
	return serve.ShareLog{}, errAlone
}

// UpdateShare implements serve.Sharer.
func (n *Node) UpdateShare(context.Context, string) (serve.ShareUpdated, error) {
	return serve.ShareUpdated{}, errAlone
}

// RevokeShare implements serve.Sharer.
func (n *Node) RevokeShare(context.Context, string, string) (serve.Share, error) {
	return serve.Share{}, errAlone
}

// AddGrant implements serve.Granter.
func (n *Node) AddGrant(context.Context, serve.GrantRequest) (serve.Grant, error) {
	return serve.Grant{}, errAlone
}

// Grants implements serve.Granter.
func (n *Node) Grants(context.Context) ([]serve.Grant, error) { return nil, errAlone }

// RevokeGrant implements serve.Granter.
func (n *Node) RevokeGrant(context.Context, string) (serve.Grant, error) {
	return serve.Grant{}, errAlone
}

// TendGrants implements serve.Granter.
func (n *Node) TendGrants(context.Context) (serve.FeedsTended, error) {
	return serve.FeedsTended{}, errAlone
}

// alone: a node without a relay shares nothing, and says so.
func alone(t *testing.T, c *serve.Client, _ Subject) {
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"preview": func() error {
			_, err := c.PreviewShare(ctx, serve.ShareRequest{Query: "x", To: []string{"y"}})
			return err
		},
		"create": func() error {
			_, err := c.CreateShare(ctx, serve.ShareRequest{Query: "x", To: []string{"y"}})
			return err
		},
		"list":   func() error { _, err := c.Shares(ctx); return err },
		"show":   func() error { _, err := c.Share(ctx, "abcd"); return err },
		"update": func() error { _, err := c.UpdateShare(ctx, "abcd"); return err },
		"revoke": func() error { _, err := c.RevokeShare(ctx, "abcd", "Ann"); return err },
		"grant":  func() error { _, err := c.AddGrant(ctx, serve.GrantRequest{Key: "x"}); return err },
		"grants": func() error { _, err := c.Grants(ctx); return err },
		"tend":   func() error { _, err := c.TendGrants(ctx); return err },
		"log":    func() error { _, err := c.WorkerLog(ctx, "Ann", 0); return err },
		"end":    func() error { _, err := c.RevokeGrant(ctx, "Ann"); return err },
	} {
		if err := call(); !errors.Is(err, serve.ErrUnsupported) {
			t.Errorf("%s without a relay: %v", name, err)
		}
	}
}

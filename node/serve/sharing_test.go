package serve_test

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// alone: a node without a relay shares nothing, and says so.
func alone(t *testing.T, c *serve.Client) {
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

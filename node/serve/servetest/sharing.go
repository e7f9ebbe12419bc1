package servetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

var (
	_ serve.Sharer  = (*Node)(nil)
	_ serve.Granter = (*Node)(nil)
	_ serve.Seller  = (*Node)(nil)
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

// PreviewListing implements serve.Seller.
func (n *Node) PreviewListing(context.Context, serve.ListingRequest) (serve.SharePreview, error) {
	return serve.SharePreview{}, errAlone
}

// PublishListing implements serve.Seller.
func (n *Node) PublishListing(context.Context, serve.ListingRequest) (serve.Listing, error) {
	return serve.Listing{}, errAlone
}

// Listings implements serve.Seller.
func (n *Node) Listings(context.Context) ([]serve.Listing, error) { return nil, nil }

// WithdrawListing implements serve.Seller.
func (n *Node) WithdrawListing(_ context.Context, id, _ string) (serve.Listing, error) {
	return serve.Listing{}, fmt.Errorf("listing %s: %w", id, memory.ErrNotFound)
}

// Sales implements serve.Seller.
func (n *Node) Sales(context.Context) ([]serve.Sale, error) { return nil, nil }

// SettleSale implements serve.Seller.
func (n *Node) SettleSale(_ context.Context, r serve.SaleRequest) (serve.Sale, error) {
	return serve.Sale{}, fmt.Errorf("order %s: %w", r.Order, memory.ErrNotFound)
}

// PayOutSales implements serve.Seller.
func (n *Node) PayOutSales(context.Context, serve.PayoutRequest) (serve.Payout, error) {
	return serve.Payout{}, errAlone
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
	if list, err := c.Listings(ctx); err != nil || len(list) > 0 {
		t.Errorf("listings of a node that sells nothing: %v, %v", list, err)
	}
	if list, err := c.Sales(ctx); err != nil || len(list) > 0 {
		t.Errorf("sales of a node that sells nothing: %v, %v", list, err)
	}
	if _, err := c.WithdrawListing(ctx, "aaaaaaaa", ""); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a listing that is none: %v", err)
	}
	if _, err := c.SettleSale(ctx, serve.SaleRequest{Order: "aaaaaaaa", Act: serve.DeliverSale}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a sale that is none: %v", err)
	}
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
		"sell": func() error {
			_, err := c.PublishListing(ctx, serve.ListingRequest{Bundle: serve.ShareRequest{Query: "x"}, Title: "some notes", Price: "5.00 EUR", Categories: []string{"x"}, Languages: []string{"en"}})
			return err
		},
		"payout": func() error {
			_, err := c.PayOutSales(ctx, serve.PayoutRequest{Amount: "5.00 EUR"})
			return err
		},
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

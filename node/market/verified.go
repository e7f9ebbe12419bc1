package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// known returns the key of each market that the wearer has dealt with, by
// address.
func (b *Buyer) known() (map[string]trade.Key, error) {
	out := map[string]trade.Key{}
	text, err := os.ReadFile(filepath.Join(b.Dir, marketsFile))
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("known markets: %w", err)
	}
	return out, nil
}

// addressOf returns a market's URL in the form in which it is requested.
func addressOf(url string) (string, error) {
	r, err := remote.New(url, remote.Option{})
	if err != nil {
		return "", fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	defer r.Close()
	return r.Address(), nil
}

func (s *Shopper) KnowsMarket(ctx context.Context, market string) (v serve.KnownMarket, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		relay := ""
		if at := p.c.Relay(); at != "" {
			if relay, err = addressOf(at); err != nil {
				return err
			}
		}
		if market == "" {
			v = serve.KnownMarket{Market: relay, Known: relay != ""}
			return nil
		}
		if v.Market, err = addressOf(market); err != nil {
			return err
		}
		pinned, err := p.c.Buyer.known()
		if err != nil {
			return err
		}
		_, v.Known = pinned[v.Market]
		v.Known = v.Known || v.Market == relay
		var all []listed
		err = p.c.Store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(listedMeta, &all); return err })
		for i := range all {
			at, err := addressOf(all[i].Market)
			v.Known = v.Known || err == nil && at == v.Market
		}
		return err
	})
	return v, err
}

// soldOf returns the stored orders of everything that this home sells.
func soldOf(ctx context.Context, of Store) (out []trade.Chain, err error) {
	err = of.View(ctx, func(tx *store.Tx) error {
		return keptSales(tx, func(c *trade.Chain, _ *trade.Offer) { out = append(out, *c) })
	})
	return out, err
}

func (s *Shopper) VerifyMarket(ctx context.Context, r serve.VerifyRequest) (v serve.MarketLog, err error) {
	how := Verification{Witnesses: r.Witnesses}
	if r.With != "" {
		if len(r.With) > MaxWith {
			return v, fmt.Errorf("%w: with: %d bytes are not a checkpoint", memory.ErrInvalid, len(r.With))
		}
		how.With = []byte(r.With)
	}
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		address := cmp.Or(r.Market, p.c.Relay())
		if address == "" {
			return errNoMarket
		}
		if how.Sold, err = soldOf(ctx, p.c.Store); err != nil {
			return err
		}
		found, err := p.c.Buyer.look(ctx, address, how)
		if err != nil {
			return refusal(err)
		}
		v, err = logOf(address, found)
		return err
	})
	return v, err
}

// logOf returns the result of a check of a log in the form in which it is
// shown.
func logOf(address string, f *Verified) (v serve.MarketLog, err error) {
	v = serve.MarketLog{Market: address, Key: f.Market, Log: f.Log, Size: f.Size, Before: f.Before, Witnesses: make([]serve.LogWitness, len(f.Witnesses)), Orders: make([]serve.LoggedOrder, len(f.Orders)), Listings: make([]serve.LoggedReviews, len(f.Listings)),
		Note: string(f.Note), Hides: f.hides(), Missing: f.Unsigned, File: f.ForkFile}
	for i, w := range f.Witnesses {
		v.Witnesses[i] = serve.LogWitness(w)
	}
	for i, d := range f.Orders {
		v.Orders[i] = serve.LoggedOrder(d)
	}
	for i, l := range f.Listings {
		v.Listings[i] = serve.LoggedReviews(l)
	}
	if f.Fork != nil {
		raw, err := json.MarshalIndent(f.Fork, "", "  ")
		if err != nil {
			return v, err
		}
		v.Evidence = string(raw)
		if f.Unkept != nil {
			v.Unkept = f.Unkept.Error()
		}
	}
	return v, nil
}

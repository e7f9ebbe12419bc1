package market

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Carried is an order that was brought to another market, or why it was not.
type Carried struct {
	Order *Bought
	Err   error
}

// Movable gives what [Buyer.Move] would bring to another market, as far as addresses
// tell. No market is asked.
func (b *Buyer) Movable(to string) (out []*Bought, err error) {
	r, err := remote.New(to, remote.Option{HTTP: b.HTTP, Now: b.Now})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	defer r.Close()
	list, err := b.Orders()
	for _, o := range list {
		if strings.TrimRight(o.Market, "/") != strings.TrimRight(r.Address(), "/") && o.movable() {
			out = append(out, o)
		}
	}
	return out, err
}

// movable: it was paid.
func (o *Bought) movable() bool {
	return o.State.Phase != trade.Ordered && o.State.Phase != trade.Expired
}

// Move brings what was bought, with the buyer's reviews, to another market. The one
// where it was bought is asked nothing. Orders that were never paid stay.
func (b *Buyer) Move(ctx context.Context, to string) (out []Carried, err error) {
	list, err := b.Orders()
	if err != nil {
		return nil, err
	}
	err = b.At(ctx, to, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
		for _, o := range list {
			if o.State.Offer.Market == terms.Market || !o.movable() {
				continue
			}
			review, err := os.ReadFile(b.reviewFile(o.State.ID))
			if errors.Is(err, fs.ErrNotExist) {
				review, err = nil, nil
			}
			if err == nil {
				err = bringOrder(ctx, m, by, terms.Market, &o.Chain, review, b.now())
			}
			out = append(out, Carried{o, err})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	return out, err
}

// reviewFile is where the buyer's copy of a review is, signed.
func (b *Buyer) reviewFile(order trade.Hash) string { return reviewOf(b.file(order)) }

func reviewOf(file string) string { return strings.TrimSuffix(file, boughtExt) + ".review" }

func (b *Buyer) keepReview(order trade.Hash, signed []byte) error {
	return atomicfile.Write(b.reviewFile(order), signed)
}

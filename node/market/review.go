package market

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Review publishes the buyer's review of an order that has ended, once.
// [serve.ErrConflict]: there is a different review of it already.
func (b *Buyer) Review(ctx context.Context, o *Bought, stars uint8, text string) error {
	return b.movingLocked(ctx, o, func() error { return b.review(ctx, o, stars, text) })
}

// review is Review, inside [Buyer.moving]. The market keeps the first review that it
// receives, and so does the buyer, whose copy can be moved to another market. The copy is
// written before the review is sent, because the market may store a review whose answer
// is lost.
func (b *Buyer) review(ctx context.Context, o *Bought, stars uint8, text string) error {
	was, err := b.reviewed(o.State.ID)
	if err != nil {
		return err
	}
	if was != nil {
		r, _, _, err := trade.ReadReview(was)
		if err == nil && (r.Stars != stars || r.Text != text) {
			err = fmt.Errorf("order %s: %w: you reviewed it, with %d of 5: %q", o.State.ID.String()[:10], serve.ErrConflict, r.Stars, r.Text)
		}
		if err != nil {
			return err
		}
	}
	return b.WithMarket(ctx, o.Market, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
		file, signed := b.file(o.State.ID), was
		if signed == nil {
			r := trade.Review{Order: o.State.ID, Last: o.State.Last, Stars: stars, Text: text, At: b.now().Unix()}
			err := o.State.CheckReview(&r, by.Key)
			if err == nil {
				signed, _, err = trade.SignReview(r, by)
			}
			if err == nil {
				err = atomicfile.Write(sendingOf(file), signed)
			}
			if err != nil {
				return err
			}
		}
		if err := m.Review(ctx, signed); err != nil {
			answer, refused := errors.AsType[*remote.Error](err)
			refused = refused && answer.Kind != "" && answer.Status < 500
			if refused && (was == nil || errors.Is(err, remote.ErrTrade)) { // the market has not stored it
				err = errors.Join(err, removeFile(sendingOf(file)))
			}
			return err
		}
		if err := atomicfile.Write(reviewOf(file), signed); err != nil {
			return err
		}
		o.Reviewed = true
		return removeFile(sendingOf(file))
	})
}

// reviewed returns the buyer's signed copy of a review, even if the answer to it was
// lost; nil: there is none.
func (b *Buyer) reviewed(order trade.Hash) ([]byte, error) {
	signed, err := os.ReadFile(reviewOf(b.file(order)))
	if errors.Is(err, fs.ErrNotExist) {
		signed, err = os.ReadFile(sendingOf(b.file(order)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return signed, err
}

// reviewOf returns the file of the buyer's copy of a review, beside the order's file.
func reviewOf(file string) string { return strings.TrimSuffix(file, boughtExt) + ".review" }

// sendingOf returns the file of a review until the market has confirmed it.
func sendingOf(file string) string { return strings.TrimSuffix(file, boughtExt) + ".reviewing" }

// removeFile removes a file, which may not exist any more.
func removeFile(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

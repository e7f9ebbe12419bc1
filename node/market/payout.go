package market

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// payouts stores the keys of payouts whose code has not arrived yet.
type payouts interface {
	// pending returns the key that was stored under a name, or stores made.
	pending(ctx context.Context, name string, made trade.Hash) (trade.Hash, error)
	done(ctx context.Context, name string) error
}

// takeOut withdraws money from a market as a voucher. The market gives one code for one
// key, so the key is stored before the request: if the answer is lost, a request for the
// same amount is the same payout.
func takeOut(ctx context.Context, m *remote.Market, market trade.Key, amount string, spend bool, in payouts) (string, error) {
	p := trade.Payout{Spend: spend}
	var err error
	if p.Minor, p.Currency, err = trade.ParsePrice(amount); err != nil {
		return "", fmt.Errorf("%w: amount: %w", memory.ErrInvalid, err)
	}
	rand.Read(p.Key[:])
	name := fmt.Sprintf("%s-%d-%s", market, p.Minor, p.Currency)
	if p.Key, err = in.pending(ctx, name, p.Key); err != nil {
		return "", err
	}
	code, err := m.Payout(ctx, p)
	if err != nil {
		return "", err
	}
	return code, in.done(ctx, name)
}

// WithdrawBalance withdraws the buyer's balance at a market as a voucher. It can be repeated
// after an error: the same amount is not withdrawn twice.
func (b *Buyer) WithdrawBalance(ctx context.Context, m *remote.Market, market trade.Key, amount string) (code string, err error) {
	err = b.locked(ctx, filepath.Join(b.Dir, ".payouts.lock"), func() error {
		code, err = takeOut(ctx, m, market, amount, true, payoutFiles(b.Dir))
		return err
	})
	return code, err
}

// payoutFiles is a buyer's folder.
type payoutFiles string

func (d payoutFiles) file(name string) string { return filepath.Join(string(d), name+".payout") }

func (d payoutFiles) pending(_ context.Context, name string, made trade.Hash) (key trade.Hash, err error) {
	text, err := os.ReadFile(d.file(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return made, atomicfile.Write(d.file(name), []byte(made.String()))
	case err == nil:
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return key, fmt.Errorf("payout %s: %w", d.file(name), err)
	}
	return key, nil
}

func (d payoutFiles) done(_ context.Context, name string) error {
	if err := os.Remove(d.file(name)); err != nil {
		return fmt.Errorf("payout: %w", err)
	}
	return nil
}

// payoutMeta is followed by a payout's name in a seller's store.
const payoutMeta = "market payout "

type storedPayouts struct{ Store }

func (s storedPayouts) pending(ctx context.Context, name string, made trade.Hash) (key trade.Hash, err error) {
	key = made
	err = s.Commit(ctx, func(tx *store.Tx) error {
		if ok, err := tx.Meta(payoutMeta+name, &key); ok || err != nil {
			return err
		}
		return tx.PutMeta(payoutMeta+name, key)
	})
	return key, err
}

func (s storedPayouts) done(ctx context.Context, name string) error {
	return s.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(payoutMeta + name) })
}

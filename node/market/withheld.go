package market

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// check ends what may not be sold any more: a memory in it was forgotten, or the
// policy has changed. First this home drops what opens such a version, whatever a
// market says, and then the market is told, which is tried again until it has answered.
func (s *Shop) check(ctx context.Context, all []listed) error {
	failed := []error{s.dropWithheld(ctx, all)}
	for _, l := range newestOf(all) {
		if len(l.Key) > 0 || !l.Withdrawn.IsZero() || l.Gone {
			continue // who orders an older version has the price back, and the newest stays for sale
		}
		failed = append(failed, s.withdraw(ctx, &l, "")) // why is nobody's affair
	}
	return errors.Join(failed...)
}

// dropWithheld drops the versions that may not be sold any more, sent or not, and
// also those that a market says are still ordered: a refund needs no key.
func (s *Shop) dropWithheld(ctx context.Context, all []listed) error {
	withheld := map[trade.Hash]bool{}
	var failed []error
	for i := range all {
		l := &all[i]
		if len(l.Key) == 0 && len(l.Of) == 0 {
			continue
		}
		why, err := s.c.Bundler.Withheld(ctx, l.Of, l.Purpose, l.Form)
		if failed = append(failed, err); err == nil && why != "" {
			withheld[l.Version] = true
			s.c.Log.Warn("a version of a listing is not for sale any more", "title", l.Title, "number", l.Number, "why", why)
		}
	}
	return errors.Join(append(failed, s.forget(ctx, all, s.c.Compact, func(l *listed) bool { return withheld[l.Version] }))...)
}

// forSale refuses what may not be sold any more. It is asked before a version is
// published anywhere, also where its move began before.
func (s *Shop) forSale(ctx context.Context, l *listed) error {
	why, err := s.c.Bundler.Withheld(ctx, l.Of, l.Purpose, l.Form)
	if err == nil && why == "" && len(l.Key) == 0 {
		why = "its key was dropped"
	}
	if err == nil && why != "" {
		err = fmt.Errorf("%w: it is not for sale any more: %s", serve.ErrConflict, why)
	}
	return err
}

// forget drops what opens some versions: the key first, then the sealed items, and with
// purge, which may be nil, what the store's files still have of the key. The ids of the
// originals go last, so that what failed is done again. all is changed with what is kept.
func (s *Shop) forget(ctx context.Context, all []listed, purge func(context.Context) error, which func(*listed) bool) error {
	over := map[trade.Hash]bool{}
	for i := range all {
		if which(&all[i]) {
			over[all[i].Version] = true
		}
	}
	if len(over) == 0 {
		return nil
	}
	each := func(f func(*listed)) error {
		to := func(all []listed) []listed {
			for i := range all {
				if over[all[i].Version] {
					f(&all[i])
				}
			}
			return all
		}
		to(all)
		return s.change(ctx, to)
	}
	if err := each(func(l *listed) { clear(l.Key); l.Key = nil }); err != nil {
		return err
	}
	for version := range over {
		if err := os.Remove(offeredFile(s.c.Dir, version)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop the bundle: %w", err)
		}
	}
	if purge != nil {
		if err := purge(ctx); err != nil {
			return fmt.Errorf("drop the bundle's key: %w", err)
		}
	}
	return each(func(l *listed) { l.Of = nil })
}

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

// check withdraws listings that may not be sold any more, because a memory in them was
// forgotten or the policy has changed. First this home drops the keys of versions with a
// forgotten memory, whatever a market answers. What the policy holds back is not dropped, but
// is not delivered either. Then it tells the market, and tries again until the market
// answers.
func (s *Shop) check(ctx context.Context, all []listed) error {
	failed := []error{s.dropForgotten(ctx, all), s.noteWithheld(ctx, all)}
	for _, l := range newestOf(all) {
		if len(l.Key) > 0 && l.Held == "" || !l.Withdrawn.IsZero() || l.Gone {
			continue // the newest version stays for sale; orders of an older one are refunded
		}
		ctx, cancel := s.within(ctx)
		failed = append(failed, s.withdraw(ctx, &l, "")) // the market is not told the reason
		cancel()
	}
	return errors.Join(failed...)
}

// dropForgotten drops the keys and items of versions with a forgotten memory. It does so also
// for versions that are not published yet, for those with open orders (a refund needs no
// key), and for ended ones that are kept for tracing.
func (s *Shop) dropForgotten(ctx context.Context, all []listed) error {
	gone := map[trade.Hash]bool{}
	var failed []error
	for i := range all {
		l := &all[i]
		if len(l.Key) == 0 && len(l.Of) == 0 {
			continue
		}
		of, err := s.c.Bundler.Forgotten(ctx, l.Of)
		if failed = append(failed, err); err == nil && len(of) > 0 {
			gone[l.Version] = true
			s.c.Log.Warn("a version of a listing is no longer for sale: a memory in it was forgotten", "title", l.Title, "number", l.Number)
		}
	}
	return errors.Join(append(failed, s.forget(ctx, all, s.c.Compact, func(l *listed) bool { return gone[l.Version] }))...)
}

// noteWithheld records which listings the policy holds back, and why. Each change is also made in
// all.
func (s *Shop) noteWithheld(ctx context.Context, all []listed) error {
	now := map[trade.Hash]string{} // by version, if it changed
	var failed []error
	for _, l := range newestOf(all) {
		if len(l.Key) == 0 || !l.Withdrawn.IsZero() || l.Gone {
			continue
		}
		why, err := s.withheld(ctx, &l)
		if failed = append(failed, err); err == nil && why != l.Held {
			now[l.Version] = why
			s.c.Log.Warn("a version of a listing is withheld from sale", "title", l.Title, "number", l.Number, "why", why)
		}
	}
	if len(now) == 0 {
		return errors.Join(failed...)
	}
	note := func(l *listed) {
		if why, changed := now[l.Version]; changed {
			l.Held = why
		}
	}
	for i := range all {
		note(&all[i])
	}
	return errors.Join(append(failed, s.each(ctx, note))...)
}

// forSale refuses a version that may not be sold any more. It is called before a version is
// published at any market, also when an earlier move continues.
func (s *Shop) forSale(ctx context.Context, l *listed) error {
	why, err := s.withheld(ctx, l)
	if err == nil && why == "" && len(l.Key) == 0 {
		why = "its key was dropped"
	}
	if err == nil && why != "" {
		err = fmt.Errorf("%w: it is not for sale any more: %s", serve.ErrConflict, why)
	}
	return err
}

// forget drops the key of some versions and then their sealed items. purge, which may be nil,
// then removes the key from the store's files. The ids of the original memories are removed
// last, so that a failed step is repeated. Each change is also made in all.
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

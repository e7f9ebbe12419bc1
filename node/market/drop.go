package market

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/sync/trade"
)

// maxWithdrawn is how many withdrawn listings without a key are kept to be shown.
const maxWithdrawn = 100

// maxTraced is how many marked versions that were sold are kept with their keys, so that
// their seller can find out whose copy was passed on. Versions with a forgotten memory
// are dropped nevertheless.
const maxTraced = 100

// over returns the versions whose keys nobody needs any more, and those that need not be
// kept at all. all has the newest version first; open are versions with open orders.
//
// A withdrawn version is needed only for its open orders. So is one that was followed by
// another, once the market has that one: nobody can order it any more.
func over(all []listed, open map[trade.Hash]bool) (keys, whole map[trade.Hash]bool) {
	keys, whole = map[trade.Hash]bool{}, map[trade.Hash]bool{}
	followed, withdrawn, traced := map[trade.Hash]bool{}, 0, 0
	for i := range all {
		l := &all[i]
		before := followed[l.ID]
		followed[l.ID] = before || l.Sent
		if open[l.Version] || !before && l.Withdrawn.IsZero() {
			continue
		}
		if len(l.Key) > 0 && l.Marks > 0 && l.Sold && traced < maxTraced {
			traced++ // somebody may pass on a copy
			continue
		}
		moving := l.MovedTo != nil && !l.MovedTo.All // another attempt needs to know where it moved to
		if !moving || !l.Withdrawn.IsZero() {
			keys[l.Version] = true
		}
		if !before {
			withdrawn++
		}
		if !moving && (before || withdrawn > maxWithdrawn) {
			whole[l.Version] = true
		}
	}
	return keys, whole
}

// drop forgets the keys of versions that are over. Then only the buyers can open the
// sealed items at the market.
func (s *Shop) drop(ctx context.Context, all []listed, open map[trade.Hash]bool) error {
	keys, whole := over(all, open)
	if err := s.forget(ctx, all, nil, func(l *listed) bool { return keys[l.Version] && len(l.Key)+len(l.Of) > 0 }); err != nil {
		return err
	}
	if len(whole) == 0 {
		return nil
	}
	return s.change(ctx, func(all []listed) []listed {
		return slices.DeleteFunc(all, func(l listed) bool { return whole[l.Version] })
	})
}

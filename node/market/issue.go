package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// issueAfter is how long after a period's end the next is issued, so that the market's
// clock, which decides, has come there.
const issueAfter = time.Minute

// issue makes the next period of each subscription that is due: what was learnt since
// the last one, chosen and redacted as the seller said once, under a key of its own.
// Where nothing was learnt there is no issue, and nobody pays.
func (s *Shop) issue(ctx context.Context, all []listed) error {
	var failed []error
	for _, l := range newestOf(all) {
		if l.Request == nil || !l.Withdrawn.IsZero() || l.Gone || len(l.Key) == 0 || !l.Sent && l.Number == 1 {
			continue // it is to be withdrawn, or the seller was told that a first version failed
		}
		var err error
		switch period := time.Duration(l.Request.EveryDays) * 24 * time.Hour; {
		case !l.Sent:
			err = s.resend(ctx, &l)
		case s.c.Now().Sub(l.Created) >= period+issueAfter:
			r := *l.Request
			r.Replaces, r.Bundle.Confirm, r.Bundle.Since, r.Bundle.Until = l.ID.String(), "", l.Request.Bundle.Until, s.c.Now().UTC()
			_, err = s.publish(ctx, r)
		}
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			failed = append(failed, fmt.Errorf("the next period of %q: %w", l.Title, err))
		}
	}
	return errors.Join(failed...)
}

// resend sends a version again of which it is not known whether the market has it.
func (s *Shop) resend(ctx context.Context, l *listed) error {
	if err := s.forSale(ctx, l); err != nil {
		return err
	}
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return err
	}
	if err := s.at(l.Market, func(m *remote.Market, _ trade.Party) error { return m.Publish(ctx, c.offer, c.items) }); err != nil {
		return err
	}
	return s.sent(ctx, l.Version)
}

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

// issueAfter is how long after a period's end the next issue is made, so that the
// market's clock, which decides, has also reached the end.
const issueAfter = time.Minute

// issue makes the next period of each subscription that is due: what was learnt since
// the last one, selected and redacted as the seller specified, with a key of its own.
// If nothing was learnt there is no issue, and nobody pays.
func (s *Shop) issue(ctx context.Context, all []listed) error {
	var failed []error
	for _, l := range newestOf(all) {
		if l.Request == nil || !l.Withdrawn.IsZero() || l.Gone || len(l.Key) == 0 || l.Held != "" || !l.Sent && l.Number == 1 {
			continue // it is about to be withdrawn, or the seller was told that the first version failed
		}
		var err error
		ctx, cancel := s.within(ctx)
		if end := l.due(s.c.Now()); !l.Sent {
			err = s.resend(ctx, &l)
		} else if !end.IsZero() {
			err = s.period(ctx, &l, end)
		}
		cancel()
		if err != nil {
			failed = append(failed, fmt.Errorf("the next period of %q: %w", l.Title, err))
		}
	}
	return errors.Join(failed...)
}

// due returns the end of the last complete period of a subscription; zero: there is
// none since the last issue. Periods are counted from the newest version, even if some
// of them had nothing new.
func (l *listed) due(now time.Time) time.Time {
	from, period := l.Created, time.Duration(l.Request.EveryDays)*24*time.Hour
	if l.Ended.After(from) {
		from = l.Ended
	}
	if whole := now.Add(-issueAfter).Sub(from) / period; whole > 0 {
		return from.Add(whole * period)
	}
	return time.Time{}
}

// period issues what was learnt until the end of a period. What is learnt after that
// waits for the next one, even if there was nothing to issue.
func (s *Shop) period(ctx context.Context, l *listed, end time.Time) error {
	r := *l.Request
	r.Replaces, r.Bundle.Confirm, r.Bundle.Since, r.Bundle.Until = l.ID.String(), "", l.Request.Bundle.Until, end.UTC()
	r.Unmarked = r.Unmarked || !l.Marking // existing subscribers, and the market, may not know about marks
	if _, _, err := s.preview(ctx, &r); errors.Is(err, memory.ErrNotFound) {
		return s.each(ctx, func(v *listed) {
			if v.Version == l.Version {
				v.Ended = end
			}
		})
	}
	_, err := s.publish(ctx, r)
	return err
}

// resend sends a version again if it is not known whether the market has it.
func (s *Shop) resend(ctx context.Context, l *listed) error {
	if err := s.forSale(ctx, l); err != nil {
		return err
	}
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return err
	}
	return s.at(l.Market, func(m *remote.Market, _ trade.Party) error { return s.publishAt(ctx, m, &c) })
}

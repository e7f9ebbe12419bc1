package envstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// pull takes what the place has. What is no delta of the space is named and
// passed over; where some before it are missing, the place is asked again.
func (c *Carrier) pull(ctx context.Context) error {
	for {
		page, err := c.At.Deltas(ctx, c.st.Cursor)
		if errors.Is(err, replica.ErrAhead) {
			return c.trouble(fmt.Errorf("deltas after %d: %w: %w", c.st.Cursor, ErrRolledBack, err))
		}
		if err != nil {
			return fmt.Errorf("%s: deltas after %d: %w", c.Name, c.st.Cursor, err)
		}
		if len(page) == 0 {
			return c.compare()
		}
		for _, p := range page {
			if p.Cursor != c.st.Cursor+1 {
				return c.trouble(fmt.Errorf("deltas after %d: %w: the next has cursor %d", c.st.Cursor, envelope.ErrForm, p.Cursor))
			}
			if err := c.takeOne(ctx, p); err != nil {
				return err
			}
			c.st.Cursor = p.Cursor
		}
		if err := c.save(); err != nil {
			return err
		}
	}
}

func (c *Carrier) takeOne(ctx context.Context, p replica.Placed) error {
	d, err := envelope.ParseDelta(p.Delta)
	if err == nil {
		_, err = c.shelf.Take(d)
	}
	if errors.Is(err, envelope.ErrUnknownHead) { // the entry came since the log was carried
		if err := c.carryLog(ctx); err != nil {
			return err
		}
		_, err = c.shelf.Take(d)
	}
	switch {
	case err == nil:
		ch := chainOf(&d.Header).String()
		c.st.Shown[ch] = max(c.st.Shown[ch], d.Header.Seq)
	case errors.Is(err, envelope.ErrGap), errors.Is(err, envelope.ErrUnknownHead):
		return c.trouble(fmt.Errorf("%w: %w", ErrWithholds, err))
	case isForeign(err):
		c.trouble(err) // noted: it will never be better, and holds nothing up
	default:
		return err
	}
	return nil
}

// isForeign reports whether it is what came that is at fault, and will never be
// better, and not this device, whose disk may be full.
func isForeign(err error) bool {
	if errors.Is(err, memory.ErrDamaged) { // of what is here
		return false
	}
	if _, ok := errors.AsType[*envelope.ForkError](err); ok {
		return true
	}
	for _, foreign := range []error{envelope.ErrForm, envelope.ErrSignature, envelope.ErrBody, envelope.ErrGap, envelope.ErrKnown, envelope.ErrRule, envelope.ErrUnknownHead, envelope.ErrChains} {
		if errors.Is(err, foreign) {
			return true
		}
	}
	return false
}

// compare holds what a place shows, to its end, to what it had taken.
func (c *Carrier) compare() error {
	for _, ch := range slices.Sorted(maps.Keys(c.st.Taken)) {
		if taken, shown := c.st.Taken[ch], c.st.Shown[ch]; shown < taken {
			return c.trouble(fmt.Errorf("%w: of %s it shows %d, and had taken %d", ErrWithholds, ch, shown, taken))
		}
	}
	return nil
}

// push gives the place what it has not shown. What came after its author's
// removal no place takes, and what others begin beyond the chains that a member
// may have a relay does not take: it is named and passed over, as is the rest of
// its chain.
func (c *Carrier) push(ctx context.Context) error {
	refs := c.shelf.since(c.st.Order)
	for i, r := range refs {
		if c.Progress != nil {
			c.Progress(i, len(refs))
		}
		ch := chain{r.Member, r.Incarnation}.String()
		if r.Seq > max(c.st.Shown[ch], c.st.Taken[ch]) && (c.Owner || r.Member == c.Self) {
			d, err := c.shelf.read(r)
			if err != nil {
				return err
			}
			if c.st.Late[ch] > 0 { // what follows it no place takes either
				c.st.Late[ch] = r.Seq
			} else if late := c.shelf.late(d); late != nil {
				c.notice(fmt.Errorf("not sent, nor what follows it: %w", late))
				c.st.Late[ch] = r.Seq
			} else if err := c.At.Append(ctx, d); errors.Is(err, envelope.ErrChains) && r.Member != c.Self {
				c.notice(fmt.Errorf("not sent, nor what follows it: %w", err))
				c.st.Late[ch] = r.Seq
			} else if err != nil {
				return fmt.Errorf("%s: send %s of %s: %w", c.Name, r.Position, r.Member, err)
			} else {
				c.st.Taken[ch] = r.Seq
			}
		}
		c.st.Order++
		if i%64 == 63 {
			if err := c.save(); err != nil {
				return err
			}
		}
	}
	if c.Progress != nil {
		c.Progress(len(refs), len(refs))
	}
	return nil
}

// carryGone has the place throw away bodies of this device's own that went.
func (c *Carrier) carryGone(ctx context.Context) error {
	c.shelf.mu.Lock()
	var refs []replica.Ref
	n := len(c.shelf.gone)
	for r, at := range c.shelf.gone {
		if at >= c.st.Gone && r.Member == c.Self {
			refs = append(refs, r)
		}
	}
	c.shelf.mu.Unlock()
	for part := range slices.Chunk(refs, pageDeltas) {
		if err := c.At.Forget(ctx, part); err != nil {
			return fmt.Errorf("%s: forget: %w", c.Name, err)
		}
	}
	c.st.Gone = n
	return nil
}

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

// pull takes the deltas that the remote has. It records a fault for each that
// is not a delta of the space, and goes on, up to maxForeign of them. If earlier
// deltas are missing, it asks the remote again.
func (c *Carrier) pull(ctx context.Context) error {
	foreign := 0
	for {
		page, err := c.Remote.Deltas(ctx, c.st.Cursor)
		if errors.Is(err, replica.ErrAhead) {
			if err := c.fromTheBeginning(fmt.Errorf("deltas after %d: %w; what it lacks is sent again: %w", c.st.Cursor, ErrRolledBack, err)); err != nil {
				return err
			}
			if err := c.carryLog(ctx); err != nil { // it may lack the last entries, too
				return err
			}
			continue
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
			bad, err := c.takeOne(ctx, p)
			if err != nil {
				return err
			}
			if bad {
				foreign++
			}
			c.st.Cursor = p.Cursor
		}
		if err := c.save(); err != nil {
			return err
		}
		if foreign >= maxForeign {
			return fmt.Errorf("%s: deltas after %d: %w: more than %d are not of the space", c.Name, c.st.Cursor, envelope.ErrForm, maxForeign)
		}
	}
}

// maxForeign is how many deltas that are not of the space are passed over in one
// round. A remote can make them up without end.
const maxForeign = 1000

// takeOne takes a delta. foreign reports that it is not one of the space, which was
// recorded.
func (c *Carrier) takeOne(ctx context.Context, p replica.Placed) (foreign bool, err error) {
	d, err := envelope.ParseDelta(p.Delta)
	if err == nil {
		_, err = c.store.TakeDelta(d)
	}
	if errors.Is(err, envelope.ErrUnknownHead) { // the log was copied before the entry came
		if err := c.carryLog(ctx); err != nil {
			return false, err
		}
		_, err = c.store.TakeDelta(d)
	}
	switch {
	case err == nil:
		ch := chainOf(&d.Header).String()
		c.st.Shown[ch] = max(c.st.Shown[ch], d.Header.Seq)
	case errors.Is(err, envelope.ErrGap), errors.Is(err, envelope.ErrUnknownHead):
		return false, c.trouble(fmt.Errorf("%w: %w", ErrWithholds, err))
	case isForeign(err):
		c.trouble(err) // another try would not help; the rest goes on
		return true, nil
	default:
		return false, err
	}
	return false, nil
}

// isForeign reports whether err is a fault of the received bytes, so that
// another try can't help. A full disk of this device is no such fault.
func isForeign(err error) bool {
	if errors.Is(err, memory.ErrDamaged) { // the fault is in this device's copy
		return false
	}
	if _, ok := errors.AsType[*envelope.ForkError](err); ok {
		return true
	}
	return slices.ContainsFunc([]error{envelope.ErrForm, envelope.ErrSignature, envelope.ErrBody, envelope.ErrGap, envelope.ErrKnown, envelope.ErrRule, envelope.ErrUnknownHead, envelope.ErrChains},
		func(foreign error) bool { return errors.Is(err, foreign) })
}

// compare compares everything that the remote shows with what it had taken.
func (c *Carrier) compare() error {
	for _, ch := range slices.Sorted(maps.Keys(c.st.Taken)) {
		if taken, shown := c.st.Taken[ch], c.st.Shown[ch]; shown < taken {
			return c.trouble(fmt.Errorf("%w: chain %s: it shows delta %d, but had accepted %d", ErrWithholds, ch, shown, taken))
		}
	}
	return nil
}

// push sends the deltas that the remote has not shown. No remote takes a delta
// that its author sent after being removed, and no relay takes more chains of a
// member than its limit. push reports such a delta and skips the rest of its
// chain.
func (c *Carrier) push(ctx context.Context) error {
	refs := c.store.since(c.st.Order)
	for i, r := range refs {
		if c.Progress != nil {
			c.Progress(i, len(refs))
		}
		ch := chain{r.Member, r.Incarnation}.String()
		if r.Seq > max(c.st.Shown[ch], c.st.Taken[ch]) && (c.Owner || r.Member == c.Self) {
			d, err := c.store.read(r)
			if err != nil {
				return err
			}
			if c.st.Late[ch] > 0 { // no remote takes the rest of this chain
				c.st.Late[ch] = r.Seq
			} else if late := c.store.late(d); late != nil {
				c.notice(fmt.Errorf("not sent, nor what follows it: %w", late))
				c.st.Late[ch] = r.Seq
			} else if err := c.Remote.Append(ctx, d); errors.Is(err, envelope.ErrChains) && r.Member != c.Self {
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

// removeBodies tells the remote to remove bodies of this device's own deltas that
// were removed here.
func (c *Carrier) removeBodies(ctx context.Context) error {
	c.store.mu.Lock()
	var refs []replica.Ref
	n := len(c.store.gone)
	for r, at := range c.store.gone {
		if at >= c.st.Gone && r.Member == c.Self {
			refs = append(refs, r)
		}
	}
	c.store.mu.Unlock()
	for part := range slices.Chunk(refs, pageDeltas) {
		if err := c.Remote.Forget(ctx, part); err != nil {
			return fmt.Errorf("%s: forget: %w", c.Name, err)
		}
	}
	c.st.Gone = n
	return nil
}

package carry

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// drain sends the entries of the spool: what an earlier process left, and what came while the node
// was away for too long.
type drain struct {
	sent    atomic.Int64
	refused atomic.Int64
	going   atomic.Int64 // entries that were taken out and are not finished yet
}

// together is how many entries are sent at once.
const together = 16

// run sends entries until ctx ends.
func (d *drain) run(ctx context.Context, c *Config) {
	for ctx.Err() == nil {
		batch := map[*wear.Receipt]spool.ID{}
		e, err := c.Spool.Next(ctx)
		for {
			if err != nil {
				if ctx.Err() == nil {
					c.note("lost", "%v", err)
				}
			} else {
				d.going.Add(1)
				if r := d.send(ctx, c, e); r != nil {
					batch[r] = e.ID
				}
			}
			if ctx.Err() != nil || len(batch) >= together || c.Spool.Due() == 0 {
				break
			}
			e, err = c.Spool.Next(ctx)
		}
		for r, id := range batch {
			d.end(ctx, c, id, r.Wait(ctx))
		}
	}
}

// send publishes an entry as soon as the node keeps up and there is no pause. What was heard before
// a pause does not belong to it.
func (d *drain) send(ctx context.Context, c *Config, e spool.Entry) *wear.Receipt {
	for c.Client.Pending() > roomStored || c.Client.Paused() {
		if !wait.For(ctx, tick) {
			d.end(ctx, c, e.ID, ctx.Err())
			return nil
		}
	}
	r, err := c.Client.Publish(ctx, &wire.Sealed{Header: wire.Header{Boot: e.Boot, Seq: e.Seq, At: e.At}, Data: e.Data})
	if err != nil {
		d.end(ctx, c, e.ID, err)
		return nil
	}
	d.sent.Add(1)
	return r
}

func (d *drain) end(ctx context.Context, c *Config, id spool.ID, err error) {
	switch {
	case err == nil, errors.Is(err, wear.ErrThen):
		c.Spool.Done(id)
	case errors.Is(err, wear.ErrRefused):
		d.refused.Add(1)
		if err := c.Spool.Quarantine(id); err != nil {
			c.note("warning", "%v", err)
		}
	default: // a pause has begun, or the bridge ends
		c.Spool.Requeue(id)
		wait.For(ctx, tick)
	}
	d.going.Add(-1)
}

// waitIdle waits until nothing is due, at most for the time of parting.
func (d *drain) waitIdle(ctx context.Context, s *spool.Spool) {
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	for s.Due() > 0 || d.going.Load() > 0 {
		if !wait.For(ctx, 10*time.Millisecond) {
			return
		}
	}
}

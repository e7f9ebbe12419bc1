package query

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Lost implements serve.Calendar.
func (rd Reader) Lost(ctx context.Context, since time.Time, limit int) (out serve.Lost, err error) {
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		now := qr.c.Now()
		if since.IsZero() {
			since = now.Add(-serve.DefaultLost)
		}
		var err error
		if out, err = lostOf(tx.Refusals(), since, limit); err == nil {
			out.Pauses = rd.pauses.PausesBetween(since, now)
		}
		return err
	})
	return out, err
}

// lostOf returns what was lost since a time: for each device, the newest losses up to the
// limit. Refusals are stored in the order in which they came, which is not that of their
// times, so all are read: the store has 10,000 at most.
func lostOf(refusals iter.Seq2[memory.Refusal, error], since time.Time, limit int) (serve.Lost, error) {
	out := serve.Lost{Since: since.UTC(), Gaps: []serve.Gap{}, Devices: []serve.DeviceLost{}}
	for r, err := range refusals {
		if err != nil {
			return out, err
		}
		if r.Kind != memory.GapKind || r.At.Before(since) {
			continue
		}
		missing, why, ok := memory.ReadGap(r.Reason)
		if !ok {
			continue
		}
		g := serve.Gap{Device: r.Event.Device, At: r.At, Why: why}
		if missing != nil {
			g.From, g.To = &missing.From, &missing.To
		}
		out.Gaps = append(out.Gaps, g)
	}
	sorting.Stable(out.Gaps, func(a, b serve.Gap) int { return b.At.Compare(a.At) })
	at := map[string]int{} // index in out.Devices
	out.Gaps = slices.DeleteFunc(out.Gaps, func(g serve.Gap) bool {
		i, known := at[g.Device]
		if !known {
			i = len(out.Devices)
			at[g.Device] = i
			out.Devices = append(out.Devices, serve.DeviceLost{Device: g.Device})
		}
		d := &out.Devices[i]
		d.Times++
		d.More = d.Times > limit
		return d.More
	})
	return out, nil
}

package engines

import (
	"context"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// When a series may be tried.
const (
	lateRest  = 5 * time.Second // after a photo arrived: old photos arrive together
	farFuture = time.Hour       // a photo that is further in the future has a wrong time, so nothing waits for it
)

// nextSeries returns photos that are to be seen together, see [result.Series], or how long to wait
// for some. A series that is not full is complete after a pause. It is shown once all of its photos
// may be shown. A photo on whose series the engine failed is returned alone. The caller holds mu.
func (q *Queue) nextSeries() ([]item, time.Duration) {
	now, rest := q.now(), scanEvery
	var free []item
	var shots []result.Shot
	for _, it := range q.items {
		if !it.alone {
			free, shots = append(free, it), append(shots, result.Shot{At: it.start, Hash: it.hash})
			continue
		}
		left := q.ready(&it).Sub(now)
		if left <= 0 {
			return []item{it}, 0
		}
		rest = min(rest, left)
	}
	for len(free) > 0 {
		n, over := result.Series(shots)
		ready := over
		if over.Sub(now) > farFuture {
			ready = time.Time{}
		}
		for i := range free[:n] {
			at := q.ready(&free[i])
			if late := free[i].learnt.Add(lateRest); !over.IsZero() && late.After(at) && late.Sub(now) <= lateRest {
				at = late
			}
			if at.After(ready) {
				ready = at
			}
		}
		left := ready.Sub(now)
		if left <= 0 {
			return free[:n:n], 0
		}
		rest = min(rest, left)
		free, shots = free[n:], shots[n:]
	}
	return nil, rest
}

// open returns a function that opens a photo of a series.
func (q *Queue) open(id memory.ID) func(context.Context) (sight.Frame, error) {
	return func(ctx context.Context) (f sight.Frame, err error) {
		err = q.host.View(ctx, func(tx *store.Tx) error {
			m, err := tx.Memory(id)
			if err != nil {
				return err
			}
			f.At = result.StartOf(m)
			if f.Photo, err = mediaOf(tx, m); err != nil {
				return err
			}
			f.Hints = result.Hints(m, f.Photo)
			return nil
		})
		return f, err
	}
}

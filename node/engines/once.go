package engines

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// once has the engine work on a source. It returns an error only for a reason that
// would stop every source.
func (q *Queue) once(ctx context.Context, it *item) error {
	j, fate, err := q.job(ctx, it.id)
	if err != nil {
		return err
	}
	if fate == ready {
		var a *result.Answer
		if q.live != nil {
			a, _ = q.live.Words(it.id)
		}
		if a == nil {
			a = new(result.Answer)
			*a, err = q.process.Do(ctx, j)
		}
		if err == nil {
			err = q.host.Took(ctx, it.id, a)
		}
	}
	if q.live != nil {
		q.live.Kept(it.id)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f *engine.Fault
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err == nil && fate == unheard:
		if i := slices.IndexFunc(q.items, func(o item) bool { return o.id == it.id }); i >= 0 {
			q.items[i].after = q.now().Add(unheardRest)
		}
	case err == nil && fate == ready:
		q.done++
		q.trouble = ""
		q.drop(it.id)
	case err == nil || errors.Is(err, memory.ErrNotFound):
		switch fate {
		case nearSecret:
			q.held++
		case notHere:
			q.absent++
		}
		q.drop(it.id)
	case errors.As(err, &f) && (f.Kind == engine.Gone || f.Kind == engine.Busy || f.Kind == engine.Missing):
		return err // it would fail with any source
	case errors.Is(err, memory.ErrNoSpace):
		return err
	default:
		i := slices.IndexFunc(q.items, func(o item) bool { return o.id == it.id })
		if i < 0 {
			return nil
		}
		q.items[i].tries++
		q.log.Warn("an engine failed at a source", "source", it.id, "tries", q.items[i].tries, "error", err)
		if q.items[i].tries < maxTries && (f == nil || f.Temporary()) {
			q.items[i].after = q.now().Add(retry.After(q.items[i].tries, firstRest, longRest))
			return nil
		}
		if err := park(ctx, q.host, q.spec.Work(), it.id, Parked{At: q.now().UTC(), Reason: engine.Clip(err.Error())}); err != nil {
			return err
		}
		q.drop(it.id)
	}
	return nil
}

// fate is what to do with a source when its turn has come.
type fate int

const (
	ready      fate = iota
	over            // it is gone, or no longer waits
	nearSecret      // it stays on this machine
	notHere         // its file is not on this device
	unheard         // what was said around it is not known yet
)

// job puts together what the engine is sent.
func (q *Queue) job(ctx context.Context, id memory.ID) (j Job, f fate, err error) {
	j.Spec = q.spec
	err = q.host.View(ctx, func(tx *store.Tx) error {
		f = over
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) || err == nil && !Waits(m, q.spec.Work()) {
			return nil
		}
		if err != nil {
			return err
		}
		if !q.spec.Local() {
			if held, err := extract.Held(tx, m); err != nil || held {
				f = nearSecret
				return err
			}
			if wait, err := Unheard(tx, m); err != nil || wait {
				f = unheard
				return err
			}
		}
		blob, err := memory.ParseID(m.Fields.Resource.Blob)
		if err != nil {
			return nil
		}
		r, err := tx.OpenBlob(blob)
		if errors.Is(err, memory.ErrNotFound) {
			f = notHere
			return nil
		}
		if err != nil {
			return err
		}
		j.Media, err = io.ReadAll(io.LimitReader(r, maxMedia+1))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		f, j.Lang, j.Turn = ready, m.Lang, result.Hints(m, j.Media).Turn
		return nil
	})
	return j, f, err
}

package engines

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// once makes the engine work on a source, or on the photos of a series that may be shown now. It
// returns an error only for a reason that would stop every source.
func (q *Queue) once(ctx context.Context, its []item) error {
	j, of, err := q.job(ctx, its)
	if err != nil || len(of) == 0 {
		return err
	}
	var a *result.Answer
	if q.live != nil {
		a, _ = q.live.words(of[0])
	}
	if a == nil {
		a = new(result.Answer)
		*a, err = q.process.Do(ctx, j)
	}
	left := map[memory.ID]string{}
	if err == nil {
		for i, why := range a.Left {
			left[of[i]] = why
		}
		seen := slices.DeleteFunc(slices.Clone(of), func(id memory.ID) bool { return left[id] != "" })
		if len(seen) > 0 {
			err = q.host.StoreAnswer(ctx, a, seen...)
		}
	}
	if q.live != nil {
		q.live.dropWords(of[0])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		return q.failed(ctx, of, err)
	}
	q.trouble, q.retry = "", time.Time{}
	for _, id := range of {
		if left[id] == "" {
			q.done++
		} else if err := park(ctx, q.host, q.spec.Work(), id, Parked{At: q.now().UTC(), Reason: left[id]}); err != nil {
			return err
		}
		q.drop(id)
	}
	return nil
}

// failed records that the engine failed on some sources. The caller holds mu.
func (q *Queue) failed(ctx context.Context, of []memory.ID, err error) error {
	var f *engine.Fault
	errors.As(err, &f)
	switch {
	case f != nil && f.Kind.OfService():
		return err // it would fail with any source
	case errors.Is(err, memory.ErrNoSpace):
		return err
	case errors.Is(err, memory.ErrNotFound):
		if len(of) == 1 {
			q.drop(of[0])
		}
		return nil // for a series, the next look at each photo shows which is gone
	}
	for _, id := range of {
		it := q.item(id)
		if it == nil {
			continue
		}
		it.tries++
		q.log.Warn("an engine failed at a source", "source", id, "of", len(of), "tries", it.tries, "error", err)
		switch {
		case it.tries < maxTries && (f == nil || f.Temporary()):
			it.after = q.now().Add(retry.After(it.tries, firstRest, longRest))
		case len(of) > 1:
			it.alone, it.tries = true, 0 // one of them may be the reason, or they may be too many for the model
		default:
			if err := park(ctx, q.host, q.spec.Work(), id, Parked{At: q.now().UTC(), Reason: engine.Clip(err.Error())}); err != nil {
				return err
			}
			q.drop(id)
		}
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
	unheard         // it is not known yet what was said around it
)

// job returns what the engine is sent, and the sources of that. There are none if none may be sent
// now. Photos near a secret are left out of a series; the others wait until it is known for all of
// them what was said around them.
func (q *Queue) job(ctx context.Context, its []item) (j Job, of []memory.ID, err error) {
	j.Spec = q.spec
	fates := make([]fate, len(its))
	err = q.host.View(ctx, func(tx *store.Tx) (err error) {
		of, j.Series = nil, nil
		for i := range its {
			var m *memory.Memory
			if m, fates[i], err = q.source(tx, its[i].id); err != nil {
				return err
			}
			if fates[i] != ready {
				continue
			}
			of = append(of, m.ID)
			if len(its) > 1 {
				j.Series = append(j.Series, q.open(m.ID))
				continue
			}
			if j.Media, err = mediaOf(tx, m); err != nil {
				return err
			}
			j.Lang, j.Turn = m.Lang, result.Hints(m, j.Media).Turn
		}
		return nil
	})
	if err != nil {
		return j, nil, err
	}
	if left := q.settle(its, fates); len(its) > 1 && len(left) == 1 {
		return q.job(ctx, left)
	} else if len(left) == 0 {
		of = nil
	}
	return j, of, nil
}

// settle removes from the queue what must not be sent, and returns the rest of what belongs
// together. It returns nothing if some of it has to wait.
func (q *Queue) settle(its []item, fates []fate) (left []item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waits := false
	for i := range its {
		switch fates[i] {
		case ready:
			left = append(left, its[i])
			continue
		case unheard:
			if it := q.item(its[i].id); it != nil {
				it.after = q.now().Add(unheardRest)
			}
			waits = true
			continue
		case nearSecret:
			q.held++
		case notHere:
			q.absent++
		}
		q.drop(its[i].id)
	}
	if waits {
		return nil
	}
	return left
}

// source checks a source whose turn has come.
func (q *Queue) source(tx *store.Tx, id memory.ID) (*memory.Memory, fate, error) {
	m, err := tx.Memory(id)
	if errors.Is(err, memory.ErrNotFound) || err == nil && !Waits(m, q.spec.Work()) {
		return nil, over, nil
	}
	if err != nil {
		return nil, over, err
	}
	if !q.spec.Local() {
		if held, err := extract.IsHeldBack(tx, m); err != nil || held {
			return nil, nearSecret, err
		}
		if wait, err := HasPendingAudio(tx, m); err != nil || wait {
			return nil, unheard, err
		}
	}
	blob, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return nil, over, nil
	}
	r, err := tx.OpenBlob(blob)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, notHere, nil
	}
	if err != nil {
		return nil, over, err
	}
	return m, ready, r.Close()
}

// mediaOf reads the file of a source.
func mediaOf(tx *store.Tx, m *memory.Memory) ([]byte, error) {
	blob, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return nil, err
	}
	r, err := tx.OpenBlob(blob)
	if err != nil {
		return nil, err
	}
	media, err := io.ReadAll(io.LimitReader(r, maxMedia+1))
	return media, errors.Join(err, r.Close())
}

package dream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// claims is what a dream has said: for each memory, the dots that still stand.
type claims struct {
	at   time.Time
	of   map[memory.ID][]memory.Dot
	gone int // withdrawn
}

// dreamsHere finds what dreams have said, on any device, by the id of the plan: the
// assertions name it.
func dreamsHere(tx *store.Tx) (map[string]*claims, error) {
	out := map[string]*claims{}
	ids, err := tx.About(dreamer)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) || err == nil && m.State == memory.Erased {
			continue // nothing follows from what was said of it
		}
		if err != nil {
			return nil, err
		}
		as, err := tx.Assertions(id)
		if err != nil {
			return nil, err
		}
		withdrawn := map[memory.Dot]bool{}
		for i := range as {
			if as[i].Act == memory.ActWithdraw {
				for _, d := range as[i].Seen {
					withdrawn[d] = true
				}
			}
		}
		for i := range as {
			a := &as[i]
			if a.Source.Plugin != dreamer || a.Source.Version == "" || a.Rank == memory.RankPerson {
				continue
			}
			c := out[a.Source.Version]
			if c == nil {
				c = &claims{of: map[memory.ID][]memory.Dot{}}
				out[a.Source.Version] = c
			}
			if at := a.Clock.Time(); at.After(c.at) {
				c.at = at
			}
			if withdrawn[a.Dot] {
				c.gone++
			} else {
				c.of[a.Memory] = append(c.of[a.Memory], a.Dot)
			}
		}
	}
	return out, nil
}

// dreamt gives the dreams that were done, the last first.
func (ds *Dreams) dreamt(ctx context.Context) (list []serve.Dream, err error) {
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		all, err := dreamsHere(tx)
		for id, c := range all {
			d := serve.Dream{ID: id, At: c.at, Undone: c.gone > 0 && len(c.of) == 0}
			for _, dots := range c.of {
				d.Claims += len(dots)
			}
			list = append(list, d)
		}
		return err
	})
	sorting.Sort(list, func(a, b serve.Dream) int { return b.At.Compare(a.At) })
	return list, err
}

// undo withdraws what a dream has said, some memories at a time. After a crash it
// does not find again what was withdrawn already.
func (ds *Dreams) undo(ctx context.Context, id string) (res serve.DreamResult, err error) {
	res.ID = id
	var left map[memory.ID][]memory.Dot
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		all, err := dreamsHere(tx)
		if err == nil && all[id] == nil {
			err = fmt.Errorf("dream %s: %w", id, memory.ErrNotFound)
		}
		if err == nil {
			left = all[id].of
		}
		return err
	})
	if err != nil {
		return res, err
	}
	ids := make([]memory.ID, 0, len(left))
	for m := range left {
		ids = append(ids, m)
	}
	sorting.Sort(ids, func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
	lock := ds.c.Engine.Hold()
	defer lock.Release()
	for page := range slices.Chunk(ids, Page) {
		err := lock.Commit(ctx, func(tx *store.Tx) error {
			var d dreaming
			if _, err := tx.Meta(dreamMeta, &d); err != nil {
				return err
			}
			d.Undoing = id
			for _, m := range page {
				if err := ds.withdraw(tx, m, left[m], &d); err != nil {
					return err
				}
			}
			d.Spared = d.Spared[max(0, len(d.Spared)-maxSpared):]
			return tx.PutMeta(dreamMeta, d)
		})
		if err != nil {
			return res, err
		}
		res.Steps += len(page)
	}
	return res, lock.Commit(ctx, func(tx *store.Tx) error {
		var d dreaming
		if _, err := tx.Meta(dreamMeta, &d); err != nil {
			return err
		}
		d.Undoing, d.Plan = "", nil
		return tx.PutMeta(dreamMeta, d)
	})
}

// withdraw takes back what was said of one memory, in the wearer's name, because
// the wearer asked for it. No later dream may do the same again.
func (ds *Dreams) withdraw(tx *store.Tx, id memory.ID, dots []memory.Dot, d *dreaming) error {
	for _, kind := range []string{"merge", "expire", "archive", "move", "summarise", "revive"} {
		d.Spared = append(d.Spared, kind+" "+id.String())
	}
	_, err := ds.c.Engine.Say(tx, memory.RankPerson, memory.Assertion{Memory: id, Act: memory.ActWithdraw,
		Seen: dots, Source: memory.Source{Plugin: "person"}, Reason: "the dream was taken back"})
	return err
}

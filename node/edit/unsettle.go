package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// maxSettlements is how many settlements are listed: the latest ones.
const maxSettlements = 50

// settlement is a settlement, as far as it was not taken back.
type settlement struct {
	serve.Settlement
	back   []memory.Assertion // the assertions that take it back, one for each memory; an empty act means that the wearer has said more about that memory since
	chosen bool               // Memory is the one that was chosen or changed, not one that was ended
}

// settlements finds the settlements that were not taken back completely, the
// latest first.
func settlements(tx *store.Tx) (list []*settlement, err error) {
	about := map[memory.ID][]string{} // the settlements that have said something about a memory
	var ids []memory.ID
	for a, err := range tx.AllAssertions() {
		if err != nil {
			return nil, err
		}
		id := a.Settles()
		if id == "" || slices.Contains(about[a.Memory], id) {
			continue
		}
		if about[a.Memory] == nil {
			ids = append(ids, a.Memory)
		}
		about[a.Memory] = append(about[a.Memory], id)
	}
	by := map[string]*settlement{}
	for _, m := range ids {
		as, err := tx.Assertions(m)
		if err != nil {
			return nil, err
		}
		for _, id := range about[m] {
			w, ok, err := reconcile.Unsettle(as, id)
			if !ok && err == nil {
				continue // it was taken back
			}
			s := by[id]
			if s == nil {
				s = &settlement{Settlement: serve.Settlement{ID: id, Memory: m}}
				by[id], list = s, append(list, s)
			}
			s.back = append(s.back, w)
			for i := range as {
				if as[i].Settles() != id || !slices.Contains(w.Seen, as[i].Dot) {
					continue
				}
				if at := as[i].Clock.Time(); at.After(s.At) {
					s.At = at
				}
				if as[i].Act != memory.ActClose && !s.chosen {
					s.Memory, s.chosen = m, true
				}
			}
		}
	}
	for _, s := range list {
		m, err := tx.Memory(s.Memory)
		if err == nil {
			s.Text = m.Text
		} else if !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
	}
	latestFirst(list, func(s *settlement) time.Time { return s.At }, func(s *settlement) string { return s.ID })
	return list, nil
}

// Settlements implements serve.Settler.
func (w Writer) Settlements(ctx context.Context) (list []serve.Settlement, err error) {
	err = opened.View(ctx, w.of, func(_ *Edits, tx *store.Tx) error {
		all, err := settlements(tx)
		for _, s := range all[:min(len(all), maxSettlements)] {
			list = append(list, s.Settlement)
		}
		return err
	})
	return list, err
}

// Unsettle implements serve.Settler.
func (w Writer) Unsettle(ctx context.Context, id string) (res serve.Settled, err error) {
	if err := checkConflict(id); err != nil {
		return res, err
	}
	es, release, err := w.of.Use()
	if err != nil {
		return res, err
	}
	defer release()
	var list []*settlement // they are found before the write lock is taken, because that reads every assertion
	err = es.View(ctx, func(tx *store.Tx) error {
		list, err = settlements(tx)
		return err
	})
	if err != nil {
		return res, err
	}
	list = slices.DeleteFunc(list, func(s *settlement) bool { return !strings.HasPrefix(s.ID, strings.ToLower(id)) })
	switch len(list) {
	case 0:
		return res, fmt.Errorf("conflict %q: nothing was settled that could be taken back: %w", id, memory.ErrNotFound)
	case 1:
	default:
		return res, fmt.Errorf("conflict %q: both %s and %s: %w", id, list[0].ID, list[1].ID, memory.ErrAmbiguous)
	}
	res.ID = list[0].ID
	res.Changes, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) (out []memory.Assertion, err error) {
		for _, was := range list[0].back {
			as, err := tx.Assertions(was.Memory)
			if err != nil {
				return nil, err
			}
			w, ok, err := reconcile.Unsettle(as, res.ID)
			if err != nil {
				return nil, fmt.Errorf("conflict %s: %w: %w: correct the memory %s itself", res.ID, serve.ErrConflict, err, was.Memory)
			}
			if ok {
				out = append(out, w)
			}
		}
		return out, nil
	})
	res.Changes = serve.NonNil(res.Changes)
	return res, err
}

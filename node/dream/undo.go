package dream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// claims is what a dream has said: for each memory, the dots that are not withdrawn.
type claims struct {
	at   time.Time
	of   map[memory.ID][]memory.Dot
	gone int // how many were withdrawn
}

// claimed is something that a dream has said and that was not withdrawn.
type claimed struct {
	memory.Assertion
	of *memory.Memory
}

// claimsOf returns what a dream has said and was not withdrawn, in the order of its
// dots.
func claimsOf(tx *store.Tx, id string) (out []claimed, err error) {
	all, err := dreamsHere(tx)
	if err == nil && all[id] == nil {
		err = fmt.Errorf("dream %s: %w", id, memory.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	for m, dots := range all[id].of {
		of, err := tx.Memory(m)
		if err != nil {
			return nil, err
		}
		as, err := tx.Assertions(m)
		if err != nil {
			return nil, err
		}
		for i := range as {
			if slices.Contains(dots, as[i].Dot) {
				out = append(out, claimed{as[i], of})
			}
		}
	}
	sorting.Sort(out, func(a, b claimed) int { return a.Dot.Compare(b.Dot) })
	return out, nil
}

// into finds what a dream proposed for a memory, or nil.
func into(list []claimed, m memory.ID) *claimed {
	for i := range list {
		if list[i].Act == memory.ActPropose && list[i].Memory == m {
			return &list[i]
		}
	}
	return nil
}

// movers counts the memories that a dream has archived into m.
func movers(list []claimed, m memory.ID) int {
	of := map[memory.ID]bool{} // two devices may have dreamt the same
	for i := range list {
		if list[i].Act == memory.ActArchive && list[i].Into == m {
			of[list[i].Memory] = true
		}
	}
	return len(of)
}

// stepsOf returns the steps of a dream that are still in effect. A merge or move is
// named by the memory that was archived, and any other step by the memory that was
// asserted.
func stepsOf(tx *store.Tx, id string) (out []serve.DreamStep, err error) {
	list, err := claimsOf(tx, id)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		s := serve.DreamStep{Memory: c.Memory, Text: c.of.Text, Reason: c.Reason}
		switch {
		case c.Act == memory.ActArchive && c.Into.IsZero():
			s.Kind = consolidate.Archive
		case c.Act == memory.ActArchive:
			s.Kind, s.Into = consolidate.Merge, c.Into
			if into(list, c.Into) != nil {
				s.Kind = consolidate.Move
			}
			to, err := tx.Memory(c.Into)
			if err == nil {
				s.IntoText = to.Text
			} else if !errors.Is(err, memory.ErrNotFound) {
				return nil, err
			}
		case c.Act == memory.ActRestore:
			s.Kind = consolidate.Revive
		case c.Act == memory.ActPropose && c.of.Type == memory.Core:
			s.Kind = consolidate.Promote
		case c.Act == memory.ActPropose:
			s.Kind = consolidate.Summarise
		default:
			continue // a part of a merge
		}
		if c.Act == memory.ActPropose && movers(list, c.Memory) > 0 {
			continue // a part of a move
		}
		if slices.ContainsFunc(out, func(o serve.DreamStep) bool { return o.Memory == s.Memory && o.Kind == s.Kind }) {
			continue // another device did the same
		}
		out = append(out, s)
	}
	return out, nil
}

// undoStep withdraws what a dream did with one memory, in one transaction. That
// includes what a merge gave to the memory that took this one in, and what a move made
// if nothing else was moved there.
func (ds *Dreams) undoStep(ctx context.Context, id string, step memory.ID) (res serve.DreamResult, err error) {
	res = serve.DreamResult{ID: id, Steps: 1}
	return res, ds.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		list, err := claimsOf(tx, id)
		if err != nil {
			return err
		}
		take := map[memory.ID][]memory.Dot{}
		for _, c := range list {
			if c.Memory != step || c.Act == memory.ActReinforce || c.Act == memory.ActPropose && movers(list, step) > 0 {
				continue
			}
			take[step] = append(take[step], c.Dot)
			if c.Act != memory.ActArchive || c.Into.IsZero() {
				continue
			}
			for _, o := range list {
				gave := o.Act == memory.ActReinforce && o.Dot == memory.Dot{Member: c.Dot.Member, Seq: c.Dot.Seq + 1} // said right after it, see Step.Assertions
				made := o.Act == memory.ActPropose && movers(list, c.Into) == 1
				if o.Memory == c.Into && (gave || made) {
					take[c.Into] = append(take[c.Into], o.Dot)
				}
			}
		}
		if len(take) == 0 {
			return fmt.Errorf("dream %s: it did nothing with memory %s that still stands: %w", id, step, memory.ErrNotFound)
		}
		var d dreaming
		if _, err := tx.Meta(dreamMeta, &d); err != nil {
			return err
		}
		for m, dots := range take {
			spared := len(d.Spared)
			if err := ds.withdraw(tx, m, dots, &d); err != nil {
				return err
			}
			if m != step {
				d.Spared = d.Spared[:spared] // another dream may do something with the memory again
			}
		}
		d.Spared = d.Spared[max(0, len(d.Spared)-maxSpared):]
		d.Plan = nil // it was made from the earlier state
		return tx.PutMeta(dreamMeta, d)
	})
}

// dreamsHere finds what dreams have said, on any device, by the id of the plan, which
// the assertions name.
func dreamsHere(tx *store.Tx) (map[string]*claims, error) {
	out := map[string]*claims{}
	ids, err := tx.About(dreamer)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) || err == nil && m.State == memory.Erased {
			continue // nothing is in effect of what was said about it
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

// doneDreams returns the dreams that were carried out, the last one first.
func (ds *Dreams) doneDreams(ctx context.Context) (list []serve.Dream, err error) {
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

// undo withdraws what a dream has said, some memories at a time. After a crash it does
// not withdraw anything twice.
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
	ids := sorting.Sorted(maps.Keys(left), func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
	lock := ds.c.Engine.AcquireWriter()
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

// withdraw takes back what was said about one memory, in the wearer's name, because the
// wearer asked for it. No later dream may do the same again.
func (ds *Dreams) withdraw(tx *store.Tx, id memory.ID, dots []memory.Dot, d *dreaming) error {
	for _, kind := range []string{"merge", "expire", "archive", "move", "summarise", "revive"} {
		d.Spared = append(d.Spared, kind+" "+id.String())
	}
	_, err := ds.c.Engine.AssertTx(tx, memory.RankPerson, memory.Assertion{Memory: id, Act: memory.ActWithdraw,
		Seen: dots, Source: memory.Source{Plugin: "person"}, Reason: "the dream was taken back"})
	return err
}

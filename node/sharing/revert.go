package sharing

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/revert"
	"github.com/locket-dev/locket/node/serve"
)

// Revert implements serve.Granter. It first fetches cold memories that are
// affected. After a crash, a second call with the same id does the rest.
func (sr Sharer) Revert(ctx context.Context, r serve.RevertRequest) (v serve.Reverted, err error) {
	sh, release, err := sr.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	switch {
	case r.Undo != "" && r.Source+r.App == "" && r.Memory.IsZero():
		return sh.unrevert(ctx, r.Undo)
	case r.ID != "" && !revert.IsID(r.ID):
		return v, fmt.Errorf("%w: id: want 1 to %d of a-z and 0-9", memory.ErrInvalid, revert.MaxID)
	case !r.Memory.IsZero() && r.Source+r.App+r.Engine+r.Work+r.Undo == "" && r.Since.IsZero():
		return sh.undo(ctx, r)
	case !r.Memory.IsZero() || (r.Source == "worker") == (r.App != "") || r.Source != "" && r.Source != "worker" || r.Undo != "":
		return v, fmt.Errorf("%w: source: want worker, or app and its name, or undo or memory and nothing else", memory.ErrInvalid)
	case r.App != "" && r.Engine+r.Work != "":
		return v, fmt.Errorf("%w: app: engine and work go only with a worker", memory.ErrInvalid)
	}
	v.Until = r.Until
	if v.Until.IsZero() {
		v.Until = sh.c.Now().UTC()
	}
	if !r.Since.IsZero() && !r.Since.Before(v.Until) {
		return v, fmt.Errorf("%w: until: nothing is between %s and %s", memory.ErrInvalid, r.Since.Format(time.RFC3339), v.Until.Format(time.RFC3339))
	}
	c := revert.Criteria{Since: r.Since, Until: v.Until, Engine: r.Engine, Work: r.Work, App: r.App}
	if c.Workers, err = sh.c.Sync.Journal().Workers(ctx); err != nil {
		return v, err
	}
	if v.Unseen, err = sh.fetchClaims(ctx, c); err != nil {
		return v, err
	}
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			as, err := tx.Assertions(m.ID)
			if err != nil {
				return err
			}
			if claims := revert.Claims(as, c); len(claims) > 0 {
				v.Memories = append(v.Memories, revertedOf(m, as, claims))
				v.Claims += len(claims)
			}
		}
		return nil
	})
	var lines []memory.ID
	if err == nil {
		lines, err = sh.workersLines(ctx, c)
		v.Lines = len(lines)
	}
	if err != nil || r.Plan || v.Claims+v.Lines == 0 {
		return v, err
	}
	v.ID = cmp.Or(r.ID, newID())
	lock := sh.c.Engine.AcquireWriter()
	defer lock.Release()
	v.Claims = 0
	for part := range slices.Chunk(v.Memories, dream.Page) {
		err := lock.Commit(ctx, func(tx *store.Tx) error { return sh.takeBack(tx, v.ID, part, c) })
		if err != nil {
			return v, interrupted(&v, err)
		}
		for i := range part {
			v.Claims += part[i].Claims
		}
	}
	if len(lines) == 0 {
		return v, nil
	}
	if err := sh.c.Drop(ctx, lock, lines, nil); err != nil {
		return v, interrupted(&v, err)
	}
	return v, errors.Join(sh.c.Flush(ctx, lock), sh.c.Compact(ctx))
}

// newID makes an id for a revert, for which [revert.IsID] holds.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

// interrupted adds the revert's id to an error that interrupted it.
func interrupted(v *serve.Reverted, err error) error {
	return fmt.Errorf("revert %s was interrupted after %d claims; the same request under its id continues it, an undo takes them back: %w", v.ID, v.Claims, err)
}

// workersLines returns the lines that workers have heard and that fit the
// criteria.
func (sh *Sharing) workersLines(ctx context.Context, c revert.Criteria) (ids []memory.ID, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			if revert.MatchesLine(u, c) {
				ids = append(ids, u.ID)
			}
		}
		return nil
	})
	return ids, err
}

// fetchClaims brings back the cold memories that were made from claims. unseen
// is how many can't be read or fetched now.
func (sh *Sharing) fetchClaims(ctx context.Context, c revert.Criteria) (unseen int, err error) {
	var ids []memory.ID
	unseen, err = sh.c.Cold.Each(ctx, func(m *store.Cold) error {
		if len(revert.Claims(m.Assertions, c)) > 0 {
			ids = append(ids, m.Memory.ID)
		}
		return nil
	})
	if err == nil || errors.Is(err, cold.ErrUnreachable) {
		var left []memory.ID
		left, err = sh.c.Cold.Fetch(ctx, ids...)
		unseen += len(left)
	}
	if errors.Is(err, cold.ErrUnreachable) {
		err = nil
	}
	return unseen, err
}

func revertedOf(m *memory.Memory, as, claims []memory.Assertion) serve.RevertedMemory {
	out := serve.RevertedMemory{Memory: m.ID, Type: m.Type, Text: m.Text, Claims: len(claims), Stays: revert.StayReason(as, claims)}
	for i := range claims {
		if at := claims[i].Clock.Time().UTC(); at.After(out.Said) {
			out.Said, out.Engine = at, claims[i].Source.Model
		}
	}
	return out
}

// takeBack withdraws claims about some memories in the wearer's name, as the
// memories are now.
func (sh *Sharing) takeBack(tx *store.Tx, id string, part []serve.RevertedMemory, c revert.Criteria) error {
	for i := range part {
		as, err := tx.Assertions(part[i].Memory)
		if err != nil {
			return err
		}
		claims := revert.Claims(as, c)
		part[i].Claims = len(claims)
		if len(claims) == 0 {
			continue
		}
		w := memory.Assertion{Memory: part[i].Memory, Act: memory.ActWithdraw, Source: engine.Person, Reason: c.Reason(id)}
		for _, a := range claims {
			w.Seen = append(w.Seen, a.Dot)
		}
		if _, err := sh.c.Engine.AssertTx(tx, memory.RankPerson, w); err != nil {
			return err
		}
	}
	return nil
}

// unrevert says again, once, what a revert on any device took back. Lines that
// the revert removed are gone for good.
func (sh *Sharing) unrevert(ctx context.Context, id string) (v serve.Reverted, err error) {
	v.ID, v.Until = id, time.Now().UTC()
	if !revert.IsID(id) {
		return v, fmt.Errorf("revert %.40q: %w", id, memory.ErrNotFound)
	}
	if err := sh.fetchReverted(ctx, id); err != nil {
		return v, err
	}
	lock := sh.c.Engine.AcquireWriter()
	defer lock.Release()
	var ids []memory.ID
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for a, err := range tx.AllAssertions() {
			if err != nil {
				return err
			}
			if revert.IsOfRevert(a, id) {
				ids = append(ids, a.Memory)
			}
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	if len(ids) == 0 {
		return v, fmt.Errorf("revert %.40q: %w: nothing that this device knows was taken back under that id; if another one did it, sync first", id, memory.ErrNotFound)
	}
	sorting.Sort(ids, func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
	for part := range slices.Chunk(slices.Compact(ids), dream.Page) {
		err := lock.Commit(ctx, func(tx *store.Tx) (err error) {
			for _, m := range part {
				if err := sh.restoreClaims(tx, id, m, &v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return v, fmt.Errorf("take back revert %s: only a part of it is undone; the same request continues: %w", id, err)
		}
	}
	return v, nil
}

// fetchReverted brings back all memories of a revert that have turned cold
// since; if one can't be fetched, the error is serve.ErrCold.
func (sh *Sharing) fetchReverted(ctx context.Context, id string) error {
	var ids []memory.ID
	unseen, err := sh.c.Cold.Each(ctx, func(m *store.Cold) error {
		if slices.ContainsFunc(m.Assertions, func(a memory.Assertion) bool { return revert.IsOfRevert(&a, id) }) {
			ids = append(ids, m.Memory.ID)
		}
		return nil
	})
	if err == nil {
		var left []memory.ID
		left, err = sh.c.Cold.Fetch(ctx, ids...)
		unseen += len(left)
	}
	if errors.Is(err, cold.ErrUnreachable) {
		return fmt.Errorf("%w: %d memories, some of which may be the revert's: %v", serve.ErrCold, unseen, err)
	}
	return err
}

func (sh *Sharing) restoreClaims(tx *store.Tx, id string, m memory.ID, v *serve.Reverted) error {
	as, err := tx.Assertions(m)
	if err != nil {
		return err
	}
	again := revert.ClaimsToRestore(as, id)
	for _, a := range again {
		a.Seen, a.Reason = []memory.Dot{}, revert.RestoreReason(id)
		if _, err := sh.c.Engine.AssertTx(tx, a.Rank, a); err != nil {
			return err
		}
	}
	if len(again) == 0 {
		return nil
	}
	got, err := tx.Memory(m)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	v.Memories = append(v.Memories, revertedOf(got, as, again))
	v.Claims += len(again)
	return nil
}

package edit

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// leastConflict is how many characters of a conflict's id are needed.
const leastConflict = 4

func checkConflict(id string) error {
	if len(id) < leastConflict {
		return fmt.Errorf("%w: conflict %q: want at least %d characters of its id", memory.ErrInvalid, id, leastConflict)
	}
	return nil
}

// latestFirst sorts by times and ids, the latest first.
func latestFirst[T any](list []T, at func(T) time.Time, id func(T) string) {
	sorting.Sort(list, func(a, b T) int {
		return cmp.Or(at(b).Compare(at(a)), strings.Compare(id(a), id(b)))
	})
}

// disputed is a conflict with the group that it belongs to.
type disputed struct {
	reconcile.Conflict
	group []memory.Assertion
}

// disputes finds every conflict. It reads only groups about which more than one
// thing was said.
func (es *Edits) disputes(ctx context.Context, tx *store.Tx, yield func(disputed) error) error {
	ids, err := es.c.Disputable(ctx, tx)
	if err != nil {
		return err
	}
	for m, err := range tx.MemoriesOf(ids) { // another transaction may see one of them that this one does not see yet
		if err != nil {
			return err
		}
		group, err := tx.GroupAssertions(m.Group)
		if err != nil {
			return err
		}
		for _, c := range reconcile.Conflicts(group) {
			if err := yield(disputed{c, group}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Conflicts implements serve.Settler.
func (w Writer) Conflicts(ctx context.Context) ([]serve.Conflict, error) {
	names := map[memory.MemberID]string{}
	if members, err := w.members(ctx); err == nil { // without a relay the devices have no names
		for _, m := range members {
			names[m.ID] = m.Name
		}
	}
	out := []serve.Conflict{}
	err := opened.View(ctx, w.of, func(es *Edits, tx *store.Tx) error {
		return es.disputes(ctx, tx, func(d disputed) error {
			c := serve.Conflict{ID: d.ID, Kind: string(d.Kind), Field: d.Field, Slot: d.Slot, Why: d.Why}
			for _, s := range d.Sides {
				c.Sides = append(c.Sides, serve.ConflictSide{Memory: s.Memory, Value: s.Value, Text: s.Text, Negates: s.Negates, Member: s.Member,
					Device: names[s.Member], Here: s.Member == es.c.Engine.Member(), By: s.By, Rank: s.Rank, At: s.At})
			}
			out = append(out, c)
			return nil
		})
	})
	latest := func(c serve.Conflict) (at time.Time) {
		for _, s := range c.Sides {
			if s.At.After(at) {
				at = s.At
			}
		}
		return at
	}
	latestFirst(out, latest, func(c serve.Conflict) string { return c.ID })
	return out, err
}

// Settle implements serve.Settler.
func (w Writer) Settle(ctx context.Context, id string, s serve.SettleRequest) (res serve.Settled, err error) {
	if err := checkConflict(id); err != nil {
		return res, err
	}
	es, release, err := w.of.Use()
	if err != nil {
		return res, err
	}
	defer release()
	if err := es.c.NoSecret(ctx, "write", strings.TrimSpace(s.Write+"\n"+s.Text)); err != nil {
		return res, err
	}
	reread, err := es.rereadSettled(ctx, id, &s)
	if err != nil {
		return res, err
	}
	now := es.c.Now()
	event := memory.EventID{Device: serve.APIDevice, Boot: uint64(es.c.StartTime.UnixNano()), Seq: randomSeq()}
	evidence := memory.Evidence{Event: event, Speaker: es.c.Wearer, At: now, Excerpt: memory.Excerpt(s.Write)}
	res.Changes, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) ([]memory.Assertion, error) {
		d, err := es.dispute(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		res.ID = d.ID
		as, err := reconcile.Settle(d.group, &d.Conflict, reconcile.Settlement(s), evidence, func(c *memory.Candidate) memory.ID {
			return es.c.MemoryID(event, "person", c.Fingerprint())
		})
		if err != nil {
			return nil, err
		}
		for i := range as {
			if p := as[i].Patch; s.Write != "" && p != nil && p.Text != nil {
				m, err := engine.LiveAt(tx, as[i].Memory, now)
				if err != nil {
					return nil, err
				}
				follow(&m, p, &Known{Reread: reread, Zone: es.c.Zone})
			}
			if c := as[i].Candidate; c != nil {
				err = c.Validate()
			} else if p := as[i].Patch; p != nil && p.Text != nil && strings.TrimSpace(*p.Text) == "" {
				err = fmt.Errorf("%w: write: empty", memory.ErrInvalid)
			}
			if err != nil {
				return nil, err
			}
		}
		return as, nil
	})
	res.Changes = serve.NonNil(res.Changes)
	return res, err
}

// rereadSettled is [Edits.reread] for the text by which a person settles a conflict about a text.
func (es *Edits) rereadSettled(ctx context.Context, id string, s *serve.SettleRequest) (*Reread, error) {
	if s.Write == "" {
		return nil, nil
	}
	var d disputed
	err := es.c.Engine.View(ctx, func(tx *store.Tx) (err error) {
		d, err = es.dispute(ctx, tx, id)
		return err
	})
	if err != nil || d.Field != "text" {
		return nil, err
	}
	return es.reread(ctx, d.Sides[0].Memory, &serve.UpdateRequest{Text: &s.Write})
}

// dispute returns the one conflict whose id begins with id.
func (es *Edits) dispute(ctx context.Context, tx *store.Tx, id string) (out disputed, err error) {
	id = strings.ToLower(id)
	err = es.disputes(ctx, tx, func(d disputed) error {
		switch {
		case !strings.HasPrefix(d.ID, id):
		case out.ID != "":
			return fmt.Errorf("conflict %q: both %s and %s: %w", id, out.ID, d.ID, memory.ErrAmbiguous)
		default:
			out = d
		}
		return nil
	})
	if err == nil && out.ID == "" {
		err = fmt.Errorf("conflict %q: it is settled, or its sides have changed: %w", id, memory.ErrNotFound)
	}
	return out, err
}

package forget

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Forgetter implements serve.Forgetter, and Retention of serve.Keeper.
type Forgetter struct {
	of      opened.Of[*Forgetting]
	zone    *time.Location
	settled func(context.Context) error
	purge   func(ctx context.Context, held []memory.EventID) error
}

// NewForgetter makes a Forgetter. settled waits until all taken events are
// processed. purge removes processed events from the journal, and calls Done.
func NewForgetter(of opened.Of[*Forgetting], zone *time.Location, settled func(context.Context) error, purge func(ctx context.Context, held []memory.EventID) error) Forgetter {
	return Forgetter{of, zone, settled, purge}
}

// PlanForget implements serve.Forgetter. It waits until all taken events are
// processed, because it can only show what is in the records.
func (fr Forgetter) PlanForget(ctx context.Context, s serve.ForgetSelection) (plan serve.ForgetPlan, err error) {
	w, err := wantOf(&s, time.Now().In(fr.zone))
	if err != nil {
		return plan, err
	}
	if err := fr.settled(ctx); err != nil {
		return plan, err
	}
	fg, release, err := fr.of.Use()
	if err != nil {
		return plan, err
	}
	defer release()
	lock := fg.c.Engine.AcquireWriter()
	held := fg.c.Chain.HeldEvents()
	lock.Release()
	if len(w.IDs) > 0 { // fetch them with their sources if that is possible
		if err := fg.c.FetchCold(ctx, w.IDs...); err != nil && !errors.Is(err, serve.ErrCold) {
			return plan, err
		}
	}
	for again := true; again && err == nil; {
		var c Chosen
		back := fg.c.Cold.Fetched()
		err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
			if c, err = choose(tx, w, held); err == nil {
				plan = planOf(tx, &c)
			}
			return err
		})
		if err == nil {
			plan.Unseen, again, err = fg.fetch(ctx, &w, &c)
			// Memories that came back meanwhile were in neither of the two choices.
			again = again || err == nil && fg.c.Cold.Fetched() != back
		}
	}
	if plan.From, plan.To = w.From, w.To; !w.To.IsZero() && w.From.IsZero() {
		plan.From = time.Unix(0, 0).UTC()
	}
	return plan, err
}

// wantOf reads a selection.
func wantOf(s *serve.ForgetSelection, now time.Time) (w Want, err error) {
	w = Want{IDs: s.IDs, Words: s.Query, From: s.Since, To: s.Until, Person: s.Person, Place: s.Place, Device: s.Device, Scope: s.Scope}
	if w.Words != "" && memory.Normal(w.Words) == "" {
		return w, fmt.Errorf("%w: query: no words in it", memory.ErrInvalid)
	}
	for field, text := range map[string]string{"person": w.Person, "place": w.Place} {
		if text != "" && memory.Normal(text) == "" {
			return w, fmt.Errorf("%w: %s: no words in it", memory.ErrInvalid, field)
		}
	}
	if s.Last > 0 {
		w.From, w.To, w.Received = now.Add(-time.Duration(s.Last)), now, true
	}
	if s.When != "" {
		t, err := ParseWhen(s.When, now)
		if err != nil {
			return w, err
		}
		if t.Place != "" && w.Place != "" {
			return w, fmt.Errorf("%w: when: it names %q, and place names %q: give one", memory.ErrInvalid, t.Place, w.Place)
		}
		w.From, w.To, w.Received = t.From, t.To, t.Received
		if t.Place != "" {
			w.Place = t.Place
		}
	}
	if !w.To.IsZero() && !w.From.Before(w.To) {
		return w, fmt.Errorf("%w: until: it is not after since", memory.ErrInvalid)
	}
	if w.Scope != nil && w.Scope.User == "" {
		scope := *w.Scope
		scope.User = memory.WearerUser
		w.Scope = &scope
	}
	return w, nil
}

func planOf(tx *store.Tx, c *Chosen) serve.ForgetPlan {
	p := serve.ForgetPlan{Memories: []serve.Related{}, Utterances: []serve.Related{}, Trimmed: []serve.Related{}, Sources: c.Events, Quarantined: c.Quarantined}
	for i := range c.Memories {
		m := &c.Memories[i]
		p.Memories = append(p.Memories, serve.Related{ID: m.ID, Text: m.Text, At: m.When()})
		if f := m.Fields.Resource; f != nil && f.Blob != "" {
			p.Bytes += tx.BlobSize(f.Blob)
		}
	}
	for i := range c.Trimmed {
		m := &c.Trimmed[i].Memory
		p.Trimmed = append(p.Trimmed, serve.Related{ID: m.ID, Text: m.Text, At: m.When()})
	}
	for _, u := range c.Utterances {
		p.Utterances = append(p.Utterances, serve.Related{ID: u.ID, Text: u.Text, At: u.At})
	}
	for _, list := range [][]serve.Related{p.Memories, p.Utterances, p.Trimmed} {
		sorting.Stable(list, func(a, b serve.Related) int { return a.At.Compare(b.At) })
	}
	p.Events = len(c.Events) + len(c.Quarantined)
	return p
}

// Forget implements serve.Forgetter. It forgets in the records, the index, the
// plugins' states, the shares and the journal, and in old versions of files. It
// stores the plan first, so that a node that is killed in the middle continues with
// it when it is opened again.
func (fr Forgetter) Forget(ctx context.Context, p serve.ForgetPlan) (res serve.ForgetResult, err error) {
	todo := Plan{Events: p.Sources, Quarantined: p.Quarantined, Cascade: true}
	for _, m := range p.Memories {
		todo.Memories = append(todo.Memories, m.ID)
	}
	for _, u := range p.Utterances {
		todo.Utterances = append(todo.Utterances, u.ID)
	}
	fg, release, err := fr.of.Use()
	if err != nil {
		return res, err
	}
	c, err := fg.Forget(ctx, todo)
	release()
	if err != nil {
		return res, fmt.Errorf("forget: it continues at the next start: %w", err)
	}
	if err := fr.purge(ctx, c.Held); err != nil {
		return res, fmt.Errorf("forget: erased, but the journal still has it: it continues at the next start: %w", err)
	}
	return serve.ForgetResult{Memories: len(c.Memories), Utterances: len(c.Utterances), Events: p.Events, Trimmed: len(c.Trimmed)}, nil
}

// Delete implements Delete of serve.Writer.
func (fr Forgetter) Delete(ctx context.Context, ids ...memory.ID) error {
	fg, release, err := fr.of.Use()
	if err != nil {
		return err
	}
	todo, named := Plan{}, map[memory.ID]bool{}
	name := func(ids ...memory.ID) {
		for _, id := range ids {
			if !named[id] {
				named[id], todo.Memories = true, append(todo.Memories, id)
			}
		}
	}
	err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			name(id)
			if _, is, err := tx.Cold(id); err != nil {
				return err
			} else if is {
				continue // nothing is made from a cold memory
			}
			if _, err := engine.Live(tx, id); err != nil {
				return err
			}
			made, err := dream.MadeOf(tx, id)
			if err != nil {
				return err
			}
			name(made...)
		}
		return ctx.Err()
	})
	if err == nil {
		_, err = fg.Forget(ctx, todo)
	}
	release()
	if err != nil {
		return err
	}
	return fr.purge(ctx, nil)
}

// fetch brings back the cold memories that may have to be forgotten, before
// something is forgotten by its content. unseen is how many could not be fetched. A
// want by ids continues without them; for any other want the error is
// serve.ErrCold.
func (fg *Forgetting) fetch(ctx context.Context, w *Want, chosen *Chosen) (unseen int, more bool, err error) {
	var ids []memory.ID
	unseen, err = fg.c.Cold.Each(ctx, func(c *store.Cold) error {
		if mayTake(w, chosen, c) {
			ids = append(ids, c.Memory.ID)
		}
		return nil
	})
	if errors.Is(err, cold.ErrUnreachable) {
		if len(w.IDs) == 0 {
			return unseen, false, fmt.Errorf("%w: %d cold memories can't be fetched to see whether they have to be forgotten; they can be forgotten now by their ids", serve.ErrCold, unseen)
		}
		err = nil
	}
	if err != nil || len(ids) == 0 {
		return unseen, false, err
	}
	if left, err := fg.c.Cold.Fetch(ctx, ids...); err != nil {
		return unseen, false, fmt.Errorf("%w: %d memories that are to be forgotten can't be fetched: %v", serve.ErrCold, len(left), err)
	}
	return unseen, true, nil
}

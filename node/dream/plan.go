package dream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// dreamer is the source of what a dream asserts; its version is the plan's id.
const dreamer = "dream"

const dreamMeta = "dream"

// dreaming is what this device stores about dreams.
type dreaming struct {
	Plan    *consolidate.Plan    `json:"p,omitempty"` // the last plan that was shown
	Next    int                  `json:"n,omitempty"` // the next step of the plan that is being carried out
	Doing   bool                 `json:"d,omitempty"` // the plan is being carried out
	Skipped []serve.SkippedDream `json:"s,omitempty"` // steps of that plan that were skipped
	Undoing string               `json:"u,omitempty"` // the dream that is being undone
	Last    time.Time            `json:"l,omitzero"`  // when the last dream was done
	Scanned string               `json:"c,omitempty"` // the plugins with which all memories were last scanned for credentials
	Spared  []string             `json:"f,omitempty"` // steps that were undone and must not be done again
}

// maxSpared is how many of these are kept: the latest.
const maxSpared = 2000

func stepKey(s *consolidate.Step) string { return string(s.Kind) + " " + s.Memory.String() }

func (ds *Dreams) dreaming(ctx context.Context) (d dreaming, err error) {
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(dreamMeta, &d)
		return err
	})
	return d, err
}

// plan makes a plan by the clock of events, and stores it. The caller holds mu.
func (ds *Dreams) plan(ctx context.Context, now time.Time) (plan consolidate.Plan, err error) {
	if err := ds.continueInterrupted(ctx); err != nil {
		return plan, err
	}
	if err := ds.c.SaveUses(ctx); err != nil {
		return plan, err
	}
	for fresh := false; !fresh && err == nil; {
		plan, fresh, err = ds.tryPlan(ctx, now)
	}
	return plan, err
}

// tryPlan makes a plan once. If something was forgotten meanwhile, it stores nothing and
// fresh is false, because the plan may contain words of it.
func (ds *Dreams) tryPlan(ctx context.Context, now time.Time) (plan consolidate.Plan, fresh bool, err error) {
	lock := ds.c.Engine.AcquireWriter()
	began := ds.c.CarriedOutPlans()
	lock.Release()
	d, err := ds.dreaming(ctx)
	if err != nil {
		return plan, false, err
	}
	in := consolidate.Input{Now: now.UTC(), Wall: ds.c.Now().UTC(), Zone: ds.c.Zone, ID: ds.id}
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		if in.Uses, err = ds.c.Uses(tx); err != nil {
			return err
		}
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.Expired(in.Wall) {
				continue // retention erases it
			}
			in.Memories = append(in.Memories, *m)
		}
		return nil
	})
	if err != nil {
		return plan, false, err
	}
	if scan := ds.c.Scanners(); d.Scanned != scan {
		if in.Secret, err = ds.holding(ctx, in.Memories); err != nil {
			return plan, false, err
		}
		d.Scanned = scan
	}
	plan = consolidate.New(in)
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s consolidate.Step) bool { return slices.Contains(d.Spared, stepKey(&s)) })
	if slices.ContainsFunc(plan.Steps, func(s consolidate.Step) bool { return s.Kind == consolidate.Scrub }) {
		d.Scanned = "" // only set when the steps are done
	}
	d.Plan, d.Next, d.Skipped = &plan, 0, nil
	lock = ds.c.Engine.AcquireWriter()
	defer lock.Release()
	if ds.c.CarriedOutPlans() != began {
		return plan, false, nil
	}
	return plan, true, lock.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(dreamMeta, d) })
}

// holding returns the memories that contain credentials.
func (ds *Dreams) holding(ctx context.Context, ms []memory.Memory) (func(*memory.Memory) bool, error) {
	found := map[memory.ID]bool{}
	for i := range ms {
		m := &ms[i]
		if m.Type == memory.Vault || m.Pinned {
			continue
		}
		lock := ds.c.Engine.AcquireWriter()
		holds, err := ds.c.Chain.HoldsSecret(ctx, m.AllText())
		lock.Release()
		if err != nil {
			return nil, err
		}
		if holds {
			found[m.ID] = true
		}
	}
	return func(m *memory.Memory) bool { return found[m.ID] }, nil
}

func (ds *Dreams) apply(ctx context.Context, id string, without []memory.ID) (res serve.DreamResult, err error) {
	d, err := ds.dreaming(ctx)
	if err != nil {
		return res, err
	}
	if d.Plan == nil || d.Plan.ID != id {
		return res, fmt.Errorf("dream %s: not the plan that was last shown: %w", id, memory.ErrNotFound)
	}
	if err := d.leaveOut(without); err != nil {
		return res, err
	}
	d.Doing = true
	err = ds.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		_, err := keepPlan(tx, &d)
		return err
	})
	if err != nil {
		return res, err
	}
	if d, err = ds.walk(ctx, d); err != nil {
		return res, err
	}
	return serve.DreamResult{ID: id, Steps: d.Next - len(d.Skipped), Skipped: d.Skipped}, nil
}

// leaveOut removes the steps for some memories from a plan that is not being carried out
// yet. If the plan is being carried out, it accepts only memories whose steps were left
// out before, so that the same request can be sent again. If it refuses one of them, it
// changes nothing.
func (d *dreaming) leaveOut(without []memory.ID) error {
	steps, spared := slices.Clone(d.Plan.Steps), slices.Clone(d.Spared)
	for i, id := range without {
		isOf := func(s consolidate.Step) bool { return s.Memory == id }
		switch there := slices.ContainsFunc(steps, isOf); {
		case slices.Contains(without[:i], id), !there && d.leftOut(id):
		case !there:
			return fmt.Errorf("%w: without: the plan has no step for %s", memory.ErrInvalid, id)
		case d.Doing:
			return fmt.Errorf("%w: without: the plan is under way with its step for %s; take the step back when it is done", memory.ErrInvalid, id)
		default:
			for _, s := range steps {
				if isOf(s) {
					spared = append(spared, stepKey(&s))
				}
			}
			steps = slices.DeleteFunc(steps, isOf)
		}
	}
	d.Plan.Steps, d.Spared = steps, spared[max(0, len(spared)-maxSpared):]
	return nil
}

// leftOut reports whether a step for a memory was left out, or undone, before.
func (d *dreaming) leftOut(id memory.ID) bool {
	return slices.ContainsFunc(d.Spared, func(key string) bool { return strings.HasSuffix(key, " "+id.String()) })
}

// keepPlan stores the progress of a plan, unless the plan was dropped since.
func keepPlan(tx *store.Tx, d *dreaming) (there bool, err error) {
	var now dreaming
	if _, err := tx.Meta(dreamMeta, &now); err != nil || now.Plan == nil || now.Plan.ID != d.Plan.ID {
		return false, err
	}
	return true, tx.PutMeta(dreamMeta, d)
}

// DropPlan removes a plan, because it contains words of the memories that it would
// change. A plan that is being carried out ends there.
func DropPlan(tx *store.Tx) error {
	var d dreaming
	if _, err := tx.Meta(dreamMeta, &d); err != nil || d.Plan == nil {
		return err
	}
	d.Plan, d.Next, d.Skipped, d.Doing = nil, 0, nil, false
	return tx.PutMeta(dreamMeta, d)
}

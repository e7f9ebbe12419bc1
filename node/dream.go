package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// dreamer is the source of what a dream says; its version is the plan's id.
const dreamer = "dream"

const dreamMeta = "dream"

// dreaming is what is kept of dreams on this device.
type dreaming struct {
	Plan    *consolidate.Plan    `json:"p,omitempty"` // the last that was shown
	Next    int                  `json:"n,omitempty"` // the step at which it goes on; of a plan under way
	Doing   bool                 `json:"d,omitempty"` // the plan is under way
	Skipped []serve.SkippedDream `json:"s,omitempty"` // of the plan under way
	Undoing string               `json:"u,omitempty"` // the dream that is being taken back
	Last    time.Time            `json:"l,omitzero"`  // when one was last done
	Scanned string               `json:"c,omitempty"` // with which plugins everything was looked through for credentials
	Spared  []string             `json:"f,omitempty"` // steps that were taken back: not to be done again
}

// maxSpared bounds them: the latest.
const maxSpared = 2000

func stepKey(s *consolidate.Step) string { return string(s.Kind) + " " + s.Memory.String() }

func (o *opened) dreaming(ctx context.Context) (d dreaming, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(dreamMeta, &d)
		return err
	})
	return d, err
}

// PlanDream implements serve.Dreamer.
func (n *Node) PlanDream(ctx context.Context) (shown serve.DreamPlan, err error) {
	if err := n.settled(ctx); err != nil {
		return shown, err
	}
	o, release, err := n.use()
	if err != nil {
		return shown, err
	}
	defer release()
	o.dreams.Lock()
	defer o.dreams.Unlock()
	plan, err := n.planDream(ctx, o, clockOf(o.extract.Latest(), n.now()))
	return serve.ShowDream(&plan), err
}

// clockOf is the clock of events by which a dream judges, never ahead of the
// wall's; where nothing has happened yet, the wall's.
func clockOf(latest, wall time.Time) time.Time {
	if latest.IsZero() {
		return wall
	}
	return earlier(latest, wall)
}

// planDream makes a plan by the clock of events, and keeps it. The caller holds
// dreams.
func (n *Node) planDream(ctx context.Context, o *opened, now time.Time) (plan consolidate.Plan, err error) {
	if err := o.goOn(ctx, n); err != nil {
		return plan, err
	}
	if err := o.saveUses(ctx); err != nil {
		return plan, err
	}
	for fresh := false; !fresh && err == nil; {
		plan, fresh, err = n.tryPlan(ctx, o, now)
	}
	return plan, err
}

// tryPlan is one try; it keeps nothing, and fresh is false, where something was
// forgotten meanwhile: the plan may have words of it.
func (n *Node) tryPlan(ctx context.Context, o *opened, now time.Time) (plan consolidate.Plan, fresh bool, err error) {
	lock := o.engine.Hold()
	began := o.carried
	lock.Release()
	d, err := o.dreaming(ctx)
	if err != nil {
		return plan, false, err
	}
	in := consolidate.Input{Now: now.UTC(), Wall: n.now().UTC(), Zone: n.zone, ID: o.dreamID}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		if in.Uses, err = usesKept(tx); err != nil {
			return err
		}
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			in.Memories = append(in.Memories, *m)
		}
		return nil
	})
	if err != nil {
		return plan, false, err
	}
	if scan := o.scanners(); d.Scanned != scan {
		if in.Secret, err = o.holding(ctx, in.Memories); err != nil {
			return plan, false, err
		}
		d.Scanned = scan
	}
	plan = consolidate.New(in)
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s consolidate.Step) bool { return slices.Contains(d.Spared, stepKey(&s)) })
	if slices.ContainsFunc(plan.Steps, func(s consolidate.Step) bool { return s.Kind == consolidate.Scrub }) {
		d.Scanned = "" // not until they are done
	}
	d.Plan, d.Next, d.Skipped = &plan, 0, nil
	lock = o.engine.Hold()
	defer lock.Release()
	if o.carried != began {
		return plan, false, nil
	}
	return plan, true, lock.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(dreamMeta, d) })
}

// dreamID names what a step proposes: the same on all devices of the space.
func (o *opened) dreamID(name string) memory.ID {
	return memory.DeriveID(o.ring.IDKey().Bytes(), memory.EventID{Device: dreamer}, dreamer, name)
}

// scanners names the plugins that look for credentials.
func (o *opened) scanners() (s string) {
	for _, p := range chain(*o.plugins.Load()) {
		if p.First() {
			s += p.ID() + " " + p.Version() + ";"
		}
	}
	return s
}

// holding looks through memories for credentials.
func (o *opened) holding(ctx context.Context, ms []memory.Memory) (func(*memory.Memory) bool, error) {
	found := map[memory.ID]bool{}
	for i := range ms {
		m := &ms[i]
		if m.Type == memory.Vault || m.Pinned {
			continue
		}
		lock := o.engine.Hold()
		holds, err := o.extract.HoldsSecret(ctx, saidIn(m))
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

// ApplyDream implements serve.Dreamer.
func (n *Node) ApplyDream(ctx context.Context, id string) (res serve.DreamResult, err error) {
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	defer release()
	o.dreams.Lock()
	defer o.dreams.Unlock()
	return n.applyDream(ctx, o, id)
}

func (n *Node) applyDream(ctx context.Context, o *opened, id string) (res serve.DreamResult, err error) {
	d, err := o.dreaming(ctx)
	if err != nil {
		return res, err
	}
	if d.Plan == nil || d.Plan.ID != id {
		return res, fmt.Errorf("dream %s: not the plan that was last shown: %w", id, memory.ErrNotFound)
	}
	d.Doing = true
	err = o.engine.Commit(ctx, func(tx *store.Tx) error {
		_, err := keepPlan(tx, &d)
		return err
	})
	if err != nil {
		return res, err
	}
	if d, err = o.walk(ctx, n, d); err != nil {
		return res, err
	}
	return serve.DreamResult{ID: id, Steps: d.Next - len(d.Skipped), Skipped: d.Skipped}, nil
}

// keepPlan writes how far a plan got, unless it was dropped since.
func keepPlan(tx *store.Tx, d *dreaming) (there bool, err error) {
	var now dreaming
	if _, err := tx.Meta(dreamMeta, &now); err != nil || now.Plan == nil || now.Plan.ID != d.Plan.ID {
		return false, err
	}
	return true, tx.PutMeta(dreamMeta, d)
}

// dropPlan lets go of a plan, which has words of what it would change. One
// that is under way ends there.
func dropPlan(tx *store.Tx) error {
	var d dreaming
	if _, err := tx.Meta(dreamMeta, &d); err != nil || d.Plan == nil {
		return err
	}
	d.Plan, d.Next, d.Skipped, d.Doing = nil, 0, nil, false
	return tx.PutMeta(dreamMeta, d)
}

// dreamPage is how many steps one transaction does.
const dreamPage = 25

// walk does the rest of a plan. Each transaction says how far it got, so that
// after a crash the next one goes on there. Where something is forgotten
// meanwhile it ends early. The caller holds dreams.
func (o *opened) walk(ctx context.Context, n *Node, d dreaming) (dreaming, error) {
	for there := true; there && d.Next < len(d.Plan.Steps); {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		if s := &d.Plan.Steps[d.Next]; s.Kind == consolidate.Scrub {
			var err error
			if there, err = o.scrub(ctx, s, &d); err != nil {
				return d, err
			}
			continue
		}
		next := d
		err := o.engine.Commit(ctx, func(tx *store.Tx) (err error) {
			next = d
			if there, err = keepPlan(tx, &d); err != nil || !there {
				return err
			}
			next.Skipped = slices.Clone(d.Skipped)
			for next.Next < len(d.Plan.Steps) && next.Next < d.Next+dreamPage {
				s := &d.Plan.Steps[next.Next]
				if s.Kind == consolidate.Scrub {
					break
				}
				why, err := o.step(tx, s, d.Plan.ID)
				if err != nil {
					return err
				}
				if why != "" {
					next.Skipped = append(next.Skipped, serve.SkippedDream{Kind: s.Kind, Memory: s.Memory, Text: s.Text, Reason: why})
				}
				next.Next++
			}
			return tx.PutMeta(dreamMeta, next)
		})
		if err != nil {
			return d, err
		}
		d = next
	}
	d.Doing, d.Last = false, n.now().UTC()
	done := d
	done.Plan, done.Next, done.Skipped = nil, 0, nil
	return d, o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(dreamMeta, done) })
}

// step says what one step says, or why it does not.
func (o *opened) step(tx *store.Tx, s *consolidate.Step, plan string) (why string, err error) {
	var m, into memory.Memory
	switch s.Kind {
	case consolidate.Summarise:
		var of []*memory.Memory
		for _, l := range s.Candidate.Links {
			id, err := memory.ParseID(l.To)
			if err != nil {
				return "", err
			}
			part, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) || err == nil && part.State == memory.Erased {
				return "a part of it was forgotten since", nil
			}
			if err != nil {
				return "", err
			}
			of = append(of, part)
		}
		if consolidate.Words(of...) != s.Stamp {
			return "what it sums up has changed since", nil
		}
	default:
		at, err := tx.Memory(s.Memory)
		if err != nil {
			return "", err
		}
		looked := []*memory.Memory{at}
		if s.Kind == consolidate.Merge {
			to, err := tx.Memory(s.Into)
			if err != nil {
				return "", err
			}
			if to.State != memory.Active {
				return "what was to take it in has changed since", nil
			}
			into = *to
		}
		m = *at
		if s.Kind != consolidate.Merge && consolidate.Stamp(looked...) != s.Stamp || s.Kind == consolidate.Merge && !consolidate.Same(s, at, &into) {
			return "it has changed since", nil
		}
	}
	if m.Pinned {
		return "it is pinned", nil
	}
	for _, a := range s.Assertions(&m, &into) {
		a.Source, a.Seen = memory.Source{Plugin: dreamer, Version: plan}, nil
		if _, err := o.engine.Say(tx, memory.RankDevice, a); err != nil {
			return "", err
		}
	}
	return "", nil
}

// scrub has what holds a credential said anew, through the chain that takes it
// out and puts it into the vault, and erases what held it. It can be done
// again after a crash: the words have the same name each time.
func (o *opened) scrub(ctx context.Context, s *consolidate.Step, d *dreaming) (there bool, err error) {
	lock := o.engine.Hold()
	defer lock.Release()
	var m *memory.Memory
	said := map[memory.ID]*memory.Utterance{}
	err = o.store.View(ctx, func(tx *store.Tx) (err error) {
		if m, err = tx.Memory(s.Memory); err != nil {
			return err
		}
		for _, e := range m.Evidence {
			u, err := tx.Utterance(e.Utterance)
			if err == nil {
				said[u.ID] = u
			} else if !errors.Is(err, memory.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if m.State != memory.Erased && !m.Pinned {
		event := func(id memory.ID, at time.Time, speaker, text string) memory.Event {
			return memory.Event{ID: memory.EventID{Device: dreamer, Boot: binary.BigEndian.Uint64(id[:8]) >> 1, Seq: binary.BigEndian.Uint64(id[8:]) >> 1},
				Kind: memory.KindText, At: at, Received: time.Now(), Clock: memory.ClockWall, Speaker: speaker, Text: text}
		}
		again := []memory.Event{event(m.ID, m.When(), "", saidIn(m))}
		var gone []memory.ID
		for _, u := range said {
			holds, err := o.extract.HoldsSecret(ctx, u.Text)
			if err != nil {
				return false, err
			}
			if holds {
				again, gone = append(again, event(u.ID, u.At, u.Speaker, u.Text)), append(gone, u.ID)
			}
		}
		for _, ev := range again {
			if _, err := o.extract.Process(ctx, lock, ev); err != nil {
				return false, err
			}
		}
		if _, err := lock.Erase(ctx, person, wish, m.ID); err != nil {
			return false, err
		}
		if len(gone) > 0 {
			if err := o.drop(ctx, lock, gone, nil); err != nil {
				return false, err
			}
		}
		if err := o.flushHeld(ctx, lock); err != nil {
			return false, err
		}
		if err := o.store.Compact(ctx); err != nil {
			return false, err
		}
	}
	d.Next++
	err = lock.Commit(ctx, func(tx *store.Tx) (err error) {
		there, err = keepPlan(tx, d)
		return err
	})
	return there, err
}

// goOn ends what a crash or the end of the process broke off.
func (o *opened) goOn(ctx context.Context, n *Node) error {
	d, err := o.dreaming(ctx)
	if err == nil && d.Undoing != "" {
		_, err = o.undo(ctx, d.Undoing)
	}
	if err == nil && d.Doing && d.Plan != nil {
		_, err = o.walk(ctx, n, d)
	}
	return err
}

// madeOf gives what dreams have made of a memory, and holds its words.
func madeOf(tx *store.Tx, id memory.ID) (out []memory.ID, err error) {
	for m, err := range tx.Memories(store.Filter{}) {
		if err != nil {
			return nil, err
		}
		if m.Source.Plugin == dreamer && slices.Contains(m.Links, memory.Link{Relation: consolidate.DerivedFrom, To: id.String()}) {
			out = append(out, m.ID)
		}
	}
	return out, nil
}

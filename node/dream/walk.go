package dream

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Page is how many steps one transaction carries out.
const Page = 25

// walk carries out the rest of a plan. Each transaction records the progress, so
// that the next call continues there after a crash. If something is forgotten
// meanwhile, it ends early. The caller holds mu.
func (ds *Dreams) walk(ctx context.Context, d dreaming) (dreaming, error) {
	for there := true; there && d.Next < len(d.Plan.Steps); {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		if s := &d.Plan.Steps[d.Next]; s.Kind == consolidate.Scrub {
			var err error
			if there, err = ds.scrub(ctx, s, &d); err != nil {
				return d, err
			}
			continue
		}
		next := d
		err := ds.c.Engine.Commit(ctx, func(tx *store.Tx) (err error) {
			next = d
			if there, err = keepPlan(tx, &d); err != nil || !there {
				return err
			}
			next.Skipped = slices.Clone(d.Skipped)
			for next.Next < len(d.Plan.Steps) && next.Next < d.Next+Page {
				s := &d.Plan.Steps[next.Next]
				if s.Kind == consolidate.Scrub {
					break
				}
				why, err := ds.step(tx, s, d.Plan.ID)
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
	d.Doing, d.Last = false, ds.c.Now().UTC()
	done := d
	done.Plan, done.Next, done.Skipped = nil, 0, nil
	return d, ds.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(dreamMeta, done) })
}

// step returns the assertions of one step, or the reason why it is skipped.
func (ds *Dreams) step(tx *store.Tx, s *consolidate.Step, plan string) (why string, err error) {
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
		if consolidate.TextFingerprint(of...) != s.Stamp {
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
		if s.Kind != consolidate.Merge && consolidate.StateFingerprint(looked...) != s.Stamp || s.Kind == consolidate.Merge && !consolidate.Same(s, at, &into) {
			return "it has changed since", nil
		}
	}
	if m.Pinned {
		return "it is pinned", nil
	}
	for _, a := range s.Assertions(&m, &into) {
		a.Source, a.Seen = memory.Source{Plugin: dreamer, Version: plan}, nil
		if _, err := ds.c.Engine.AssertTx(tx, memory.RankDevice, a); err != nil {
			return "", err
		}
	}
	return "", nil
}

// scrub asserts memories that contain a credential again, without it. The chain
// takes the credential out and puts it into the vault; then the old memory is
// erased. After a crash this can be repeated, because the new memories get the
// same ids each time.
func (ds *Dreams) scrub(ctx context.Context, s *consolidate.Step, d *dreaming) (there bool, err error) {
	lock := ds.c.Engine.AcquireWriter()
	defer lock.Release()
	var m *memory.Memory
	said := map[memory.ID]*memory.Utterance{}
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) (err error) {
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
		again := []memory.Event{event(m.ID, m.When(), "", m.AllText())}
		var gone []memory.ID
		for _, u := range said {
			holds, err := ds.c.Chain.HoldsSecret(ctx, u.Text)
			if err != nil {
				return false, err
			}
			if holds {
				again, gone = append(again, event(u.ID, u.At, u.Speaker, u.Text)), append(gone, u.ID)
			}
		}
		for _, ev := range again {
			if _, err := ds.c.Chain.Process(ctx, lock, ev); err != nil {
				return false, err
			}
		}
		if err := ds.c.Erase(ctx, lock, m.ID, gone); err != nil {
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

// continueInterrupted continues what a crash, or the end of the process, interrupted.
func (ds *Dreams) continueInterrupted(ctx context.Context) error {
	d, err := ds.dreaming(ctx)
	if err == nil && d.Undoing != "" {
		_, err = ds.undo(ctx, d.Undoing)
	}
	if err == nil && d.Doing && d.Plan != nil {
		_, err = ds.walk(ctx, d)
	}
	return err
}

// MadeOf returns the memories that dreams have made of a memory, and that contain
// its words.
func MadeOf(tx *store.Tx, id memory.ID) (out []memory.ID, err error) {
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

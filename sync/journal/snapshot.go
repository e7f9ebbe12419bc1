package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

var _ replica.Archive = (*Journal)(nil)

// EachLive implements replica.Archive. It yields, in one consistent view,
// everything of this space that another member has after it took all deltas.
func (j *Journal) EachLive(ctx context.Context, f func(*delta.Item) error) error {
	return j.Store.View(ctx, func(tx *store.Tx) error {
		if err := j.settled(tx); err != nil {
			return err
		}
		for a, err := range tx.AllAssertions() {
			if err != nil {
				return err
			}
			if here, err := j.staysHere(tx, a); err != nil || here || a.Act == memory.ActErase {
				if err != nil {
					return err
				}
				continue
			}
			if err := f(&delta.Item{Member: a.Dot.Member, Op: delta.Op{Assertion: a}}); err != nil {
				return err
			}
		}
		for u, err := range tx.UtterancesByID() {
			if err != nil {
				return err
			}
			u.Space = j.Space
			if err := f(&delta.Item{Op: delta.Op{Utterance: u}}); err != nil {
				return err
			}
		}
		if err := j.liveNotes(tx, f); err != nil {
			return err
		}
		return liveErased(tx, f)
	})
}

// settled returns replica.ErrUnsettled unless all that was made here was sent,
// and all that came was applied.
func (j *Journal) settled(tx *store.Tx) error {
	for _, err := range tx.Outbox(0) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: something waits to be sent", replica.ErrUnsettled)
	}
	for _, err := range tx.Stubs() {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: some memories are cold here", replica.ErrUnsettled)
	}
	waits, err := j.countParked(tx)
	if err == nil && waits > 0 {
		err = fmt.Errorf("%w: %d ops of a worker wait", replica.ErrUnsettled, waits)
	}
	return err
}

// staysHere reports whether an assertion is about one of this member's secrets.
// Other members do not have it unless secrets are sent.
func (j *Journal) staysHere(tx *store.Tx, a *memory.Assertion) (bool, error) {
	if a.Dot.Member != j.Member {
		return false, nil
	}
	if secret, err := isSecret(tx, a); err != nil || !secret {
		return false, err
	}
	var places []envelope.Position
	if _, err := tx.Meta(j.note("in", a.Memory.String()), &places); err != nil {
		return false, err
	}
	for _, at := range places {
		var m manifest
		if _, err := tx.Meta(j.manifestNote(at), &m); err != nil {
			return false, err
		}
		if slices.Contains(m.Assertions, saying{a.Memory, a.Dot}) {
			return false, nil
		}
	}
	return true, nil
}

// liveNotes yields the notes of blobs and the citations that grants are counted
// by.
func (j *Journal) liveNotes(tx *store.Tx, f func(*delta.Item) error) error {
	var items []delta.Item
	blobs, cited := j.note("blob")+"/", j.note("cited")+"/"
	for name, err := range tx.MetaNames(j.note() + "/") {
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, blobs) {
			b := new(delta.Blob)
			if _, err := tx.Meta(name, b); err != nil {
				return err
			}
			gone, err := tx.Erased(b.Memory)
			if err != nil {
				return err
			}
			if !gone {
				items = append(items, delta.Item{Op: delta.Op{Blob: b}})
			}
		} else if rest, ok := strings.CutPrefix(name, cited); ok {
			c := new(delta.Cited)
			member, evidence, _ := strings.Cut(rest, "/")
			if err := c.Member.UnmarshalText([]byte(member)); err != nil {
				return fmt.Errorf("note %s: %w: %v", name, memory.ErrDamaged, err)
			}
			c.Evidence = evidence
			if _, err := tx.Meta(name, &c.Seqs); err != nil {
				return err
			}
			items = append(items, delta.Item{Cited: c})
		}
	}
	sorting.Sort(items, func(a, b delta.Item) int { return a.Compare(&b) })
	for i := range items {
		if err := f(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func liveErased(tx *store.Tx, f func(*delta.Item) error) error {
	const page = 1024
	var ids []memory.ID
	for id, err := range tx.ErasedIDs() {
		if err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) == page {
			if err := f(&delta.Item{Erased: ids}); err != nil {
				return err
			}
			ids = nil
		}
	}
	if len(ids) > 0 {
		if err := f(&delta.Item{Erased: ids}); err != nil {
			return err
		}
	}
	dots, err := tx.LastDots()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(dots, delta.MaxDots) {
		if err := f(&delta.Item{Dots: part}); err != nil {
			return err
		}
	}
	return nil
}

// Restore implements replica.Archive. Taking an item twice changes nothing.
// [delta.ErrForm] means that no honest member can have made an item, because no
// store could hold it.
func (j *Journal) Restore(ctx context.Context, items []delta.Item, s *replica.State) error {
	var steps []step
	for n := range items {
		i := &items[n]
		if i.Erased != nil {
			steps = append(steps, j.restoreErased(i.Erased)...)
			continue
		}
		steps = append(steps, func(tx *store.Tx, page int) (bool, error) {
			if u := i.Op.Utterance; u != nil && page == 1 {
				if more, err := j.withdrawOne(tx, u); err != nil || more {
					return more, err
				}
			}
			err := j.restore(tx, i)
			if errors.Is(err, memory.ErrInvalid) {
				err = fmt.Errorf("%w: %v", delta.ErrForm, err)
			}
			if err != nil {
				return false, fmt.Errorf("%s: %w", i.Name(), err)
			}
			return false, nil
		})
	}
	if s != nil {
		steps = append(steps, singleStep(func(tx *store.Tx) error { return j.save(tx, *s) }))
	}
	if err := runSteps(ctx, j.write, applyPage, steps); err != nil {
		return err
	}
	return j.emptyDeltas(ctx)
}

func (j *Journal) restore(tx *store.Tx, i *delta.Item) error {
	switch {
	case i.Cited != nil:
		return j.restoreCited(tx, i.Cited)
	case i.Dots != nil:
		for _, d := range i.Dots {
			if err := tx.MarkDotUsed(d); err != nil {
				return err
			}
		}
		return nil
	}
	return j.apply(tx, &i.Op)
}

// restoreCited puts the numbers that are known on this device behind those of a
// snapshot. The snapshot covers an author's chain from its beginning, and the
// counting follows the order of the chain.
func (j *Journal) restoreCited(tx *store.Tx, c *delta.Cited) error {
	if err := j.addWorker(tx, c.Member, nil); err != nil {
		return err
	}
	name := j.note("cited", c.Member.String(), c.Evidence)
	var here []uint64
	if _, err := tx.Meta(name, &here); err != nil {
		return err
	}
	seqs := slices.Clone(c.Seqs)
	for _, seq := range here {
		if !slices.Contains(seqs, seq) {
			seqs = append(seqs, seq)
		}
	}
	return tx.PutMeta(name, seqs[:min(len(seqs), maxCited)]) // numbers beyond the limit count like the next one, as in count
}

// restoreErased returns the steps that forget what this device has of the
// erased ids, and refuse the other ids from now on.
func (j *Journal) restoreErased(ids []memory.ID) (steps []step) {
	for part := range slices.Chunk(ids, forgetPage) {
		var rest []step // used if one transaction for all is too large
		steps = append(steps, func(tx *store.Tx, page int) (more bool, err error) {
			if rest == nil {
				here, never, err := sortErased(tx, part)
				if err != nil {
					return false, err
				}
				if page > 1 {
					return false, errors.Join(tx.EraseRemote(never), j.forget(tx, here))
				}
				rest = []step{singleStep(func(tx *store.Tx) error { return tx.EraseRemote(never) }), j.forgetStep(here, nil)}
			}
			if more, err = rest[0](tx, page); err != nil || more {
				return more, err
			}
			rest = rest[1:]
			return len(rest) > 0, nil
		})
	}
	return steps
}

// sortErased divides erased ids into those whose records are on this device and
// those that never came. It leaves out ids that are known to be erased.
func sortErased(tx *store.Tx, ids []memory.ID) (here, never store.Targets, err error) {
	for _, id := range ids {
		if known, err := tx.Erased(id); err != nil || known {
			if err != nil {
				return here, never, err
			}
			continue
		}
		if _, err := tx.Utterance(id); err == nil {
			here.Utterances = append(here.Utterances, id)
			continue
		} else if !errors.Is(err, memory.ErrNotFound) {
			return here, never, err
		}
		as, err := tx.Assertions(id)
		if err != nil {
			return here, never, err
		}
		_, cold, err := tx.Cold(id)
		if err != nil {
			return here, never, err
		}
		if len(as) > 0 || cold {
			here.Memories = append(here.Memories, id)
		} else {
			never.Memories = append(never.Memories, id)
		}
	}
	return here, never, nil
}

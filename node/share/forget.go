package share

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Forget removes what the wearer has erased from every projection and feed, and
// from their files. It needs no relay: the next [Sharing.Maintain] and
// [Sharing.MaintainFeeds] send the erasures of what has already left this device.
func (s *Sharing) Forget(ctx context.Context) error {
	return s.eachLive(ctx, func(rec *Record) error { return s.forgetInSpace(ctx, rec) })
}

// eachLive calls f with each record that is not revoked, and joins the errors.
func (s *Sharing) eachLive(ctx context.Context, f func(*Record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	records, err := s.c.Catalog.Records(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, rec := range records {
		if rec.Revoked.IsZero() {
			errs = append(errs, f(&rec))
		}
	}
	return errors.Join(errs...)
}

func (s *Sharing) forgetInSpace(ctx context.Context, rec *Record) (err error) {
	sp, err := s.open(ctx, rec, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	if rec.Kind == Projection {
		made, err := s.copies(ctx, rec, rec.activeParties(), sp.keys.ids)
		if err != nil {
			return err
		}
		copies := made.copies
		have, err := sp.memoryIDs(ctx)
		if err != nil {
			return err
		}
		before := len(have)
		left := copies[:0]
		for _, c := range copies {
			if have[c.ID] {
				left = append(left, c)
			}
		}
		if err := sp.setCopies(ctx, rec, left, s.c.Now().UTC().Truncate(time.Second)); err != nil {
			return err
		}
		if len(left) < before {
			if err := s.note(ctx, DidTake, rec, func(d *Deed) { d.Removed = before - len(left) }); err != nil {
				return err
			}
		}
	} else {
		if err := s.fill(ctx, sp, rec); err != nil {
			return err
		}
		if err := s.dropErased(ctx, sp); err != nil {
			return err
		}
	}
	if err := sp.store.Compact(ctx); err != nil {
		return err
	}
	return s.saveRecord(ctx, rec)
}

// dropErased erases what workers said in a feed, after the wearer has erased it.
func (s *Sharing) dropErased(ctx context.Context, sp *space) error {
	var memories, utterances []memory.ID
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		return s.c.Inbox.View(ctx, func(home *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{}) {
				if err != nil {
					return err
				}
				if original, err := home.Memory(m.ID); err == nil && original.State == memory.Erased {
					memories = append(memories, m.ID)
				} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
					return err
				}
			}
			for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err != nil {
					return err
				}
				heard, err := tx.Meta(heardNote(u.ID.String()), new(bool))
				if err != nil {
					return err
				}
				if _, err := home.Utterance(u.ID); heard && errors.Is(err, memory.ErrNotFound) {
					utterances = append(utterances, u.ID)
				} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	var as []memory.Assertion
	for _, id := range memories {
		as = append(as, memory.Assertion{Memory: id, Act: memory.ActErase})
	}
	if err := sp.commitAssertions(ctx, as); err != nil {
		return err
	}
	return InPages(ctx, sp.engine, utterances, func(tx *store.Tx, id memory.ID) error {
		return tx.Erase(store.Targets{Utterances: []memory.ID{id}})
	})
}

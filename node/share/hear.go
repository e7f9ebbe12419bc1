package share

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/journal"
)

// heardNote names the note that something a worker said was taken over.
func heardNote(what string) string { return "heard/" + what }

// takeClaims takes over what workers said in a feed, as far as the feed's replica
// accepted it.
func (s *Sharing) takeClaims(ctx context.Context, sp *space) (int, error) {
	var as []memory.Assertion
	var us []memory.Utterance
	var notes []string
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			all, err := tx.Assertions(m.ID)
			if err != nil {
				return err
			}
			for _, a := range all {
				note := heardNote(fmt.Sprintf("%s/%d", a.Dot.Member, a.Dot.Seq))
				if known, err := tx.Meta(note, new(bool)); err != nil || known || a.Dot.Member == sp.member {
					if err != nil {
						return err
					}
					continue
				}
				as, notes = append(as, memory.Assertion{Memory: a.Memory, Act: a.Act, Candidate: a.Candidate, Patch: a.Patch, Evidence: a.Evidence,
					Source: a.Source, Reason: strings.TrimSpace(a.Reason)}), append(notes, note)
			}
		}
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			note := heardNote(u.ID.String())
			known, err := tx.Meta(note, new(bool))
			if err != nil {
				return err
			}
			if !known {
				us, notes = append(us, *u), append(notes, note)
			}
		}
		return nil
	})
	if err != nil || len(notes) == 0 {
		return 0, err
	}
	fresh, err := s.newUtterances(ctx, us)
	if err != nil {
		return 0, err
	}
	if len(as)+len(fresh) > 0 {
		if err := s.c.Inbox.TakeClaims(ctx, as, fresh); err != nil {
			return 0, err
		}
	}
	err = InPages(ctx, sp.engine, notes, func(tx *store.Tx, note string) error { return tx.PutMeta(note, true) })
	return len(as) + len(fresh), err
}

// newUtterances returns the utterances that are not among the wearer's own. The others
// came from there.
func (s *Sharing) newUtterances(ctx context.Context, us []memory.Utterance) (out []memory.Utterance, err error) {
	err = s.c.Inbox.View(ctx, func(tx *store.Tx) error {
		for _, u := range us {
			_, err := tx.Utterance(u.ID)
			if errors.Is(err, memory.ErrNotFound) {
				out = append(out, u)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// Reports returns what a feed's worker has reported, the newest first.
func (s *Sharing) Reports(ctx context.Context, feed memory.SpaceID, worker memory.MemberID) (out []journal.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.find(ctx, Feed, feed.String())
	if err != nil {
		return nil, err
	}
	sp, err := s.open(ctx, &rec, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	return (&journal.Journal{Space: sp.id, Member: sp.member, Store: sp.store}).Reports(ctx, worker)
}

package share

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// Inbox gives feeds access to the wearer's memories: feeds take memories from it,
// and pass a worker's words to it.
type Inbox interface {
	// View reads the memories in one transaction.
	View(ctx context.Context, fn func(*store.Tx) error) error
	// TakeClaims commits what a worker said, with the lowest rank and as this device.
	// Memory, act and content of each assertion are set. What is stored already
	// changes nothing.
	TakeClaims(ctx context.Context, as []memory.Assertion, us []memory.Utterance) error
}

// FeedSpec describes a feed to be made.
type FeedSpec struct {
	Name     string
	Key      string // the request to join of the worker that is to be added
	Criteria Criteria
	Grant    delta.Grant
	Audio    bool // includes recordings and photos, except those that are held back
}

// CreateFeed makes a feed and admits a worker to it.
func (s *Sharing) CreateFeed(ctx context.Context, w FeedSpec) (rec Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	relay, address := s.c.Relay()
	if relay == nil {
		return rec, ErrNoRelay
	}
	if slices.Contains(w.Criteria.Types, memory.Vault) || slices.Contains(w.Grant.Types, memory.Vault) {
		return rec, fmt.Errorf("%w: types: a worker may not see the vault", memory.ErrInvalid)
	}
	now := s.c.Now().UTC().Truncate(time.Second)
	rand.Read(rec.Space[:])
	to := w.Key
	if w.Name != "" {
		to = w.Name + "=" + w.Key
	}
	ps, requests, err := parties([]string{to}, rec.Space, now)
	if err != nil {
		return rec, err
	}
	k := newSpaceKeys(s.c.Key, rec.Space)
	defer k.zero()
	rec = Record{Space: rec.Space, Kind: Feed, Title: ps[0].Name, Created: now, Criteria: w.Criteria, Grant: w.Grant, Audio: w.Audio, Relay: address}
	return rec, s.createSpace(ctx, &rec, k, func(sp *space) error {
		if err := s.fill(ctx, sp, &rec); err != nil {
			return err
		}
		return sp.admit(ctx, &rec, ps, requests, envelope.Extractor)
	})
}

// RevokeFeed ends a feed, as [Sharing.Revoke] ends a projection.
func (s *Sharing) RevokeFeed(ctx context.Context, id memory.SpaceID) (Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.find(ctx, Feed, id.String())
	if err != nil || !rec.Revoked.IsZero() {
		return rec, err
	}
	err = s.revoke(ctx, &rec, "")
	return rec, err
}

// FeedsMaintained is the result of MaintainFeeds.
type FeedsMaintained struct {
	Feeds int
	Taken int // assertions and utterances of workers that were taken over
}

// MaintainFeeds adds to every feed what is new, and takes over what workers said.
func (s *Sharing) MaintainFeeds(ctx context.Context) (t FeedsMaintained, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records, err := s.records(ctx, Feed)
	if err != nil {
		return t, err
	}
	var errs []error
	for i := range records {
		rec := &records[i]
		if checkLive(rec) != nil {
			continue
		}
		n, err := s.maintainFeed(ctx, rec)
		t.Feeds++
		t.Taken += n
		errs = append(errs, err)
	}
	return t, errors.Join(errs...)
}

func (s *Sharing) maintainFeed(ctx context.Context, rec *Record) (taken int, err error) {
	sp, err := s.open(ctx, rec, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	if err := s.fill(ctx, sp, rec); err != nil {
		return 0, err
	}
	held := sp.replica.Sync(ctx)
	if replica.Failed(held) {
		return 0, held
	}
	if taken, err = s.takeClaims(ctx, sp); err != nil {
		return 0, err
	}
	return taken, errors.Join(held, s.saveRecord(ctx, rec))
}

// fedNote names the note that says which form of a memory the feed has.
func fedNote(id memory.ID) string { return "fed/" + id.String() }

// fill puts into the feed what belongs there, and removes what does not. What
// workers said stays.
func (s *Sharing) fill(ctx context.Context, sp *space, rec *Record) error {
	f, err := s.choose(ctx, rec)
	if err != nil {
		return err
	}
	want := map[memory.ID]bool{}
	for _, m := range f.memories {
		want[m.ID] = true
	}
	for name, owner := range f.blobs {
		if err := s.copyRecording(ctx, sp, name, owner); err != nil {
			return err
		}
	}
	var as []memory.Assertion
	forms := map[memory.ID]string{} // forms of the copies to be added
	err = sp.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			var form string
			ours, err := tx.Meta(fedNote(m.ID), &form)
			if err != nil {
				return err
			}
			if ours && !want[m.ID] {
				as = append(as, memory.Assertion{Memory: m.ID, Act: memory.ActErase})
			}
		}
		for i := range f.memories {
			m := &f.memories[i]
			b, err := json.Marshal(m.Candidate)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(b)
			now, was := hex.EncodeToString(sum[:8]), ""
			if _, err := tx.Meta(fedNote(m.ID), &was); err != nil {
				return err
			}
			if now != was {
				c := m.Candidate
				c.Metadata = nil
				as = append(as, memory.Assertion{Memory: m.ID, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
				forms[m.ID] = now
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = InPages(ctx, sp.engine, f.utterances, func(tx *store.Tx, u memory.Utterance) error {
		u.Space = sp.id
		if err := tx.PutMeta(fedNote(u.ID), fedLine); err != nil {
			return err
		}
		return tx.PutUtterance(&u)
	})
	if err != nil {
		return err
	}
	if err := sp.dropLines(ctx, f.utterances); err != nil {
		return err
	}
	if err := sp.commitAssertions(ctx, as); err != nil {
		return err
	}
	rec.Copies, rec.Updated = len(f.memories), s.c.Now().UTC().Truncate(time.Second)
	return InPages(ctx, sp.engine, as, func(tx *store.Tx, a memory.Assertion) error {
		if a.Act == memory.ActErase {
			return tx.DeleteMeta(fedNote(a.Memory))
		}
		return tx.PutMeta(fedNote(a.Memory), forms[a.Memory])
	})
}

// fedLine, in the note of an utterance, says that this device put it into the feed.
const fedLine = "line"

// dropLines erases utterances that no longer belong into the feed: the wearer has
// forgotten them, or nothing in the feed quotes them now.
func (sp *space) dropLines(ctx context.Context, wanted []memory.Utterance) error {
	keep := map[memory.ID]bool{}
	for _, u := range wanted {
		keep[u.ID] = true
	}
	var gone []memory.ID
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			var note string
			ours, err := tx.Meta(fedNote(u.ID), &note)
			if err != nil {
				return err
			}
			if ours && note == fedLine && !keep[u.ID] {
				gone = append(gone, u.ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return nil
	}
	err = InPages(ctx, sp.engine, gone, func(tx *store.Tx, id memory.ID) error {
		if err := tx.Erase(store.Targets{Utterances: []memory.ID{id}}); err != nil {
			return err
		}
		return tx.DeleteMeta(fedNote(id))
	})
	if err != nil {
		return err
	}
	return sp.store.Compact(ctx)
}

// copyRecording copies the bytes of a recording or photo into the feed's store, whose outbox
// sends them. If the bytes are not on this device, a later call tries again.
func (s *Sharing) copyRecording(ctx context.Context, sp *space, name, owner memory.ID) error {
	have := false
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		b, err := tx.OpenBlob(name)
		if err == nil {
			have = true
			return b.Close()
		}
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil || have {
		return err
	}
	var from io.ReadCloser
	open := func(tx *store.Tx) (err error) {
		from, err = tx.OpenBlob(name)
		return err
	}
	err = s.c.Inbox.View(ctx, open)
	if errors.Is(err, memory.ErrNotFound) && s.c.FetchMedia != nil {
		if err := s.c.FetchMedia(ctx, name); err != nil {
			s.c.Log.Debug("feed: not here", "blob", name, "error", err)
			return ctx.Err()
		}
		err = s.c.Inbox.View(ctx, open)
	}
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	b, err := sp.store.WriteRemoteBlob(ctx, name, from)
	if err != nil {
		return err
	}
	return sp.engine.Commit(ctx, func(tx *store.Tx) error { return tx.KeepBlob(b, owner) })
}

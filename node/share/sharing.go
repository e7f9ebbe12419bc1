package share

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// Source provides the wearer's memories.
type Source interface {
	// Choose returns the memories that fit, at most MaxCopies. If there is a
	// query, the best come first.
	Choose(ctx context.Context, c Criteria) ([]memory.Memory, error)
	// Vocabulary returns the people and places that the memories know.
	Vocabulary(ctx context.Context) (Vocabulary, error)
}

// Catalog keeps the records, sealed.
type Catalog interface {
	Records(ctx context.Context) ([]Record, error)
	Keep(ctx context.Context, records []Record) error
}

// Config configures a node's sharing. If there is no Relay, nothing can be sent.
type Config struct {
	Dir      string          // contains a folder for each space
	Key      *seal.Key       // the sharing key; the caller owns it
	Recovery *seal.Recipient // gets the keys of every space
	Source   Source
	Catalog  Catalog
	Inbox    Inbox // for feeds; may be nil without them
	Account  Account
	// Allow returns the wearer's present policy. nil: everything that is shared by
	// hand is allowed.
	Allow func(context.Context) (rulebook.Rules, error)
	// Ask stores what a rule asks the wearer about, see consent.Asker. nil: nobody
	// is asked, and what a rule asks about is not shared.
	Ask func(ctx context.Context, held []consent.Held, again bool) error
	// FetchMedia downloads the bytes of a photo or recording that is not on this device.
	// nil: it can't be downloaded. Failed downloads are tried again later.
	FetchMedia func(ctx context.Context, blob memory.ID) error
	// Sees returns what an app may see according to the rules. It is only needed for
	// shares that apps made.
	Sees    func(by *Author, rules *rulebook.Rules) func(*memory.Memory) bool
	Wearer  string                         // a name to be redacted with the others
	Relay   func() (*remote.Relay, string) // the relay to which new shares go, and its address; a nil relay: nothing can be sent
	Invite  string
	HTTP    *http.Client // for relays of earlier spaces; nil: the usual
	Reserve uint64       // bytes of the disk that stay free
	Now     func() time.Time
	Log     *slog.Logger
}

// Sharing is the owner's side. Its methods are safe for concurrent use; one
// runs at a time.
type Sharing struct {
	c  Config
	mu sync.Mutex
}

// New returns the sharing of a node.
func New(c Config) *Sharing {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Allow == nil {
		c.Allow = func(context.Context) (rulebook.Rules, error) { return rulebook.ByHand(), nil }
	}
	if c.Relay == nil {
		c.Relay = func() (*remote.Relay, string) { return nil, "" }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return &Sharing{c: c}
}

// Create makes a projection and adds its readers. If the relay can't be
// reached, nothing of it is kept.
func (s *Sharing) Create(ctx context.Context, w ShareSpec) (rec Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	relay, address := s.c.Relay()
	if relay == nil {
		return rec, ErrNoRelay
	}
	rand.Read(rec.Space[:])
	k := newSpaceKeys(s.c.Key, rec.Space)
	defer k.zero()
	p, requests, err := s.preview(ctx, &w, k.ids, rec.Space)
	if err == nil && w.Confirm != "" && w.Confirm != p.Confirm {
		err = ErrChanged
	}
	if err != nil {
		refused := s.note(ctx, DidRefuse, &Record{Kind: Projection, Title: w.Title, By: w.By}, func(d *Deed) { d.Why = err.Error() })
		return rec, errors.Join(err, refused)
	}
	now := s.c.Now().UTC().Truncate(time.Second)
	rec = Record{Space: rec.Space, Kind: Projection, Title: w.Title, Created: now, Expires: w.Expires, Criteria: w.Criteria, Redact: w.Redact, Purpose: w.Purpose,
		Relay: address, By: w.By}
	if w.BeforeSharing != nil {
		of := make([]memory.ID, len(p.Copies))
		for i := range of {
			of[i] = p.Copies[i].Of
		}
		if err := w.BeforeSharing(ctx, of); err != nil {
			return rec, err
		}
	}
	return rec, s.createSpace(ctx, &rec, k, func(sp *space) error {
		if err := sp.setCopies(ctx, &rec, p.Copies, now); err != nil {
			return err
		}
		// This comes before anybody is added, so that the share is not made if the
		// log entry can't be written.
		if err := s.note(ctx, DidShare, &rec, func(d *Deed) {
			for _, party := range p.Parties {
				d.To = append(d.To, party.Name)
			}
		}); err != nil {
			return err
		}
		return sp.admit(ctx, &rec, p.Parties, requests, envelope.Reader)
	})
}

// createSpace makes a space, fills it, and stores its record. The record is stored
// before the relay is told, so that an interrupted share can be revoked.
func (s *Sharing) createSpace(ctx context.Context, rec *Record, k *spaceKeys, fill func(*space) error) error {
	first, err := k.genesis(s.c.Key, s.c.Recovery, rec.Created)
	if err != nil {
		return err
	}
	rec.Genesis = first.Hash()
	sp, err := s.open(ctx, rec, first.Bytes())
	if err != nil {
		return errors.Join(err, s.removeFolder(rec.Space))
	}
	if err := s.saveRecord(ctx, rec); err != nil {
		return errors.Join(err, sp.close(), s.removeFolder(rec.Space))
	}
	err = fill(sp)
	if err == nil {
		err = sp.replica.Sync(ctx)
	}
	if err = errors.Join(err, sp.close()); err != nil {
		return errors.Join(fmt.Errorf("share: %w", err), s.undo(context.WithoutCancel(ctx), rec))
	}
	return s.saveRecord(ctx, rec)
}

// undo reverts an unfinished share. If the relay has a part of it and can't be
// told to delete it, the record stays, so that it can be revoked.
func (s *Sharing) undo(ctx context.Context, rec *Record) error {
	err := s.deleteAt(ctx, rec)
	if err != nil && !errors.Is(err, remote.ErrForbidden) && !errors.Is(err, remote.ErrNotFound) {
		rec.Revoking = true
		return s.saveRecord(ctx, rec)
	}
	records, err := s.c.Catalog.Records(ctx)
	if err == nil {
		err = s.c.Catalog.Keep(ctx, slices.DeleteFunc(records, func(r Record) bool { return r.Space == rec.Space }))
	}
	return errors.Join(err, s.removeFolder(rec.Space))
}

// deleteAt deletes a space at the relay, as its root.
func (s *Sharing) deleteAt(ctx context.Context, rec *Record) error {
	at, err := s.relay(rec)
	if err != nil {
		return err
	}
	key := Root(s.c.Key)
	defer clear(key)
	return at.Root(key.Public().(ed25519.PublicKey), httpsig.KeySigner(key)).Space(rec.Space).Delete(ctx)
}

// admit adds parties as members.
func (sp *space) admit(ctx context.Context, rec *Record, ps []Party, requests []envelope.Request, role envelope.Role) error {
	for i, p := range ps {
		m := envelope.Member{ID: p.Member, Key: requests[i].Key, Recipient: requests[i].Recipient, Role: role}
		if role == envelope.Extractor {
			key, ok := sp.keys.Epoch(1)
			if !ok {
				return fmt.Errorf("let %s in: no key", p.Name)
			}
			m.Grant = replica.SealGrant(rec.Grant, sp.id, p.Member, 1, key)
		}
		// The readers of a projection do not learn each other's names.
		if err := sp.replica.AddMember(ctx, m, ""); err != nil {
			return fmt.Errorf("let %s in: %w", p.Name, err)
		}
		rec.Parties = append(rec.Parties, p)
	}
	return nil
}

// setCopies makes the space contain exactly these copies.
func (sp *space) setCopies(ctx context.Context, rec *Record, copies []Copy, now time.Time) error {
	want := map[memory.ID]*Copy{}
	for i := range copies {
		want[copies[i].ID] = &copies[i]
	}
	have, err := sp.memoryIDs(ctx)
	if err != nil {
		return err
	}
	var as []memory.Assertion
	for id := range have {
		if want[id] == nil {
			as = append(as, memory.Assertion{Memory: id, Act: memory.ActErase})
		}
	}
	for _, c := range copies {
		if !have[c.ID] {
			as = append(as, memory.Assertion{Memory: c.ID, Act: memory.ActPropose, Candidate: &c.Candidate})
		}
	}
	if err := sp.commitAssertions(ctx, as); err != nil {
		return err
	}
	rec.Copies, rec.Updated = len(copies), now
	return nil
}

// memoryIDs returns the ids of the memories in the space, in any state.
func (sp *space) memoryIDs(ctx context.Context) (map[memory.ID]bool, error) {
	out := map[memory.ID]bool{}
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			out[m.ID] = true
		}
		return nil
	})
	return out, err
}

// saveRecord replaces a record, or adds it.
func (s *Sharing) saveRecord(ctx context.Context, rec *Record) error {
	records, err := s.c.Catalog.Records(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(records, func(r Record) bool { return r.Space == rec.Space })
	if i < 0 {
		records = append(records, *rec)
	} else {
		records[i] = *rec
	}
	return s.c.Catalog.Keep(ctx, records)
}

// Records returns all records of one kind, the newest first.
func (s *Sharing) Records(ctx context.Context, kind Kind) ([]Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records(ctx, kind)
}

func (s *Sharing) records(ctx context.Context, kind Kind) ([]Record, error) {
	records, err := s.c.Catalog.Records(ctx)
	records = slices.DeleteFunc(records, func(r Record) bool { return r.Kind != kind })
	sorting.Stable(records, func(a, b Record) int { return b.Created.Compare(a.Created) })
	return records, err
}

// find returns the record whose id is, or begins with, the given text.
func (s *Sharing) find(ctx context.Context, kind Kind, id string) (rec Record, err error) {
	records, err := s.records(ctx, kind)
	if err != nil {
		return rec, err
	}
	if len(id) < 4 {
		return rec, fmt.Errorf("%w: share %q: want at least 4 characters", memory.ErrInvalid, id)
	}
	found := 0
	for _, r := range records {
		if strings.HasPrefix(r.Space.String(), strings.ToLower(id)) {
			rec = r
			found++
		}
	}
	switch {
	case found == 0:
		return rec, fmt.Errorf("share %s: %w", id, memory.ErrNotFound)
	case found > 1:
		return Record{}, fmt.Errorf("share %s: %w", id, memory.ErrAmbiguous)
	}
	return rec, nil
}

// Show returns a record and what its readers see.
func (s *Sharing) Show(ctx context.Context, id string) (rec Record, seen []memory.Memory, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec, err = s.find(ctx, Projection, id); err != nil || !rec.Revoked.IsZero() {
		return rec, nil, err
	}
	sp, err := s.open(ctx, &rec, nil)
	if err != nil {
		return rec, nil, err
	}
	seen, err = ActiveIn(ctx, sp.store)
	return rec, seen, errors.Join(err, sp.close())
}

// Change is the result of an update.
type Change struct {
	Added   int `json:"added"`
	Removed int `json:"removed"` // because the original is gone, was changed, or no longer fits
}

// Update makes a projection contain what fits now, and sends the changes.
func (s *Sharing) Update(ctx context.Context, id string) (rec Record, ch Change, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec, err = s.find(ctx, Projection, id); err != nil {
		return rec, ch, err
	}
	if err := checkLive(&rec); err != nil {
		return rec, ch, err
	}
	ch, err = s.update(ctx, &rec, true)
	return rec, ch, err
}

func checkLive(rec *Record) error {
	if rec.Revoking || !rec.Revoked.IsZero() {
		return fmt.Errorf("share %s: %w", rec.Space, ErrRevoked)
	}
	return nil
}

// update fills a projection again. Without grow it only removes from it.
func (s *Sharing) update(ctx context.Context, rec *Record, grow bool) (ch Change, err error) {
	sp, err := s.open(ctx, rec, nil)
	if err != nil {
		return ch, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	made, err := s.copies(ctx, rec, rec.activeParties(), sp.keys.ids)
	if err != nil {
		return ch, err
	}
	copies := made.copies
	have, err := sp.memoryIDs(ctx)
	if err != nil {
		return ch, err
	}
	if !grow {
		copies = slices.DeleteFunc(copies, func(c Copy) bool { return !have[c.ID] })
	}
	left := maps.Clone(have)
	for _, c := range copies {
		if !have[c.ID] {
			ch.Added++
		}
		delete(left, c.ID)
	}
	ch.Removed = len(left)
	if err := sp.setCopies(ctx, rec, copies, s.c.Now().UTC().Truncate(time.Second)); err != nil {
		return ch, err
	}
	if err := sp.replica.Sync(ctx); err != nil {
		return ch, err
	}
	if ch != (Change{}) {
		did := DidTake
		if grow {
			did = DidUpdate
		}
		if err := s.note(ctx, did, rec, func(d *Deed) { d.Added, d.Removed = ch.Added, ch.Removed }); err != nil {
			return ch, err
		}
	}
	return ch, s.saveRecord(ctx, rec)
}

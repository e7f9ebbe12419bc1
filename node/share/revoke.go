package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// Revoke removes one reader, or all if party is empty; party is a name, or the
// beginning of a member's id. The space continues in a new epoch, whose key they
// don't get. With the last reader everything is deleted: the copies here, their
// bodies at the relay, and then the space itself. Readers keep what they have
// already fetched.
//
// If the relay can't be reached, nothing new is sent to the space any more, and
// another call of Revoke continues.
func (s *Sharing) Revoke(ctx context.Context, id, party string) (Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.find(ctx, Projection, id)
	if err != nil || !rec.Revoked.IsZero() {
		return rec, err
	}
	err = s.revoke(ctx, &rec, party)
	return rec, err
}

func (s *Sharing) revoke(ctx context.Context, rec *Record, party string) error {
	out, err := pickParties(rec, party)
	if err != nil {
		return err
	}
	last := len(out) == len(rec.activeParties())
	if last {
		rec.Revoking = true
		if err := s.saveRecord(ctx, rec); err != nil {
			return err
		}
	}
	if err := s.removeMembers(ctx, rec, out, last); err != nil {
		return fmt.Errorf("revoke %s: %w", rec.Space, err)
	}
	if last {
		if err := s.deleteAt(ctx, rec); err != nil && !errors.Is(err, remote.ErrForbidden) && !errors.Is(err, remote.ErrNotFound) {
			return fmt.Errorf("revoke %s: %w", rec.Space, err)
		}
		if err := s.removeFolder(rec.Space); err != nil {
			return fmt.Errorf("revoke %s: %w", rec.Space, err)
		}
		rec.Revoking, rec.Revoked, rec.Copies = false, s.c.Now().UTC().Truncate(time.Second), 0
	}
	did := DidPutOut
	if last {
		did = DidRevoke
	}
	return errors.Join(s.saveRecord(ctx, rec), s.note(ctx, did, rec, func(d *Deed) {
		d.To = nil
		for _, p := range out {
			d.To = append(d.To, p.Name)
		}
	}))
}

func pickParties(rec *Record, party string) ([]Party, error) {
	live := rec.activeParties()
	if party == "" {
		return live, nil
	}
	found := slices.DeleteFunc(live, func(p Party) bool {
		return p.Name != party && (len(party) < 4 || !strings.HasPrefix(p.Member.String(), strings.ToLower(party)))
	})
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%q has no access to %s: %w", party, rec.Space, memory.ErrNotFound)
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("%q: %w", party, memory.ErrAmbiguous)
}

// removeMembers removes members from a space. If last is set, it removes everything else
// from the space, too. If the relay no longer has the space, it was revoked before.
func (s *Sharing) removeMembers(ctx context.Context, rec *Record, out []Party, last bool) (err error) {
	sp, err := s.open(ctx, rec, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	for _, p := range out {
		err := sp.replica.RemoveMember(ctx, p.Member, nil)
		if err != nil && !(last && errors.Is(err, remote.ErrForbidden)) {
			return err
		}
		i := slices.IndexFunc(rec.Parties, func(o Party) bool { return o.Member == p.Member })
		rec.Parties[i].Removed = s.c.Now().UTC().Truncate(time.Second)
		if err := s.saveRecord(ctx, rec); err != nil {
			return err
		}
	}
	if !last {
		if err := sp.replica.Sync(ctx); replica.Failed(err) {
			return err
		}
		return nil
	}
	if err := sp.setCopies(ctx, rec, nil, s.c.Now().UTC()); err != nil {
		return err
	}
	if err := sp.replica.Sync(ctx); replica.Failed(err) && !errors.Is(err, remote.ErrForbidden) {
		return err
	}
	return nil
}

// Maintain does what is due. It revokes what has expired, or could not be revoked
// before, and removes from shares what the wearer has erased or changed. It adds
// nothing.
func (s *Sharing) Maintain(ctx context.Context) error {
	return s.eachLive(ctx, func(rec *Record) (err error) {
		expired := !rec.Expires.IsZero() && !s.c.Now().Before(rec.Expires)
		switch {
		case rec.Revoking || expired:
			err = s.revoke(ctx, rec, "")
		case rec.Kind == Projection:
			_, err = s.update(ctx, rec, false)
		}
		return err
	})
}

package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// AppendLog takes the next entry of a space's log. An entry that is here
// already is no error; one that comes second is [ErrConflict], and its author
// reads the log and makes another. The first entry founds the space: it
// names its own root, and invite is the code that a new account may need.
func (r *Relay) AppendLog(ctx context.Context, c Caller, e *envelope.Entry, invite string) error {
	if e.Action == envelope.Found {
		return r.found(ctx, e, invite)
	}
	head, err := r.reads(ctx, c, e.Space)
	if err != nil {
		return err
	}
	s, _, err := r.state(ctx, e.Space)
	if err != nil {
		return err
	}
	if !c.Root && c.Role != envelope.Owner {
		return fmt.Errorf("log entry %d: %w: only an owner appends", e.N, ErrForbidden)
	}
	s = s.Clone()
	var fork *envelope.ForkError
	switch err := s.Append(e); {
	case errors.Is(err, envelope.ErrKnown):
		return nil
	case errors.Is(err, envelope.ErrGap), errors.As(err, &fork):
		return fmt.Errorf("log entry %d: %w: it is at %d, %s", e.N, ErrConflict, head.LogN, head.LogHead)
	case err != nil:
		return err
	}
	quota := r.config.Quota
	if e.Removed != nil {
		if err := r.askBack(ctx, e); err != nil {
			return err
		}
		quota.Bytes = 0 // else who is to go could fill the account, and stay
	} else if err := quota.mayGrow(s); err != nil {
		return err
	}
	if err := r.store.AppendLog(ctx, e, nil, quota); err != nil {
		return err
	}
	if e.Removed != nil {
		r.removed(e.Space, *e.Removed)
	}
	r.keep(e.Space, s)
	r.wake(Wake{ID: e.Space})
	return nil
}

func (r *Relay) found(ctx context.Context, e *envelope.Entry, invite string) error {
	s := new(envelope.State)
	if err := s.Append(e); err != nil {
		return err
	}
	head, err := r.store.Space(ctx, e.Space)
	if err == nil {
		return r.foundAgain(ctx, e, head)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	f := &Founding{Account: AccountID(e.Root), Needed: r.config.Invite}
	if invite != "" {
		hash := InviteHash(invite)
		f.Invite = &hash
	}
	if err := r.store.AppendLog(ctx, e, f, r.config.Quota); err != nil {
		return err
	}
	r.keep(e.Space, s)
	r.wake(Wake{ID: e.Space})
	return nil
}

// foundAgain answers a founding that may have come before.
func (r *Relay) foundAgain(ctx context.Context, e *envelope.Entry, head Space) error {
	first, err := r.store.Log(ctx, e.Space, 0, 1)
	if err != nil {
		return err
	}
	if head.Account == AccountID(e.Root) && len(first) == 1 {
		if have, err := envelope.ParseEntry(first[0]); err == nil && have.Hash() == e.Hash() {
			return nil
		}
	}
	return fmt.Errorf("space %s: %w: it is founded", e.Space, ErrConflict)
}

// InviteHash is what is stored of an invitation's code.
func InviteHash(code string) [32]byte { return sha256.Sum256([]byte("locket/v1 invite\x00" + code)) }

// Log gives the wire forms of log entries after number n, at most limit, and
// no more than fit into [MaxPage].
func (r *Relay) Log(ctx context.Context, c Caller, space memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	head, err := r.reads(ctx, c, space)
	if err != nil {
		return nil, err
	}
	if n > head.LogN {
		return nil, fmt.Errorf("log after %d: %w: it is at %d", n, ErrAhead, head.LogN)
	}
	return r.store.Log(ctx, space, n, min(max(limit, 1), MaxPage/envelope.MaxEntry))
}

// Append takes deltas of the caller, all or none, and gives their cursors. An
// owner may bring other members' as well: they are signed, and it may have them
// from another relay.
func (r *Relay) Append(ctx context.Context, c Caller, space memory.SpaceID, deltas []*envelope.Delta) ([]uint64, error) {
	if c.Root || c.Space != space {
		return nil, ErrForbidden
	}
	if r.waits(space, c.Member) {
		return nil, fmt.Errorf("%w: this member is being removed", ErrBusy)
	}
	if len(deltas) == 0 {
		return nil, fmt.Errorf("%w: no deltas, want 1 to %d", envelope.ErrForm, MaxDeltas)
	}
	if len(deltas) > MaxDeltas {
		return nil, fmt.Errorf("%w: %d deltas, at most %d", ErrTooLarge, len(deltas), MaxDeltas)
	}
	exact, trusting := r.store.(Exact)
again:
	for range 3 { // the log seldom moves twice while one request is looked at
		s, head, err := r.known(space, trusting)
		if s == nil {
			s, head, err = r.state(ctx, space)
		}
		if errors.Is(err, ErrNotFound) {
			return nil, ErrForbidden
		}
		if err != nil {
			return nil, err
		}
		for i, d := range deltas {
			if err := accept(s, c, d); err != nil && trusting && r.stale(ctx, space, s) {
				continue again
			} else if err != nil {
				return nil, fmt.Errorf("delta %d of the request: %w", i, err)
			}
		}
		var cursors []uint64
		if trusting {
			cursors, err = exact.AppendExact(ctx, space, s.N(), s.Head(), deltas, r.config.Quota, r.config.Now())
		} else {
			cursors, err = r.store.Append(ctx, space, head.LogN, deltas, r.config.Quota, r.config.Now())
		}
		if errors.Is(err, ErrConflict) {
			r.drop(space) // and look where it is
			continue
		}
		if errors.Is(err, ErrNotFound) {
			r.drop(space)
			return nil, ErrForbidden
		}
		if err != nil {
			return nil, err
		}
		r.wake(Wake{ID: space})
		return cursors, nil
	}
	return nil, ErrBusy
}

func accept(s *envelope.State, c Caller, d *envelope.Delta) error {
	h := &d.Header
	if h.Member != c.Member && (c.Removed || c.Role != envelope.Owner) {
		return fmt.Errorf("%w: %s sends for %s", ErrForbidden, c.Member, h.Member)
	}
	if err := s.Accepts(h, d.Signature); err != nil {
		return err
	}
	if d.Body != nil && (uint64(len(d.Body)) != uint64(h.BodySize) || sha256.Sum256(d.Body) != [32]byte(h.BodyHash)) {
		return fmt.Errorf("%s of %s: %w", h.Position(), h.Member, envelope.ErrBody)
	}
	return nil
}

// Deltas gives what came after a cursor, in order, at most limit.
func (r *Relay) Deltas(ctx context.Context, c Caller, space memory.SpaceID, after uint64, limit int) ([]Placed, error) {
	head, err := r.reads(ctx, c, space)
	if err != nil {
		return nil, err
	}
	if after > head.Cursor {
		return nil, fmt.Errorf("deltas after %d: %w, which is at %d", after, ErrAhead, head.Cursor)
	}
	if after == head.Cursor {
		return nil, nil
	}
	return r.store.After(ctx, space, after, min(max(limit, 1), MaxDeltas), MaxPage)
}

// Head gives where a space is.
func (r *Relay) Head(ctx context.Context, c Caller, space memory.SpaceID) (Space, error) {
	return r.reads(ctx, c, space)
}

// Forget takes bodies away: a member's own, or anyone's for an owner.
func (r *Relay) Forget(ctx context.Context, c Caller, space memory.SpaceID, refs []Ref) (int, error) {
	if _, err := r.reads(ctx, c, space); err != nil {
		return 0, err
	}
	if len(refs) > MaxDeltas {
		return 0, fmt.Errorf("%w: %d deltas to forget, at most %d", ErrTooLarge, len(refs), MaxDeltas)
	}
	for _, ref := range refs {
		if !c.Root && c.Role != envelope.Owner && ref.Member != c.Member {
			return 0, fmt.Errorf("forget %s of %s: %w", ref.Position, ref.Member, ErrForbidden)
		}
	}
	return r.store.Forget(ctx, space, refs)
}

// DeleteSpace removes a space; only its root may.
func (r *Relay) DeleteSpace(ctx context.Context, c Caller, space memory.SpaceID) error {
	if !c.Root {
		return ErrForbidden
	}
	if _, err := r.reads(ctx, c, space); err != nil {
		return err
	}
	if err := r.store.DeleteSpace(ctx, space); err != nil {
		return err
	}
	r.drop(space)
	r.wake(Wake{ID: space}) // whoever waits finds it gone
	return nil
}

// Account gives what a root's account holds.
func (r *Relay) Account(ctx context.Context, c Caller) (Account, error) {
	if !c.Root {
		return Account{}, ErrForbidden
	}
	return r.store.Account(ctx, c.Account)
}

// DeleteAccount removes a root's account and all its spaces.
func (r *Relay) DeleteAccount(ctx context.Context, c Caller) error {
	a, err := r.Account(ctx, c)
	if err != nil {
		return err
	}
	if err := r.store.DeleteAccount(ctx, c.Account); err != nil {
		return err
	}
	for _, space := range a.Spaces {
		r.drop(space)
		r.wake(Wake{ID: space})
	}
	return nil
}

// Blob tells how far a blob has come.
func (r *Relay) Blob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID) (Blob, error) {
	if _, err := r.reads(ctx, c, space); err != nil {
		return Blob{}, err
	}
	return r.store.Blob(ctx, space, id)
}

// WriteBlob puts a chunk of a blob, as [Blobs] says.
func (r *Relay) WriteBlob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID, size, offset int64, chunk []byte) (Blob, error) {
	if _, err := r.reads(ctx, c, space); err != nil {
		return Blob{}, err
	}
	if c.Root || !c.Role.PutsBlobs() {
		return Blob{}, fmt.Errorf("blob: %w: %s", ErrForbidden, c.Role)
	}
	if size <= 0 || size > MaxBlob || len(chunk) > MaxChunk {
		return Blob{}, fmt.Errorf("blob of %d bytes, chunk of %d: %w", size, len(chunk), ErrTooLarge)
	}
	if len(chunk) == 0 || offset < 0 || offset > size-int64(len(chunk)) {
		return Blob{}, fmt.Errorf("blob: %w: %d bytes at %d of %d", envelope.ErrForm, len(chunk), offset, size)
	}
	if offset > 0 { // only a first chunk begins a blob: it alone is never taken twice, and counted with its room
		if _, err := r.store.Blob(ctx, space, id); errors.Is(err, ErrNotFound) {
			return Blob{Author: c.Member, Size: size}, fmt.Errorf("chunk at %d: %w, which is not here", offset, ErrOffset)
		} else if err != nil {
			return Blob{}, err
		}
	}
	return r.store.WriteBlob(ctx, space, id, c.Member, size, offset, chunk, r.config.Quota, r.config.Now())
}

// OpenBlob gives the bytes of a blob that is done.
func (r *Relay) OpenBlob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error) {
	if _, err := r.reads(ctx, c, space); err != nil {
		return nil, 0, err
	}
	return r.store.OpenBlob(ctx, space, id)
}

// DeleteBlob removes one, for an owner; its author may take back what is not
// done. One that is done may be another member's as well, who found it here and
// did not send it again. With at it goes only if at is the cursor of the space's
// last delta, as [Blobs] says: whoever deletes has then heard of all that name it.
func (r *Relay) DeleteBlob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID, at *uint64) error {
	b, err := r.Blob(ctx, c, space, id)
	if err != nil {
		return err
	}
	if !c.Root && c.Role != envelope.Owner && (b.Done || b.Author != c.Member) {
		return fmt.Errorf("delete blob: %w", ErrForbidden)
	}
	return r.store.DeleteBlob(ctx, space, id, at)
}

// Post puts a message into a mailbox and gives its number.
func (r *Relay) Post(ctx context.Context, id MailboxID, message []byte) (int, error) {
	if len(message) == 0 || len(message) > MaxMessage {
		return 0, fmt.Errorf("message of %d bytes: %w: want 1 to %d", len(message), ErrTooLarge, MaxMessage)
	}
	now := r.config.Now()
	n, err := r.store.Post(ctx, id, message, now, now.Add(MailboxLife))
	if err == nil {
		r.wake(Wake{Mailbox: true, ID: id})
	}
	return n, err
}

// Message gives message n of a mailbox.
func (r *Relay) Message(ctx context.Context, id MailboxID, n int) ([]byte, error) {
	return r.store.Message(ctx, id, n, r.config.Now())
}

// Once notes a request that must not be done twice, over restarts, too.
func (r *Relay) Once(ctx context.Context, id [16]byte, life time.Duration) (bool, error) {
	return r.store.Once(ctx, id, r.config.Now().Add(life))
}

// Check reports whether the store answers.
func (r *Relay) Check(ctx context.Context) error {
	c, ok := r.store.(interface{ Check(context.Context) error })
	if !ok {
		return nil
	}
	return c.Check(ctx)
}

// Sweep removes what has had its time.
func (r *Relay) Sweep(ctx context.Context) error { return r.store.Sweep(ctx, r.config.Now()) }

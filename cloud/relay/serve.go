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

// AppendLog appends the next entry of a space's log. If the entry is stored
// already, it returns nil. If another entry has its number, it returns
// [ErrConflict]; the author then reads the log and makes a new entry. The first
// entry founds the space and names its own root. invite is the code of the
// invitation that a new account may need.
func (r *Relay) AppendLog(ctx context.Context, c Caller, e *envelope.Entry, invite string) error {
	if e.Action == envelope.Found {
		return r.foundSpace(ctx, e, invite)
	}
	head, err := r.readableSpace(ctx, c, e.Space)
	if err != nil {
		return err
	}
	s, _, err := r.state(ctx, e.Space)
	if err != nil {
		return err
	}
	if !c.Root && c.Role != envelope.Owner {
		return fmt.Errorf("log entry %d: %w: only an owner may append", e.N, ErrForbidden)
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
		if err := r.refuseLeftOut(ctx, e); err != nil {
			return err
		}
		quota.Bytes = 0 // otherwise a member could fill the account to prevent its own removal
	} else if err := quota.mayGrow(s); err != nil {
		return err
	}
	if err := r.store.AppendLog(ctx, e, nil, quota); err != nil {
		return err
	}
	if e.Removed != nil {
		r.endRemovalDelay(e.Space, *e.Removed)
	}
	r.cacheState(e.Space, s)
	r.wake(Wake{ID: e.Space})
	return nil
}

func (r *Relay) foundSpace(ctx context.Context, e *envelope.Entry, invite string) error {
	s := new(envelope.State)
	if err := s.Append(e); err != nil {
		return err
	}
	head, err := r.store.Space(ctx, e.Space)
	if err == nil {
		return r.foundSpaceAgain(ctx, e, head)
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
	r.cacheState(e.Space, s)
	r.wake(Wake{ID: e.Space})
	return nil
}

// foundSpaceAgain answers a founding that may be a repetition.
func (r *Relay) foundSpaceAgain(ctx context.Context, e *envelope.Entry, head Space) error {
	first, err := r.store.Log(ctx, e.Space, 0, 1)
	if err != nil {
		return err
	}
	if head.Account == AccountID(e.Root) && len(first) == 1 {
		if have, err := envelope.ParseEntry(first[0]); err == nil && have.Hash() == e.Hash() {
			return nil
		}
	}
	return fmt.Errorf("space %s: %w: it is founded already", e.Space, ErrConflict)
}

// InviteHash returns the hash under which an invitation's code is stored.
func InviteHash(code string) [32]byte { return sha256.Sum256([]byte("locket/v1 invite\x00" + code)) }

// Log returns the wire forms of the log entries after number n, at most limit, and
// not more than fit into [MaxPage].
func (r *Relay) Log(ctx context.Context, c Caller, space memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	head, err := r.readableSpace(ctx, c, space)
	if err != nil {
		return nil, err
	}
	if n > head.LogN {
		return nil, fmt.Errorf("log after %d: %w: it is at %d", n, ErrAhead, head.LogN)
	}
	return r.store.Log(ctx, space, n, min(max(limit, 1), MaxPage/envelope.MaxEntry))
}

// Append stores deltas of the caller, all or none, and returns their cursors. An
// owner may also bring other members' deltas, for example from another relay,
// since each delta is signed by its author.
func (r *Relay) Append(ctx context.Context, c Caller, space memory.SpaceID, deltas []*envelope.Delta) ([]uint64, error) {
	if c.Root || c.Space != space {
		return nil, ErrForbidden
	}
	if r.isDelayed(space, c.Member) {
		return nil, fmt.Errorf("%w: this member is being removed", ErrBusy)
	}
	if len(deltas) == 0 {
		return nil, fmt.Errorf("%w: no deltas, want 1 to %d", envelope.ErrForm, MaxDeltas)
	}
	if len(deltas) > MaxDeltas {
		return nil, fmt.Errorf("%w: %d deltas, at most %d", ErrTooLarge, len(deltas), MaxDeltas)
	}
	exact, trusting := r.store.(ExactAppender)
again:
	for range 3 { // the log rarely changes twice during one request
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
			if err := checkDelta(s, c, d); err != nil && trusting && r.stale(ctx, space, s) {
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
			r.drop(space) // the log has changed: forget the state and read it again
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

func checkDelta(s *envelope.State, c Caller, d *envelope.Delta) error {
	h := &d.Header
	if h.Member != c.Member && (c.Removed || c.Role != envelope.Owner) {
		return fmt.Errorf("%w: %s may not send in the name of %s", ErrForbidden, c.Member, h.Member)
	}
	if err := s.Accepts(h, d.Signature); err != nil {
		return err
	}
	if d.Body != nil && (uint64(len(d.Body)) != uint64(h.BodySize) || sha256.Sum256(d.Body) != [32]byte(h.BodyHash)) {
		return fmt.Errorf("%s of %s: %w", h.Position(), h.Member, envelope.ErrBody)
	}
	return nil
}

// Deltas returns the deltas after a cursor, in order, at most limit.
func (r *Relay) Deltas(ctx context.Context, c Caller, space memory.SpaceID, after uint64, limit int) ([]Placed, error) {
	head, err := r.readableSpace(ctx, c, space)
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

// Head returns the head of a space.
func (r *Relay) Head(ctx context.Context, c Caller, space memory.SpaceID) (Space, error) {
	return r.readableSpace(ctx, c, space)
}

// Forget removes the bodies of deltas. A member may do so for its own deltas, an
// owner for all.
func (r *Relay) Forget(ctx context.Context, c Caller, space memory.SpaceID, refs []Ref) (int, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
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

// DeleteSpace removes a space; only its root may do so.
func (r *Relay) DeleteSpace(ctx context.Context, c Caller, space memory.SpaceID) error {
	if !c.Root {
		return ErrForbidden
	}
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return err
	}
	if err := r.store.DeleteSpace(ctx, space); err != nil {
		return err
	}
	r.drop(space)
	r.wake(Wake{ID: space}) // waiting requests find that the space is gone
	return nil
}

// Account returns the usage of a root's account.
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

// Blob returns how much of a blob is stored.
func (r *Relay) Blob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID) (Blob, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return Blob{}, err
	}
	return r.store.Blob(ctx, space, id)
}

// WriteBlob stores a chunk of a blob, as [Blobs] describes.
func (r *Relay) WriteBlob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID, size, offset int64, chunk []byte) (Blob, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
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
	if offset > 0 { // only a first chunk may begin a blob
		if _, err := r.store.Blob(ctx, space, id); errors.Is(err, ErrNotFound) {
			return Blob{Author: c.Member, Size: size}, fmt.Errorf("chunk at %d: %w, which is not here", offset, ErrOffset)
		} else if err != nil {
			return Blob{}, err
		}
	}
	return r.store.WriteBlob(ctx, space, id, c.Member, size, offset, chunk, r.config.Quota, r.config.Now())
}

// OpenBlob opens a blob that is done.
func (r *Relay) OpenBlob(ctx context.Context, c Caller, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return nil, 0, err
	}
	return r.store.OpenBlob(ctx, space, id)
}

// DeleteBlob deletes a blob. An owner may delete any blob. Its author may delete
// it while it is unfinished, but not later, because another member may have found
// it here and relied on it instead of uploading it. If at is not nil, the blob is
// deleted only if at is the cursor of the space's last delta, as [Blobs]
// describes. The caller has then read every delta that could name the blob.
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

// Post adds a message to a mailbox and returns its number.
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

// Message returns message n of a mailbox.
func (r *Relay) Message(ctx context.Context, id MailboxID, n int) ([]byte, error) {
	return r.store.Message(ctx, id, n, r.config.Now())
}

// Once records a request that must not be done twice, not even after a restart.
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

// Sweep removes what has expired.
func (r *Relay) Sweep(ctx context.Context) error { return r.store.Sweep(ctx, r.config.Now()) }

package relay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Caller is the signer of a request.
type Caller struct {
	Account AccountID
	Space   memory.SpaceID  // zero for a root that names no space
	Member  memory.MemberID // zero for a root
	Role    envelope.Role   // zero for a root
	Removed bool            // the caller was a member, and may only send what its removal accepts
	Root    bool
	Key     ed25519.PublicKey
}

// Sender is [Relay.Member] for a caller that only appends deltas. It uses the
// log as this relay last read it. That is enough if the store compares the log's
// head when it appends.
func (r *Relay) Sender(ctx context.Context, space memory.SpaceID, member memory.MemberID) (Caller, error) {
	_, trusting := r.store.(ExactAppender)
	if s, head, _ := r.known(space, trusting); s != nil {
		if m, ok := s.Member(member); ok {
			return Caller{Account: head.Account, Space: space, Member: member, Role: m.Role, Key: m.Key}, nil
		}
	}
	return r.Member(ctx, space, member)
}

// stale reports whether the log of a space differs from the state s. If so, the
// state is dropped from memory.
func (r *Relay) stale(ctx context.Context, space memory.SpaceID, s *envelope.State) bool {
	head, err := r.store.Space(ctx, space)
	if err == nil && head.LogN == s.N() && head.LogHead == s.Head() {
		return false
	}
	r.drop(space)
	return true
}

// Member returns a present or former member of a space as a caller. The request
// must be signed with the member's key. If the id never belonged to a member, or
// if there is no such space, Member returns [ErrForbidden], so that a stranger
// can't find out which spaces exist.
func (r *Relay) Member(ctx context.Context, space memory.SpaceID, member memory.MemberID) (Caller, error) {
	s, head, err := r.state(ctx, space)
	if errors.Is(err, ErrNotFound) {
		return Caller{}, ErrForbidden
	}
	if err != nil {
		return Caller{}, err
	}
	c := Caller{Account: head.Account, Space: space, Member: member}
	if m, ok := s.Member(member); ok {
		c.Role, c.Key = m.Role, m.Key
		return c, nil
	}
	if m, _, ok := s.Past(member); ok {
		c.Role, c.Key, c.Removed = m.Role, m.Key, true
		return c, nil
	}
	return Caller{}, ErrForbidden
}

// Root returns the holder of an account's root key as a caller.
func (r *Relay) Root(ctx context.Context, id AccountID) (Caller, error) {
	if _, err := r.store.Account(ctx, id); errors.Is(err, ErrNotFound) {
		return Caller{}, ErrForbidden
	} else if err != nil {
		return Caller{}, err
	}
	return Caller{Account: id, Root: true, Key: id[:]}, nil
}

// Admit counts a request of c. It refuses the request if c has used up its
// requests of this minute, or if the account has no room for size more bytes. It
// is called before the body is read.
func (r *Relay) Admit(ctx context.Context, c Caller, size int64) error {
	if err := r.paces.admit(c); err != nil {
		return err
	}
	if size == 0 || r.config.Quota.Bytes == 0 {
		return nil
	}
	a, err := r.usage(ctx, c.Account)
	if err != nil {
		return err
	}
	return r.config.Quota.Room(a, size, 0)
}

// usageFor is how long [Relay.Admit] remembers an account's usage. The store
// counts exactly when it takes what was admitted.
const usageFor = time.Second

type cachedUsage struct {
	Account
	at time.Time
}

func (r *Relay) usage(ctx context.Context, id AccountID) (Account, error) {
	now := r.config.Now()
	r.mu.Lock()
	u, ok := r.used[id]
	r.mu.Unlock()
	if d := now.Sub(u.at); ok && d >= 0 && d < usageFor {
		return u.Account, nil
	}
	a, err := r.store.Account(ctx, id)
	if err != nil {
		return a, err
	}
	a.Spaces = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.used {
		if len(r.used) < maxPaced {
			break
		}
		delete(r.used, k)
	}
	r.used[id] = cachedUsage{a, now}
	return a, nil
}

// readableSpace checks that c is a member of space now, and gives the space's head.
func (r *Relay) readableSpace(ctx context.Context, c Caller, space memory.SpaceID) (Space, error) {
	if c.Root {
		head, err := r.store.Space(ctx, space)
		if errors.Is(err, ErrNotFound) || err == nil && head.Account != c.Account {
			return Space{}, ErrForbidden
		}
		return head, err
	}
	if c.Space != space {
		return Space{}, ErrForbidden
	}
	s, head, err := r.state(ctx, space)
	if errors.Is(err, ErrNotFound) {
		return Space{}, ErrForbidden
	}
	if err != nil {
		return Space{}, err
	}
	if _, ok := s.Member(c.Member); !ok {
		return Space{}, ErrForbidden
	}
	return head, nil
}

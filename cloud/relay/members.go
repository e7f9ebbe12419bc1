package relay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Caller is who signed a request.
type Caller struct {
	Account AccountID
	Space   memory.SpaceID  // zero for a root that names none
	Member  memory.MemberID // zero for a root
	Role    envelope.Role   // zero for a root
	Removed bool            // was a member, and may only deliver what was accepted of it
	Root    bool
	Key     ed25519.PublicKey
}

// Sender is [Relay.Member] for who only appends deltas: as it was when this
// relay last looked, where the store checks the log as it appends.
func (r *Relay) Sender(ctx context.Context, space memory.SpaceID, member memory.MemberID) (Caller, error) {
	_, trusting := r.store.(Exact)
	if s, head, _ := r.known(space, trusting); s != nil {
		if m, ok := s.Member(member); ok {
			return Caller{Account: head.Account, Space: space, Member: member, Role: m.Role, Key: m.Key}, nil
		}
	}
	return r.Member(ctx, space, member)
}

// stale reports whether a space's log is no longer what a state says, which is
// dropped then.
func (r *Relay) stale(ctx context.Context, space memory.SpaceID, s *envelope.State) bool {
	head, err := r.store.Space(ctx, space)
	if err == nil && head.LogN == s.N() && head.LogHead == s.Head() {
		return false
	}
	r.drop(space)
	return true
}

// Member gives a member of a space, present or past, as a caller: its key is
// what the request must be signed with. Whoever never was one is
// [ErrForbidden], as is everyone in a space that isn't there: a stranger does
// not learn which.
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

// Root gives the holder of an account's key as a caller.
func (r *Relay) Root(ctx context.Context, id AccountID) (Caller, error) {
	if _, err := r.store.Account(ctx, id); errors.Is(err, ErrNotFound) {
		return Caller{}, ErrForbidden
	} else if err != nil {
		return Caller{}, err
	}
	return Caller{Account: id, Root: true, Key: id[:]}, nil
}

// Admit counts a request of c, and refuses it where c has none left this
// minute, or no room for size bytes more: before any of them is read.
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

// usageFor is how long what an account uses is remembered for [Relay.Admit]. The
// store counts exactly, when it takes what was let in.
const usageFor = time.Second

type used struct {
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
	r.used[id] = used{a, now}
	return a, nil
}

// Reads checks that c belongs to space now: a request that waits asks again
// after each wake-up.
func (r *Relay) Reads(ctx context.Context, c Caller, space memory.SpaceID) error {
	_, err := r.reads(ctx, c, space)
	return err
}

func (r *Relay) reads(ctx context.Context, c Caller, space memory.SpaceID) (Space, error) {
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

package relay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

const (
	maxStates = 4096 // kept in memory, each some KB
	logPage   = 64   // entries read at a time
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

// state gives what follows from a space's log as it is in the store now. The
// state is shared: nobody may append to it.
func (r *Relay) state(ctx context.Context, space memory.SpaceID) (*envelope.State, Space, error) {
	head, err := r.store.Space(ctx, space)
	if err != nil {
		return nil, Space{}, err
	}
	r.mu.Lock()
	s := r.states[space]
	r.mu.Unlock()
	if s != nil && s.N() == head.LogN && s.Head() == head.LogHead {
		return s, head, nil
	}
	if s == nil || s.N() > head.LogN { // deleted and founded anew, or another store
		s = new(envelope.State)
	}
	next, err := r.advance(ctx, space, s.Clone(), head)
	if err != nil && s.N() > 0 {
		next, err = r.advance(ctx, space, new(envelope.State), head)
	}
	if err != nil {
		return nil, Space{}, err
	}
	r.keep(space, next)
	return next, head, nil
}

// advance reads the log into s until it is at head.
func (r *Relay) advance(ctx context.Context, space memory.SpaceID, s *envelope.State, head Space) (*envelope.State, error) {
	for s.N() < head.LogN {
		page, err := r.store.Log(ctx, space, s.N(), int(min(logPage, head.LogN-s.N())))
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("log of %s: %w: entries are missing after %d", space, ErrNotFound, s.N())
		}
		for _, b := range page {
			e, err := envelope.ParseEntry(b)
			if err == nil {
				err = s.Append(e)
			}
			if err != nil {
				return nil, fmt.Errorf("stored log of %s: %v", space, err)
			}
		}
	}
	if s.Head() != head.LogHead {
		return nil, fmt.Errorf("stored log of %s does not end at its head", space)
	}
	return s, nil
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

// known gives a state that was looked at before, if there is one and it may be
// used as it is.
func (r *Relay) known(space memory.SpaceID, trusting bool) (*envelope.State, Space, error) {
	if !trusting {
		return nil, Space{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.states[space]
	if s == nil || s.N() == 0 {
		return nil, Space{}, nil
	}
	return s, Space{Account: AccountID(s.Root()), LogN: s.N(), LogHead: s.Head()}, nil
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

func (r *Relay) keep(space memory.SpaceID, s *envelope.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.states[space]; old == nil && len(r.states) >= maxStates {
		for k := range r.states {
			delete(r.states, k)
			break
		}
	}
	r.states[space] = s
}

func (r *Relay) drop(space memory.SpaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.states, space)
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
	if wait, ok := r.pace.Take(string(c.Account[:])); !ok {
		return &QuotaError{What: "requests a minute", Limit: r.config.Quota.PerMinute, Wait: wait}
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

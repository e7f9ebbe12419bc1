package relay

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

const (
	maxStates = 32 << 20 // bytes that all states take in memory; the state of a household takes a few KB
	logPage   = 64       // entries read at a time
)

// states caches what follows from the logs of spaces, as this relay last read
// them. The lock of [Relay] guards all fields.
type states struct {
	bySpace map[memory.SpaceID]*envelope.State // a state is never changed, only replaced
	weight  int                                // of all states, in bytes
	reads   map[memory.SpaceID]*reading        // readings that are running
}

// reading is one reading of a space's log, shared by all requests that wait for
// it.
type reading struct {
	done  chan struct{}
	state *envelope.State
	head  Space
	err   error
}

// state returns the state of a space's log as it is in the store now. The state
// is shared, so callers must not append to it. However many requests ask at the
// same time, the log is read once.
func (r *Relay) state(ctx context.Context, space memory.SpaceID) (*envelope.State, Space, error) {
	head, err := r.store.Space(ctx, space)
	if err != nil {
		return nil, Space{}, err
	}
	for {
		r.mu.Lock()
		s := r.states.bySpace[space]
		if s != nil && s.N() == head.LogN && s.Head() == head.LogHead {
			r.mu.Unlock()
			return s, head, nil
		}
		read := r.states.reads[space]
		if read == nil {
			read = &reading{done: make(chan struct{}), head: head}
			r.states.reads[space] = read
			r.mu.Unlock()
			r.read(context.WithoutCancel(ctx), space, s, read)
			return read.state, read.head, read.err
		}
		r.mu.Unlock()
		select {
		case <-read.done:
		case <-ctx.Done():
			return nil, Space{}, ctx.Err()
		}
		if read.err != nil || read.head.LogN >= head.LogN {
			return read.state, read.head, read.err
		}
	}
}

// read reads a log to its end, beginning with the known state.
func (r *Relay) read(ctx context.Context, space memory.SpaceID, s *envelope.State, read *reading) {
	if s == nil || s.N() > read.head.LogN { // the space was deleted and founded again, or the store was replaced
		s = new(envelope.State)
	}
	defer func() {
		r.mu.Lock()
		delete(r.states.reads, space)
		r.mu.Unlock()
		close(read.done)
	}()
	read.state, read.err = r.advance(ctx, space, s.Clone(), read.head)
	if read.err != nil && s.N() > 0 {
		read.state, read.err = r.advance(ctx, space, new(envelope.State), read.head)
	}
	if read.err == nil {
		r.cacheState(space, read.state)
	}
}

// advance appends the entries of the log to s until s is at head. It does not
// verify the entries again: they were verified when they came, and the hash in
// head proves that they are the same.
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
				err = s.AppendChecked(e)
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

// Knows reports whether this relay has read a space's log before, so that a
// request about the space needs no reading.
func (r *Relay) Knows(space memory.SpaceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states.bySpace[space] != nil
}

// known returns the cached state, if there is one and trusting is true.
func (r *Relay) known(space memory.SpaceID, trusting bool) (*envelope.State, Space, error) {
	if !trusting {
		return nil, Space{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.states.bySpace[space]
	if s == nil || s.N() == 0 {
		return nil, Space{}, nil
	}
	return s, Space{Account: AccountID(s.Root()), LogN: s.N(), LogHead: s.Head()}, nil
}

// cacheState caches a state. If all states together take too much memory, it drops
// states of the accounts with the most. They are read again when they are needed.
func (r *Relay) cacheState(space memory.SpaceID, s *envelope.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states.drop(space)
	if r.states.weight+s.Weight() > maxStates {
		r.states.makeRoom(min(maxStates/4*3, maxStates-s.Weight()))
	}
	r.states.bySpace[space] = s
	r.states.weight += s.Weight()
}

func (r *Relay) drop(space memory.SpaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states.drop(space)
}

func (s *states) drop(space memory.SpaceID) {
	if old := s.bySpace[space]; old != nil {
		s.weight -= old.Weight()
		delete(s.bySpace, space)
	}
}

// makeRoom drops states until all together take at most most bytes. It looks at
// all of them under the lock, so most has to leave room for many others before
// it is called again. An account loses something only if it has more than the
// others keep.
func (s *states) makeRoom(most int) {
	weights := map[AccountID]int{}
	for _, state := range s.bySpace {
		weights[AccountID(state.Root())] += state.Weight()
	}
	// Accounts up to a level lose nothing. The level is as high as possible.
	level, left := 0, most
	sorted := slices.Sorted(maps.Values(weights))
	for i, w := range sorted {
		level = left / (len(sorted) - i)
		if w > level {
			break
		}
		left -= w
	}
	for space, state := range s.bySpace {
		if s.weight <= most {
			return
		}
		if a := AccountID(state.Root()); weights[a] > level {
			weights[a] -= state.Weight()
			s.drop(space)
		}
	}
}

// mayGrow returns an error if the membership of a space takes more memory than
// the quota allows.
func (q Quota) mayGrow(s *envelope.State) error {
	if int64(s.Weight()) > q.Membership {
		return &QuotaError{What: "bytes of membership", Limit: q.Membership, Wait: FullWait}
	}
	return nil
}

package relay

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

const (
	maxStates = 32 << 20 // bytes that states weigh in memory; a household's is some KB
	logPage   = 64       // entries read at a time
)

// states are what follows from the logs of spaces, as this relay last read them.
// The lock of [Relay] guards all.
type states struct {
	of     map[memory.SpaceID]*envelope.State // never changed, only replaced
	weight int                                // of all
	reads  map[memory.SpaceID]*reading        // under way
}

// reading is of one space's log, for all who wait for it.
type reading struct {
	done  chan struct{}
	state *envelope.State
	head  Space
	err   error
}

// state gives what follows from a space's log as it is in the store now. The
// state is shared: nobody may append to it. However many ask, one reads.
func (r *Relay) state(ctx context.Context, space memory.SpaceID) (*envelope.State, Space, error) {
	head, err := r.store.Space(ctx, space)
	if err != nil {
		return nil, Space{}, err
	}
	for {
		r.mu.Lock()
		s := r.states.of[space]
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

// read reads a log to its head, from what is known of it.
func (r *Relay) read(ctx context.Context, space memory.SpaceID, s *envelope.State, read *reading) {
	if s == nil || s.N() > read.head.LogN { // deleted and founded anew, or another store
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
		r.keep(space, read.state)
	}
}

// advance reads the log into s until it is at head. That its entries may stand
// there was checked as they came, and the head says that they are the same.
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

// Knows reports whether a space's log was read here before: who asks about it
// costs no reading.
func (r *Relay) Knows(space memory.SpaceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states.of[space] != nil
}

// known gives a state that was looked at before, if there is one and it may be
// used as it is.
func (r *Relay) known(space memory.SpaceID, trusting bool) (*envelope.State, Space, error) {
	if !trusting {
		return nil, Space{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.states.of[space]
	if s == nil || s.N() == 0 {
		return nil, Space{}, nil
	}
	return s, Space{Account: AccountID(s.Root()), LogN: s.N(), LogHead: s.Head()}, nil
}

// keep remembers a state. Where all weigh too much, those go of which an
// account has most: they are read again when somebody asks.
func (r *Relay) keep(space memory.SpaceID, s *envelope.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states.drop(space)
	for r.states.weight+s.Weight() > maxStates && len(r.states.of) > 0 {
		r.states.dropOfHeaviest()
	}
	r.states.of[space] = s
	r.states.weight += s.Weight()
}

func (r *Relay) drop(space memory.SpaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states.drop(space)
}

func (s *states) drop(space memory.SpaceID) {
	if old := s.of[space]; old != nil {
		s.weight -= old.Weight()
		delete(s.of, space)
	}
}

// dropOfHeaviest drops a quarter of what the account has that has most.
func (s *states) dropOfHeaviest() {
	weights := map[AccountID]int{}
	heaviest, most := AccountID{}, 0
	for _, state := range s.of {
		a := AccountID(state.Root())
		if weights[a] += state.Weight(); weights[a] > most {
			heaviest, most = a, weights[a]
		}
	}
	gone := 0
	for space, state := range s.of {
		if AccountID(state.Root()) == heaviest {
			gone += state.Weight()
			s.drop(space)
		}
		if gone > most/4 {
			return
		}
	}
}

// mayGrow reports whether a space's membership may weigh what it does in s.
func (q Quota) mayGrow(s *envelope.State) error {
	if int64(s.Weight()) > q.Membership {
		return &QuotaError{What: "bytes of membership", Limit: q.Membership, Wait: FullWait}
	}
	return nil
}

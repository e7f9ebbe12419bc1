package envelope

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// State is what follows from the entries of a space's log that were appended to
// it. The zero value stands for an empty log. It is not safe for concurrent use
// while entries are appended; [State.Clone] returns an independent copy.
type State struct {
	space    memory.SpaceID
	root     ed25519.PublicKey
	recovery string
	epoch    uint32
	began    int64 // when the epoch began, s since 1970, by its author's clock
	entries  []mark
	byHash   map[Hash]uint64
	members  map[memory.MemberID]*standing
	weight   int // approximate bytes in memory
}

// mark is what the state keeps of an entry.
type mark struct {
	hash  Hash
	epoch uint32
}

// standing describes a present or former member.
type standing struct {
	Member
	since, until uint64 // numbers of the entries that added and removed it; until is 0 for a present member
	last         []Position
}

// VerifyLog returns the state after all entries. They have to begin with the
// first entry of the log.
func VerifyLog(entries []*Entry) (*State, error) {
	s := new(State)
	for _, e := range entries {
		if err := s.Append(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Append verifies the next entry and adds it. On error, s stays as it was.
// Errors: [ErrKnown] if the entry was appended before, [ErrGap] if entries before
// it are missing, a [*ForkError] if another entry has its place, [ErrSignature],
// and [ErrRule]. An entry that no member's key signed never counts as a fork.
func (s *State) Append(e *Entry) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("log entry %d: %w", e.N, err)
	}
	if e.N > s.N()+1 {
		return fmt.Errorf("log entry %d: %w: the log is at %d", e.N, ErrGap, s.N())
	}
	if s.N() > 0 && e.Space != s.space {
		return fmt.Errorf("log entry %d: %w: of another space", e.N, ErrRule)
	}
	key, err := s.authorKey(e)
	if err != nil {
		return fmt.Errorf("log entry %d: %w", e.N, err)
	}
	if err := e.Verify(key); err != nil {
		return err
	}
	hash := e.Hash()
	if e.N <= s.N() {
		if ours := s.entries[e.N-1].hash; ours != hash {
			return &ForkError{What: "log", At: e.N, Ours: ours, Theirs: hash}
		}
		return fmt.Errorf("log entry %d: %w", e.N, ErrKnown)
	}
	if e.Prev != s.Head() {
		return &ForkError{What: "log", At: s.N(), Ours: s.Head(), Theirs: e.Prev}
	}
	if err := s.rules(e); err != nil {
		return fmt.Errorf("log entry %d: %w", e.N, err)
	}
	s.apply(e, hash)
	return nil
}

// AppendChecked adds the next entry without verifying its signature and its
// author's rights. The caller must be certain that [State.Append] accepted the
// entry before, for example because it comes from this device's own log with a
// known head. AppendChecked does check that the entry follows the last one.
func (s *State) AppendChecked(e *Entry) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("log entry %d: %w", e.N, err)
	}
	if e.N != s.N()+1 || e.Prev != s.Head() || (e.Action == Found) != (e.N == 1) || s.N() > 0 && e.Space != s.space ||
		e.Removed != nil && s.members[*e.Removed] == nil {
		return fmt.Errorf("log entry %d: %w: it does not follow entry %d", e.N, ErrRule, s.N())
	}
	s.apply(e, e.Hash())
	return nil
}

// authorKey returns the key of the author of e: the root's key, which the first
// entry itself contains, or the key of a present or former member.
func (s *State) authorKey(e *Entry) (ed25519.PublicKey, error) {
	switch {
	case s.N() == 0:
		return e.Root, nil
	case e.Author == memory.MemberID{}:
		return s.root, nil
	}
	m := s.members[e.Author]
	if m == nil {
		return nil, fmt.Errorf("%w: author %s is not a member", ErrRule, e.Author)
	}
	return m.Key, nil
}

func (s *State) apply(e *Entry, hash Hash) {
	if e.Action == Found {
		s.space, s.root, s.recovery = e.Space, e.Root, e.Recovery
		s.byHash, s.members = map[Hash]uint64{}, map[memory.MemberID]*standing{}
	}
	if e.Epoch != s.epoch {
		s.epoch, s.began = e.Epoch, e.At
	}
	s.entries = append(s.entries, mark{hash: hash, epoch: e.Epoch})
	s.byHash[hash] = e.N
	s.weight += entryWeight
	if e.Member != nil {
		s.members[e.Member.ID] = &standing{Member: *e.Member, since: e.N}
		s.weight += memberWeight + len(e.Member.Recipient) + len(e.Member.Name) + len(e.Member.Grant)
	}
	if e.Removed != nil {
		m := *s.members[*e.Removed]
		m.until, m.last = e.N, e.Last
		s.weight += 16 * len(e.Last)
		s.members[*e.Removed] = &m
	}
}

// The approximate memory of an entry and of a member, in bytes, without their texts and with their
// entries in maps.
const (
	entryWeight  = 128
	memberWeight = 320
)

// Weight returns the approximate number of bytes that s takes in memory.
func (s *State) Weight() int { return s.weight }

// Clone returns an independent copy.
func (s *State) Clone() *State {
	c := *s
	c.entries = slices.Clone(s.entries)
	c.byHash, c.members = maps.Clone(s.byHash), maps.Clone(s.members)
	return &c
}

// Space returns the space, or zero before the first entry.
func (s *State) Space() memory.SpaceID { return s.space }

// Root returns the key that founded the space.
func (s *State) Root() ed25519.PublicKey { return s.root }

// Recovery returns the age recipient of the recovery phrase.
func (s *State) Recovery() string { return s.recovery }

// Epoch returns the epoch in force.
func (s *State) Epoch() uint32 { return s.epoch }

// EpochBegan returns when the epoch began, in seconds since 1970, by the clock of
// the entry's author.
func (s *State) EpochBegan() int64 { return s.began }

// N returns the number of entries.
func (s *State) N() uint64 { return uint64(len(s.entries)) }

// Head returns the hash of the last entry, or zero before the first.
func (s *State) Head() Hash {
	if len(s.entries) == 0 {
		return Hash{}
	}
	return s.entries[len(s.entries)-1].hash
}

// knows returns the number, from 1, of the entry with that hash.
func (s *State) knows(head Hash) (n uint64, ok bool) {
	n, ok = s.byHash[head]
	return n, ok
}

// Member returns a present member.
func (s *State) Member(id memory.MemberID) (Member, bool) {
	m := s.members[id]
	if m == nil || m.until != 0 {
		return Member{}, false
	}
	return m.Member, true
}

// Members returns the present members, ascending by id.
func (s *State) Members() []Member {
	var out []Member
	for _, m := range s.members {
		if m.until == 0 {
			out = append(out, m.Member)
		}
	}
	sorting.Sort(out, func(a, b Member) int { return a.ID.Compare(b.ID) })
	return out
}

// Past returns a removed member, and the last positions of it that count.
func (s *State) Past(id memory.MemberID) (m Member, last []Position, ok bool) {
	p := s.members[id]
	if p == nil || p.until == 0 {
		return Member{}, nil, false
	}
	return p.Member, slices.Clone(p.last), true
}

package envelope

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// State is what follows from a space's log, as far as it was appended. The
// zero value stands before the first entry. It is not safe for concurrent use
// while it is appended to; [State.Clone] gives a copy of its own.
type State struct {
	space    memory.SpaceID
	root     ed25519.PublicKey
	recovery string
	epoch    uint32
	began    int64 // when the epoch did, s since 1970, by its author's clock
	entries  []mark
	byHash   map[Hash]uint64
	members  map[memory.MemberID]*standing
	weight   int // bytes in memory, about
}

// mark is what is kept of an entry.
type mark struct {
	hash  Hash
	epoch uint32
}

// standing is a member's, present or past.
type standing struct {
	Member
	since, until uint64 // entries that added and removed it; 0: still there
	last         []Position
}

// VerifyLog gives the state after all entries, which are those from the first on.
func VerifyLog(entries []*Entry) (*State, error) {
	s := new(State)
	for _, e := range entries {
		if err := s.Append(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Append verifies the next entry and takes it. An error leaves s as it was:
// [ErrKnown] if it was taken already, [ErrGap] if some before it are missing,
// a [*ForkError] if another stands in its place, [ErrSignature], [ErrRule].
// Nothing is called a fork that no member's key has signed.
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

// AppendChecked takes the next entry, of which it is certain that [State.Append]
// took it before: it stands in a log of one's own, whose head is known. What is
// signed and who may is not looked at again; that it follows the last is.
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

// authorKey is the key of who signed e: the root's, which the first entry
// gives itself, or that of anyone who was ever a member.
func (s *State) authorKey(e *Entry) (ed25519.PublicKey, error) {
	switch {
	case s.N() == 0:
		return e.Root, nil
	case e.Author == memory.MemberID{}:
		return s.root, nil
	}
	m := s.members[e.Author]
	if m == nil {
		return nil, fmt.Errorf("%w: author %s is no member", ErrRule, e.Author)
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

// What an entry and a member weigh in memory beside their texts, with their
// places in maps.
const (
	entryWeight  = 128
	memberWeight = 320
)

// Weight is about how many bytes s takes in memory.
func (s *State) Weight() int { return s.weight }

// Clone is a copy that can be appended to apart.
func (s *State) Clone() *State {
	c := *s
	c.entries = slices.Clone(s.entries)
	c.byHash, c.members = maps.Clone(s.byHash), maps.Clone(s.members)
	return &c
}

// Space is zero before the first entry.
func (s *State) Space() memory.SpaceID { return s.space }

// Root is the key that founded the space.
func (s *State) Root() ed25519.PublicKey { return s.root }

// Recovery is the age recipient of the recovery phrase.
func (s *State) Recovery() string { return s.recovery }

// Epoch is the one in force.
func (s *State) Epoch() uint32 { return s.epoch }

// EpochBegan is when, in seconds since 1970, by the clock of whoever began it.
func (s *State) EpochBegan() int64 { return s.began }

// N is how many entries there are.
func (s *State) N() uint64 { return uint64(len(s.entries)) }

// Head is the hash of the last entry, zero before the first.
func (s *State) Head() Hash {
	if len(s.entries) == 0 {
		return Hash{}
	}
	return s.entries[len(s.entries)-1].hash
}

// Knows gives the number of the entry of that hash, from 1.
func (s *State) Knows(head Hash) (n uint64, ok bool) {
	n, ok = s.byHash[head]
	return n, ok
}

// Member gives a living member.
func (s *State) Member(id memory.MemberID) (Member, bool) {
	m := s.members[id]
	if m == nil || m.until != 0 {
		return Member{}, false
	}
	return m.Member, true
}

// Members gives the living ones, ascending by id.
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

// Past gives a removed member, and the last positions that are accepted of it.
func (s *State) Past(id memory.MemberID) (m Member, last []Position, ok bool) {
	p := s.members[id]
	if p == nil || p.until == 0 {
		return Member{}, nil, false
	}
	return p.Member, slices.Clone(p.last), true
}

// ByKey gives the living member with that signing key.
func (s *State) ByKey(key ed25519.PublicKey) (Member, bool) {
	for _, m := range s.members {
		if m.until == 0 && bytes.Equal(m.Key, key) {
			return m.Member, true
		}
	}
	return Member{}, false
}

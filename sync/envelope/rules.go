package envelope

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// rules checks whether the author of e may append it:
//
//   - The root may do everything. It is not a member, and no member may have
//     its key.
//   - An owner may add anyone, remove anyone who is not an owner, and begin an
//     epoch. No other member may append an entry.
//   - An id or a key that belonged to a member is never given to another one.
//   - A removal and a rotation begin the next epoch. Its key is sealed to
//     exactly the remaining members and to recovery. An addition begins no
//     epoch, and the keys so far are sealed to the new member alone.
func (s *State) rules(e *Entry) error {
	if e.Action == Found {
		if e.Epoch != 1 || e.Member.Role != Owner || bytes.Equal(e.Member.Key, e.Root) {
			return fmt.Errorf("%w: the first member has to be an owner other than the root, in epoch 1", ErrRule)
		}
		return wrapsFor(e, []memory.MemberID{{}, e.Member.ID})
	}
	if err := s.mayAppend(e); err != nil {
		return err
	}
	remaining := []memory.MemberID{{}}
	for id, m := range s.members {
		if m.until == 0 && (e.Removed == nil || *e.Removed != id) {
			remaining = append(remaining, id)
		}
	}
	if e.Action == Add {
		if e.Epoch != s.epoch {
			return fmt.Errorf("%w: an addition has to keep epoch %d", ErrRule, s.epoch)
		}
		if len(remaining) > MaxMembers {
			return fmt.Errorf("%w: %d members, at most %d", ErrRule, len(remaining), MaxMembers)
		}
		if err := s.unused(e.Member); err != nil {
			return err
		}
		return wrapsFor(e, []memory.MemberID{e.Member.ID})
	}
	if e.Epoch != s.epoch+1 {
		return fmt.Errorf("%w: %s begins epoch %d", ErrRule, e.Action, s.epoch+1)
	}
	return wrapsFor(e, remaining)
}

func (s *State) mayAppend(e *Entry) error {
	var target *standing
	if e.Action == Remove {
		target = s.members[*e.Removed]
		if target == nil || target.until != 0 {
			return fmt.Errorf("%w: %s is not a member, so it can't be removed", ErrRule, *e.Removed)
		}
	}
	if (e.Author == memory.MemberID{}) {
		return nil
	}
	author := s.members[e.Author]
	switch {
	case author.until != 0:
		return fmt.Errorf("%w: author %s was removed", ErrRule, e.Author)
	case author.Role != Owner:
		return fmt.Errorf("%w: author %s is %s", ErrRule, e.Author, author.Role)
	case target != nil && target.Role == Owner:
		return fmt.Errorf("%w: only the root removes an owner", ErrRule)
	}
	return nil
}

func (s *State) unused(m *Member) error {
	if bytes.Equal(m.Key, s.root) {
		return fmt.Errorf("%w: the root is not a member", ErrRule)
	}
	for id, old := range s.members {
		if id == m.ID || bytes.Equal(old.Key, m.Key) {
			return fmt.Errorf("%w: id or key of %s was used before", ErrRule, m.ID)
		}
	}
	return nil
}

func wrapsFor(e *Entry, want []memory.MemberID) error {
	sorting.Sort(want, memory.MemberID.Compare)
	have := make([]memory.MemberID, len(e.Wraps))
	for i, w := range e.Wraps {
		have[i] = w.To
	}
	if !slices.Equal(have, want) {
		return fmt.Errorf("%w: epoch keys for %v, want %v", ErrRule, have, want)
	}
	return nil
}

// Accepts checks a delta's header against the membership and verifies its
// signature. Errors: [ErrUnknownHead] if the log has to be read first;
// [ErrRule] if the author was not a member at the log entry that the header
// names, may not write, or uses another epoch than that entry's;
// [ErrSignature]; [ErrLate] if the signature is valid but the author was
// removed before that position, which is final.
func (s *State) Accepts(h *Header, sig []byte) error {
	fail := func(err error, why string) error {
		return fmt.Errorf("header %s of %s: %w: %s", h.Position(), h.Member, err, why)
	}
	if h.Space != s.space || s.N() == 0 {
		return fail(ErrRule, "of another space")
	}
	n, ok := s.knows(h.Head)
	if !ok {
		return fail(ErrUnknownHead, h.Head.String())
	}
	m := s.members[h.Member]
	switch {
	case m == nil || m.since > n:
		return fail(ErrRule, "its author was no member then")
	case !m.Role.Writes():
		return fail(ErrRule, "its author is "+m.Role.String())
	case h.Epoch != s.entries[n-1].epoch:
		return fail(ErrRule, fmt.Sprintf("sealed in epoch %d, not %d", h.Epoch, s.entries[n-1].epoch))
	}
	if err := h.Verify(m.Key, sig); err != nil {
		return err
	}
	switch {
	case m.until != 0 && m.until <= n:
		return fail(ErrLate, "its author was removed, and knew")
	case m.until != 0 && !withinLast(m.last, h.Position()):
		return fail(ErrLate, "its author was removed before this")
	}
	return nil
}

// CountedPosition returns the last position up to p that counts in a member's chain.
// For a present member this is p. For a removed member it is at most the last
// position that the removal accepts. Seq is 0 if nothing of the chain counts.
func (s *State) CountedPosition(member memory.MemberID, p Position) Position {
	m := s.members[member]
	if m == nil || m.until == 0 || withinLast(m.last, p) {
		return p
	}
	for _, l := range m.last {
		if l.Incarnation == p.Incarnation {
			return l
		}
	}
	return Position{Incarnation: p.Incarnation}
}

func withinLast(last []Position, p Position) bool {
	for _, l := range last {
		if l.Incarnation == p.Incarnation {
			return p.Seq <= l.Seq
		}
	}
	return false
}

package envelope

import (
	"crypto/ed25519"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// check checks an entry without knowing other entries: which fields each action has, in which
// order, and their limits.
func (e *Entry) check() error {
	switch {
	case e.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrForm, e.Version, Version)
	case e.Space.IsZero():
		return fmt.Errorf("%w: space: none", ErrForm)
	case e.N == 0 || (e.N == 1) != e.Prev.IsZero():
		return fmt.Errorf("%w: n starts at 1, prev is zeros there and nowhere else", ErrForm)
	case (e.N == 1) != (e.Action == Found):
		return fmt.Errorf("%w: only the first entry may found the space, and it has to", ErrForm)
	case e.Epoch == 0:
		return fmt.Errorf("%w: epoch: starts at 1", ErrForm)
	}
	found := e.Action == Found
	if (e.Root != nil) != found || (e.Recovery != "") != found {
		return fmt.Errorf("%w: root and recovery: in the first entry only", ErrForm)
	}
	if found && (len(e.Root) != ed25519.PublicKeySize || len(e.Recovery) > MaxRecipient || e.Author != memory.MemberID{}) {
		return fmt.Errorf("%w: root, recovery or author of the first entry", ErrForm)
	}
	if (e.Member != nil) != (found || e.Action == Add) || (e.Removed != nil) != (e.Action == Remove) {
		return fmt.Errorf("%w: %s: member or removed is missing, or must be left out", ErrForm, e.Action)
	}
	switch e.Action {
	case Found, Add:
		if err := e.Member.check(); err != nil {
			return err
		}
	case Remove, Rekey:
	default:
		return fmt.Errorf("%w: %s", ErrForm, e.Action)
	}
	return e.checkLists()
}

func (e *Entry) checkLists() error {
	if len(e.Last) > MaxIncarnations || len(e.Last) > 0 && e.Action != Remove {
		return fmt.Errorf("%w: last: %d positions in %s", ErrForm, len(e.Last), e.Action)
	}
	for i, p := range e.Last {
		if p.Seq == 0 || i > 0 && e.Last[i-1].Incarnation >= p.Incarnation {
			return fmt.Errorf("%w: last[%d]: seq 0, or not ascending", ErrForm, i)
		}
	}
	if len(e.Wraps) == 0 || len(e.Wraps) > MaxMembers+1 {
		return fmt.Errorf("%w: %d wraps", ErrForm, len(e.Wraps))
	}
	most := MaxWrap
	if e.Action == Add && len(e.Wraps) == 1 {
		most = MaxHistory
	}
	for i, w := range e.Wraps {
		if len(w.Keys) == 0 || len(w.Keys) > most {
			return fmt.Errorf("%w: wraps[%d]: %d bytes", ErrForm, i, len(w.Keys))
		}
		if i > 0 && e.Wraps[i-1].To.Compare(w.To) >= 0 {
			return fmt.Errorf("%w: wraps[%d]: not ascending", ErrForm, i)
		}
	}
	return nil
}

func (m *Member) check() error {
	switch {
	case m.ID == memory.MemberID{}:
		return fmt.Errorf("%w: member.id: none", ErrForm)
	case len(m.Key) != ed25519.PublicKeySize:
		return fmt.Errorf("%w: member.key: %d bytes", ErrForm, len(m.Key))
	case m.Recipient == "" || len(m.Recipient) > MaxRecipient:
		return fmt.Errorf("%w: member.recipient: %d bytes", ErrForm, len(m.Recipient))
	case m.Role < Owner || m.Role > Reader:
		return fmt.Errorf("%w: member.role: %d", ErrForm, m.Role)
	case len(m.Name) > MaxSealedName:
		return fmt.Errorf("%w: member.name: %d bytes", ErrForm, len(m.Name))
	case len(m.Grant) > MaxGrant:
		return fmt.Errorf("%w: member.grant: %d bytes", ErrForm, len(m.Grant))
	}
	return nil
}

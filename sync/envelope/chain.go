package envelope

import "fmt"

// Link is the last header that was taken of one incarnation. The zero value
// stands before the first.
type Link struct {
	Seq  uint64 `json:"seq"`
	Hash Hash   `json:"hash"`
}

// Check reports whether h comes next: nil if so, [ErrKnown] if it is the last
// one again, [ErrGap] if some before it are missing, [ErrRule] if it is older
// than the last (compare it with what is stored), a [*ForkError] if its author
// signed something else at that place.
func (l Link) Check(h *Header) error {
	switch {
	case h.Seq == l.Seq && h.Hash() == l.Hash:
		return fmt.Errorf("header %s of %s: %w", h.Position(), h.Member, ErrKnown)
	case h.Seq == l.Seq:
		return &ForkError{What: "member " + h.Member.String(), At: h.Seq, Ours: l.Hash, Theirs: h.Hash()}
	case h.Seq < l.Seq:
		return fmt.Errorf("header %s of %s: %w: the chain is at %d", h.Position(), h.Member, ErrRule, l.Seq)
	case h.Seq > l.Seq+1:
		return fmt.Errorf("header %s of %s: %w: the chain is at %d", h.Position(), h.Member, ErrGap, l.Seq)
	case h.Prev != l.Hash:
		return &ForkError{What: "member " + h.Member.String(), At: l.Seq, Ours: l.Hash, Theirs: h.Prev}
	}
	return nil
}

// Next is the link after h.
func (h *Header) Next() Link { return Link{Seq: h.Seq, Hash: h.Hash()} }

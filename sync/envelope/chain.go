package envelope

import "fmt"

// Link is the position of the last header that was taken of an incarnation.
// The zero value stands for none.
type Link struct {
	Seq  uint64 `json:"seq"`
	Hash Hash   `json:"hash"`
}

// Check reports whether h is the next header of the chain. It returns nil if
// it is, [ErrKnown] if h is the last header again, [ErrGap] if headers before
// it are missing, [ErrRule] if h is older than the last header (the caller has
// to compare it with the stored one), and a [*ForkError] if the author signed
// another header at that place.
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

// Next returns the link after h was taken.
func (h *Header) Next() Link { return Link{Seq: h.Seq, Hash: h.Hash()} }

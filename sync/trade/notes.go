package trade

import "fmt"

// Review is what a buyer writes about an order that has ended. Each order can have one.
type Review struct {
	Version uint   `cbor:"1,keyasint"`
	Order   Hash   `cbor:"2,keyasint"`
	Last    Hash   `cbor:"3,keyasint"` // hash of the order's last step: the receipt
	Stars   uint8  `cbor:"4,keyasint"` // 1 to 5
	Text    string `cbor:"5,keyasint"`
	At      int64  `cbor:"6,keyasint"`
}

// SignReview returns the signed form, and its hash.
func SignReview(r Review, buyer Party) ([]byte, Hash, error) {
	r.Version = Version
	if err := r.check(); err != nil {
		return nil, Hash{}, err
	}
	return signBody(domainReview, &r, buyer)
}

// ReadReview parses a review, checks signature and form, and returns its signer.
func ReadReview(b []byte) (r Review, by Key, hash Hash, err error) {
	if by, hash, err = read(domainReview, b, &r, MaxNote); err != nil {
		return r, by, hash, fmt.Errorf("review: %w", err)
	}
	return r, by, hash, r.check()
}

func (r *Review) check() error {
	if r.Version != Version || r.Stars < 1 || r.Stars > 5 {
		return fmt.Errorf("review: stars: %w: %d, want 1 to 5", ErrForm, r.Stars)
	}
	if err := Text(r.Text, 0, 1000, true); err != nil {
		return fmt.Errorf("review: text: %w", err)
	}
	return nil
}

// CheckReview checks that a review by this key is of this order.
func (s *State) CheckReview(r *Review, by Key) error {
	switch {
	case by != s.Order.Buyer:
		return fmt.Errorf("review: %w", ErrParty)
	case !s.Reviewable() || r.Order != s.ID || r.Last != s.Last:
		return fmt.Errorf("review: %w: it needs the receipt of an order that has ended with a key", ErrPhase)
	}
	return nil
}

// Notice ends a listing, or complains about it.
type Notice struct {
	Version uint   `cbor:"1,keyasint"`
	Listing Hash   `cbor:"2,keyasint"` // id of the listing
	Reason  string `cbor:"3,keyasint"`
	At      int64  `cbor:"4,keyasint"`
}

// Kind is the kind of a notice, which is signed by the seller, the market, or anybody.
type Kind string

// The kinds.
const (
	Withdrawal Kind = domainWithdrawal
	Takedown   Kind = domainTakedown
	Report     Kind = domainReport
)

// SignNotice returns the signed form, and its hash.
func SignNotice(k Kind, n Notice, by Party) ([]byte, Hash, error) {
	n.Version = Version
	if err := n.check(k); err != nil {
		return nil, Hash{}, err
	}
	return signBody(string(k), &n, by)
}

// ReadNotice parses a notice, checks signature and form, and returns its signer.
func ReadNotice(k Kind, b []byte) (n Notice, by Key, hash Hash, err error) {
	if by, hash, err = read(string(k), b, &n, MaxNote); err != nil {
		return n, by, hash, fmt.Errorf("notice: %w", err)
	}
	return n, by, hash, n.check(k)
}

func (n *Notice) check(k Kind) error {
	least := 3
	if k == Withdrawal {
		least = 0
	}
	if n.Version != Version || n.Listing.IsZero() {
		return fmt.Errorf("notice: %w: version and listing are needed", ErrForm)
	}
	if err := Text(n.Reason, least, 1000, true); err != nil {
		return fmt.Errorf("notice: reason: %w", err)
	}
	return nil
}

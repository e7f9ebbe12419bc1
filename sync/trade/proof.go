package trade

import "fmt"

// Proof shows who wrote a review, and that the market's log has it. The buyer signed the order and
// the seller the delivery: together they are the part of the receipt that the market does not sign,
// and they have no secrets. That the order was paid is only the market's claim: the market can
// itself be the buyer, at no cost. The later steps have what buyer, seller and arbiter wrote to
// each other, and stay private.
//
// For a deleted review, only Said is set: the log's entry of kind "deleted" or, until that is
// published, of kind "reviewed".
type Proof struct {
	Order    []byte `cbor:"1,keyasint,omitempty"` // signed by the buyer
	Delivery []byte `cbor:"2,keyasint,omitempty"` // the seller's signed step
	Receipt  Logged `cbor:"3,keyasint"`           // the log's entry of the receipt
	Said     Logged `cbor:"4,keyasint"`           // the log's entry of the review
}

// Logged is an entry of the market's log, with the proof that it is in the log. If it has no entry,
// the published log does not have it.
type Logged struct {
	At    int64  `cbor:"1,keyasint,omitempty"` // its index
	Entry []byte `cbor:"2,keyasint,omitempty"`
	Path  []byte `cbor:"3,keyasint,omitempty"` // the hashes of a proof of inclusion, 32 bytes each
}

// Check reports whether a review that by signed is of an order that by signed and whose key the
// seller delivered. version returns a signed version of the listing by its hash, or nil if the
// listing has no such version.
func (p *Proof) Check(r *Review, by Key, version func(Hash) *Offer) error {
	o, id, err := ReadOrder(p.Order)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	l := version(o.Listing)
	switch {
	case id != r.Order:
		return fmt.Errorf("review: order: %w: it is of another order", ErrChain)
	case l == nil:
		return fmt.Errorf("review: order: %w: it is of another listing", ErrChain)
	case o.Buyer != by:
		return fmt.Errorf("review: %w: it is not signed by the buyer", ErrParty)
	}
	if err := o.fits(l); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	t, err := ReadStep(p.Delivery)
	switch {
	case err != nil:
		return fmt.Errorf("review: %w", err)
	case t.Act != Deliver || t.Order != id || t.By != l.Seller:
		return fmt.Errorf("review: delivery: %w: it is not the seller's, of this order", ErrParty)
	case r.Last == id || r.Last == t.Hash:
		return fmt.Errorf("review: %w: the order had not ended", ErrPhase)
	}
	return nil
}

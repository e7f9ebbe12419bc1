package trade

import "fmt"

// Proof shows whose a review is, and that the market's log has it. The order is the
// buyer's word and the delivery the seller's: together they are the part of the receipt
// that the market does not sign, and nothing in them is secret. That the order was paid is the
// market's word: it can be a buyer itself, for nothing. The steps behind them have
// what buyer, seller and arbiter wrote to each other, and stay theirs.
//
// Of a review that was deleted Said alone is there: of the log's kind "deleted" or, until
// that is published, of its kind "reviewed".
type Proof struct {
	Order    []byte `cbor:"1,keyasint,omitempty"` // signed by the buyer
	Delivery []byte `cbor:"2,keyasint,omitempty"` // the seller's signed step
	Receipt  Logged `cbor:"3,keyasint"`           // the log's entry of the receipt
	Said     Logged `cbor:"4,keyasint"`           // the log's entry of the review
}

// Logged is an entry of the market's log, with what shows that it stands there. Without
// an entry, the log that was published does not have it.
type Logged struct {
	At    int64  `cbor:"1,keyasint,omitempty"` // its place
	Entry []byte `cbor:"2,keyasint,omitempty"`
	Path  []byte `cbor:"3,keyasint,omitempty"` // 32 bytes each: hashes of a proof of inclusion
}

// Check reports whether a review, which by signed, is of an order that by signed and
// whose key the seller delivered. version gives a signed version of the listing by its
// hash; nil: the listing has no such version.
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
	if err := o.Fits(l); err != nil {
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

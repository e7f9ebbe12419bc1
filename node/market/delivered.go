package market

import (
	"fmt"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/trade"
)

// deliveredMeta is followed by half of a bundle's commitment, a space and the id of an order that
// this home delivered, but whose chain it has no room to store: these records are needed to trace a
// copy. FORMAT: canonical CBOR array of the buyer's key.
const deliveredMeta = "market delivered "

// maxDelivered is how many such orders of one bundle are recorded. A market can invent orders, and
// this home delivers whatever a market says is paid.
const maxDelivered = 10_000

type deliveredSale struct {
	_     struct{} `cbor:",toarray"`
	Buyer trade.Key
}

// deliveredOfBundle returns the beginning of the names of a bundle's records. A name has room only
// for half of the commitment.
func deliveredOfBundle(commitment trade.Hash) string {
	return deliveredMeta + commitment.String()[:32] + " "
}

func deliveredName(commitment, order trade.Hash) string {
	return deliveredOfBundle(commitment) + order.String()
}

// noteDelivered records an order whose chain is not stored, if copies of it can be traced.
func noteDelivered(tx *store.Tx, st *trade.State) error {
	if len(st.Wrapped) == 0 || st.Offer.Marks == 0 {
		return nil
	}
	name, n := deliveredName(st.Offer.Commitment, st.ID), 0
	for have, err := range tx.MetaNames(deliveredOfBundle(st.Offer.Commitment)) {
		if err != nil {
			return err
		}
		if n++; have == name || n == maxDelivered {
			return nil
		}
	}
	return tx.PutMeta(name, trade.Encode(deliveredSale{Buyer: st.Order.Buyer}))
}

// deliveredOf calls f with each order of a bundle that is recorded.
func deliveredOf(tx *store.Tx, commitment trade.Hash, f func(order trade.Hash, buyer trade.Key)) error {
	prefix := deliveredOfBundle(commitment)
	for name, err := range tx.MetaNames(prefix) {
		if err != nil {
			return err
		}
		var b []byte
		if _, err := tx.Meta(name, &b); err != nil {
			return err
		}
		var d deliveredSale
		var order trade.Hash
		if err := trade.Decode(b, &d, 256); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := order.UnmarshalText([]byte(name[len(prefix):])); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f(order, d.Buyer)
	}
	return nil
}

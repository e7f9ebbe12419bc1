package bundle

import (
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Evidence is what a buyer shows to the arbiter, whose decision is based only on it. For an answer
// it is the seed of the order's identity, which opens question and answer. For a bundle it is one
// of three:
//
//   - An item, with its index, path and key. The arbiter learns only this item.
//   - The seed of the order's identity, if the delivered key is wrong. It opens
//     what the seller wrapped for this order, and nothing else.
//   - Both, without the item's key, if the delivered key is the listed one and
//     does not open the item. Then the arbiter has the bundle's key.
type Evidence struct {
	Version uint         `cbor:"1,keyasint"`
	Order   trade.Hash   `cbor:"2,keyasint"`
	Place   int          `cbor:"3,keyasint"`
	Item    []byte       `cbor:"4,keyasint"`
	Path    []trade.Hash `cbor:"5,keyasint"`
	Key     []byte       `cbor:"6,keyasint"` // key of the item; in a marked bundle followed by the keys of the buyer's forms
	Seed    []byte       `cbor:"7,keyasint"` // of the order's identity
}

// ShowItem makes the evidence of one item, sealed to the arbiter.
func ShowItem(s *trade.State, k *Keys, items [][]byte, place int, arbiter string) ([]byte, error) {
	if place < 0 || place >= len(items) {
		return nil, fmt.Errorf("item %d: %w: the bundle has %d", place+1, trade.ErrForm, len(items))
	}
	path, err := trade.Path(items, place)
	if err != nil {
		return nil, err
	}
	return show(Evidence{Order: s.ID, Place: place, Item: items[place], Path: path, Key: k.ofItem(place)}, arbiter)
}

// ShowKey makes the evidence that the delivered key is wrong, or of a question and its answer,
// sealed to the arbiter.
func ShowKey(s *trade.State, id *seal.Identity, arbiter string) ([]byte, error) {
	return show(Evidence{Order: s.ID, Seed: id.Seed().Bytes()}, arbiter)
}

// ShowSealed makes the evidence that the listed key does not open an item, sealed to the arbiter,
// who learns the bundle's key from it.
func ShowSealed(s *trade.State, id *seal.Identity, items [][]byte, place int, arbiter string) ([]byte, error) {
	path, err := trade.Path(items, place)
	if err != nil {
		return nil, err
	}
	return show(Evidence{Order: s.ID, Place: place, Item: items[place], Path: path, Seed: id.Seed().Bytes()}, arbiter)
}

func show(e Evidence, arbiter string) ([]byte, error) {
	r, err := seal.ParseRecipient(arbiter)
	if err != nil {
		return nil, fmt.Errorf("arbiter: %w: %v", trade.ErrForm, err)
	}
	e.Version = trade.Version
	b := trade.Encode(&e)
	defer clear(b)
	return seal.SealTo(r, b)
}

// Finding is what the evidence proves. The arbiter has to read whether an item is what the listing
// describes.
type Finding struct {
	Place  int               `json:"place"`            // index of the item, from 0
	Item   *memory.Candidate `json:"item,omitempty"`   // as the buyer got it
	Broken string            `json:"broken,omitempty"` // what is certainly not as listed; empty: nothing
	Reply  *Reply            `json:"reply,omitempty"`  // of an answer: the arbiter has to read whether it answers the question
}

// Judge checks the evidence of a disputed order. It needs only the chain, and open to unseal the
// evidence as the arbiter. An error means that the evidence proves nothing: it does not belong to
// the order.
func Judge(s *trade.State, open func(sealed []byte) ([]byte, error)) (f Finding, err error) {
	b, err := open(s.Evidence)
	if err != nil {
		return f, fmt.Errorf("evidence: it is not sealed to this key: %w", err)
	}
	defer clear(b)
	var e Evidence
	if err := trade.Decode(b, &e, trade.MaxEvidence); err != nil {
		return f, fmt.Errorf("evidence: %w", err)
	}
	if e.Version != trade.Version || e.Order != s.ID {
		return f, fmt.Errorf("evidence: %w: it is of another order", trade.ErrForm)
	}
	f.Place = e.Place
	if len(e.Seed) > 0 {
		return judgeKey(s, &e)
	}
	if s.Order.Question != nil {
		return f, fmt.Errorf("evidence: %w: an answer is shown by the seed of its order", trade.ErrForm)
	}
	if err := trade.CheckPath(s.Offer.Root, int(s.Offer.Items), e.Place, e.Item, e.Path); err != nil {
		return f, fmt.Errorf("evidence: %w", err)
	}
	m, err := openWith(&s.Offer.Listing, e.Key, e.Item)
	switch {
	case errors.Is(err, ErrKey): // it may be the buyer's fault or the seller's; only the wrapped key shows it
		return f, fmt.Errorf("evidence: the shown key is not the item's: %w", err)
	case err != nil:
		f.Broken = err.Error()
	case s.Offer.Counts[string(m.Type)] == 0:
		f.Item, f.Broken = &m, fmt.Sprintf("it is of type %s, of which none was listed", m.Type)
	default:
		f.Item = &m
	}
	return f, nil
}

// judgeKey opens what the seller wrapped, as the buyer would.
func judgeKey(s *trade.State, e *Evidence) (f Finding, err error) {
	seed, err := seal.KeyFromBytes(e.Seed)
	if err != nil {
		return f, fmt.Errorf("evidence: seed: %w", err)
	}
	id := seal.IdentityFromSeed(seed)
	defer id.Zero()
	if id.Recipient().String() != s.Order.Recipient {
		return f, fmt.Errorf("evidence: %w: the seed is not of the order's recipient", trade.ErrForm)
	}
	if s.Order.Question != nil {
		r, err := OpenReply(id, s)
		if err != nil {
			f.Broken = err.Error()
			return f, nil
		}
		f.Reply = &r
		return f, nil
	}
	k, err := Unwrap(id, s)
	if err != nil {
		f.Broken = err.Error()
		return f, nil
	}
	defer k.Zero()
	if len(e.Item) == 0 {
		return f, fmt.Errorf("evidence: the delivered key is the listed one")
	}
	f.Place = e.Place
	if err := trade.CheckPath(s.Offer.Root, int(s.Offer.Items), e.Place, e.Item, e.Path); err != nil {
		return f, fmt.Errorf("evidence: %w", err)
	}
	if _, err := k.OpenItem(&s.Offer.Listing, e.Place, e.Item); err != nil {
		f.Broken = err.Error()
		return f, nil
	}
	return f, fmt.Errorf("evidence: the listed key opens the item")
}

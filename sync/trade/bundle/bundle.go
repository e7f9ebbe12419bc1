// Package bundle seals and opens what is traded. A market never imports it.
//
// The words:
//
//   - An item is one memory as a buyer gets it, as JSON of a [memory.Candidate].
//   - The bundle's key is a secret of the seller. Each item has a key that is derived
//     from it, so that one item can be shown without the others.
//   - A marked bundle has two forms at each spot of its items (package mark), and a buyer
//     gets the key of one of them.
//   - A commitment is a hash that identifies a key. Each sealed item begins with
//     the commitment of its key, and the listing has that of the bundle's key, so a
//     wrong key can be distinguished from a buyer's lie.
package bundle

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Callers can distinguish these errors.
var (
	// ErrKey: the delivered key is not the listed one.
	ErrKey = errors.New("the delivered key is not the listed one")
	// ErrItem: an item can't be opened with its key, or is not a memory.
	ErrItem = errors.New("item is not what was listed")
	// ErrReply: what was delivered does not answer the question of the order.
	ErrReply = errors.New("the answer is not what was ordered")
)

// FORMAT of a sealed item:
//
//	32 bytes  commitment of the item's key
//	rest      XChaCha20-Poly1305 (crypto/seal) under the item's key, with the
//	          commitment as associated data: u32 big-endian length of the JSON,
//	          the JSON, zeros up to length.Padded
const commitment = sha256.Size

// Commitment returns the hash that identifies a key.
func Commitment(k *seal.Key) trade.Hash {
	d := k.Derive("market commitment")
	defer d.Zero()
	b := d.Bytes()
	defer clear(b)
	return sha256.Sum256(b)
}

// ItemKey returns the key of the item at index i.
func ItemKey(k *seal.Key, i int) *seal.Key { return k.Derive(fmt.Sprintf("market item %d", i)) }

// Seal makes the sealed items of a bundle.
func Seal(k *seal.Key, ms []memory.Candidate) ([][]byte, error) {
	out := make([][]byte, len(ms))
	for i := range ms {
		b, err := json.Marshal(&ms[i])
		if err != nil {
			return nil, fmt.Errorf("seal item %d: %w", i, err)
		}
		out[i] = sealItem(k, i, b)
	}
	return out, nil
}

func sealItem(k *seal.Key, i int, b []byte) []byte {
	key := ItemKey(k, i)
	defer key.Zero()
	c := Commitment(key)
	return key.Seal(c[:], padded(b), c[:])
}

// padded returns b, preceded by its length and followed by zeros up to length.Padded.
func padded(b []byte) []byte {
	plain := make([]byte, length.Padded(int64(4+len(b))))
	binary.BigEndian.PutUint32(plain, uint32(len(b)))
	copy(plain[4:], b)
	return plain
}

// unpadded returns the original bytes, or nil if there are none.
func unpadded(plain []byte) []byte {
	if len(plain) < 4 || uint64(binary.BigEndian.Uint32(plain)) > uint64(len(plain)-4) {
		return nil
	}
	return plain[4 : 4+binary.BigEndian.Uint32(plain)]
}

// openJSON opens a sealed item with its key.
func openJSON(key *seal.Key, item []byte) ([]byte, error) {
	c := Commitment(key)
	if len(item) < commitment || subtle.ConstantTimeCompare(c[:], item[:commitment]) != 1 {
		return nil, ErrKey
	}
	plain, err := key.Open(nil, item[commitment:], c[:])
	if err != nil {
		return nil, fmt.Errorf("%w: its seal does not open", ErrItem)
	}
	text := unpadded(plain)
	if len(text) == 0 {
		return nil, fmt.Errorf("%w: it has no length", ErrItem)
	}
	return text, nil
}

// OpenItem opens one sealed item with its own key. The items of a marked bundle need
// [Keys.OpenItem].
func OpenItem(key *seal.Key, item []byte) (m memory.Candidate, err error) {
	text, err := openJSON(key, item)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%w: %v", ErrItem, err)
	}
	return m, checked(&m, nil)
}

// checked returns err, or an error if what was opened is not a memory.
func checked(m *memory.Candidate, err error) error {
	if err == nil {
		if err = m.Validate(); err != nil {
			err = fmt.Errorf("%w: %v", ErrItem, err)
		}
	}
	return err
}

// Open checks the items against the listing, and opens all of them. The error names the first item
// that is wrong, with [ErrItem], or is [ErrKey] or trade.ErrRoot.
func Open(l *trade.Listing, k *Keys, items [][]byte) ([]memory.Candidate, error) {
	if err := trade.CheckItems(l, items); err != nil {
		return nil, err
	}
	if Commitment(k.Bundle) != l.Commitment || l.Marks > 0 && len(k.Forms) != len(items) {
		return nil, ErrKey
	}
	out := make([]memory.Candidate, len(items))
	counts := map[string]uint32{}
	for i, item := range items {
		m, err := k.OpenItem(l, i, item)
		if errors.Is(err, ErrKey) {
			err = fmt.Errorf("%w: it is sealed with another key than the bundle's", ErrItem)
		}
		if err != nil {
			return nil, &BadItem{Place: i, Err: err}
		}
		out[i] = m
		counts[string(m.Type)]++
	}
	for t, n := range l.Counts {
		if counts[t] != n {
			return out, fmt.Errorf("%w: %d of type %s were listed, and %d came", ErrItem, n, t, counts[t])
		}
	}
	return out, nil
}

// BadItem names an item that is wrong.
type BadItem struct {
	Place int
	Err   error
}

// Error names the item, counted from 1.
func (b *BadItem) Error() string { return fmt.Sprintf("item %d: %v", b.Place+1, b.Err) }

// Unwrap returns what is wrong with it.
func (b *BadItem) Unwrap() error { return b.Err }

// Wrap seals the bundle's key to the recipient of an order. For a marked bundle, [WrapMarked] is
// used.
func Wrap(k *seal.Key, recipient string, order trade.Hash) ([]byte, error) {
	r, err := seal.ParseRecipient(recipient)
	if err != nil {
		return nil, fmt.Errorf("order's recipient: %w: %v", trade.ErrForm, err)
	}
	b := append(k.Bytes(), order[:]...)
	defer clear(b)
	return seal.SealTo(r, b)
}

// Unwrap opens what Wrap or WrapMarked sealed, and checks the key against the listing: [ErrKey].
func Unwrap(id *seal.Identity, s *trade.State) (*Keys, error) {
	b, err := seal.OpenWith(id, s.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: it does not open", ErrKey)
	}
	defer clear(b)
	w, err := readWrapped(&s.Offer.Listing, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrKey, err)
	}
	k := &Keys{Forms: w.Forms}
	if k.Bundle, err = seal.KeyFromBytes(w.Key); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrKey, err)
	}
	clear(w.Key)
	switch {
	case w.Order != s.ID:
		err = fmt.Errorf("%w: it was made for another order", ErrKey)
	case Commitment(k.Bundle) != s.Offer.Commitment:
		err = ErrKey
	}
	if err != nil {
		k.Zero()
		return nil, err
	}
	return k, nil
}

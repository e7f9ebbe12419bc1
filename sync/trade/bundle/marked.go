package bundle

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/mark"
)

// A marked bundle is sealed once, so that all buyers check it against one root. At each of its
// spots, both forms are sealed, each under a key of its own, and a buyer gets the key of one of the
// two. Which one follows from the order and the marking key, which never leaves the seller.

// Marked is an item as a buyer gets it, except its spots: Text.Rest is the item's text.
type Marked struct {
	Item  memory.Candidate
	Spots []mark.Spot
}

// FORMAT of the JSON in a sealed item of a marked bundle: "item" is a [memory.Candidate] whose text
// lacks the forms at its spots. Each spot has its offset in that text, in bytes, and its sealed
// forms.
//
// A sealed form has the commitment of its key (32 bytes) and XChaCha20-Poly1305
// (crypto/seal) under that key, with the commitment as associated data: u8 length of the
// form, the form, zeros up to 32 bytes.
type markedItem struct {
	Item  memory.Candidate `json:"item"`
	Spots []sealedSpot     `json:"spots"`
}

type sealedSpot struct {
	At    int       `json:"at"`
	Forms [2][]byte `json:"forms"`
}

const formSize = mark.MaxForm + 1

// formKey returns the key of a form.
func formKey(marking *seal.Key, item, spot, form int) *seal.Key {
	return marking.Derive(fmt.Sprintf("market form %d %d %d", item, spot, form))
}

// Bit returns which form the copy of an order has at a spot.
func Bit(marking *seal.Key, order trade.Hash, item, spot int) int {
	sum := marking.MAC("market mark", order[:], fmt.Appendf(nil, "%d %d", item, spot))
	return int(sum[0] & 1)
}

// SealMarked makes the items of a marked bundle. marking must differ from k, and is given to
// nobody.
func SealMarked(k, marking *seal.Key, ms []Marked) ([][]byte, error) {
	out := make([][]byte, len(ms))
	for i := range ms {
		it := markedItem{Item: ms[i].Item}
		for j, s := range ms[i].Spots {
			to := sealedSpot{At: s.At}
			for v, form := range s.Forms {
				if len(form) > mark.MaxForm {
					return nil, fmt.Errorf("seal item %d: %w: a form of %d bytes", i, trade.ErrForm, len(form))
				}
				plain := make([]byte, formSize)
				plain[0] = byte(len(form))
				copy(plain[1:], form)
				key := formKey(marking, i, j, v)
				c := Commitment(key)
				to.Forms[v] = key.Seal(c[:], plain, c[:])
				key.Zero()
			}
			it.Spots = append(it.Spots, to)
		}
		b, err := json.Marshal(&it)
		if err != nil {
			return nil, fmt.Errorf("seal item %d: %w", i, err)
		}
		out[i] = sealItem(k, i, b)
	}
	return out, nil
}

// openMarked opens an item of a marked bundle with the keys of its forms, 32 bytes each.
func openMarked(text, forms []byte) (m memory.Candidate, err error) {
	var it markedItem
	if err := json.Unmarshal(text, &it); err != nil {
		return m, fmt.Errorf("%w: %v", ErrItem, err)
	}
	if len(forms) != len(it.Spots)*seal.KeySize {
		return m, fmt.Errorf("%w: %d bytes of keys for %d spots", ErrKey, len(forms), len(it.Spots))
	}
	spots := make([]mark.Spot, len(it.Spots))
	for j, s := range it.Spots {
		key, err := seal.KeyFromBytes(forms[j*seal.KeySize : (j+1)*seal.KeySize])
		if err != nil {
			return m, fmt.Errorf("%w: %v", ErrKey, err)
		}
		spots[j].At = s.At
		spots[j].Forms[0], err = openForm(key, s.Forms)
		key.Zero()
		if err != nil {
			return m, fmt.Errorf("spot %d: %w", j+1, err)
		}
	}
	if m = it.Item; !inOrder(m.Text, spots) {
		return m, fmt.Errorf("%w: its spots are not within its text", ErrItem)
	}
	whole := mark.Text{Rest: m.Text, Spots: spots}
	m.Text = whole.WithForms(func(int) int { return 0 })
	return m, nil
}

func inOrder(text string, spots []mark.Spot) bool {
	from := 0
	for _, s := range spots {
		if s.At < from || s.At > len(text) {
			return false
		}
		from = s.At
	}
	return true
}

// openForm opens the one of two forms that is sealed under a key.
func openForm(key *seal.Key, forms [2][]byte) (string, error) {
	c := Commitment(key)
	for _, sealed := range forms {
		if len(sealed) < commitment || subtle.ConstantTimeCompare(c[:], sealed[:commitment]) != 1 {
			continue
		}
		plain, err := key.Open(nil, sealed[commitment:], c[:])
		if err != nil || len(plain) != formSize || plain[0] > mark.MaxForm {
			return "", fmt.Errorf("%w: one of its two forms can't be decrypted", ErrItem)
		}
		return string(plain[1 : 1+plain[0]]), nil
	}
	return "", fmt.Errorf("%w: the key decrypts neither of the two forms", ErrKey)
}

// Forms opens all forms of a marked bundle, as its seller can. They are needed to read a text that
// somebody passed on. of has the items, whose texts lack the forms.
func Forms(k, marking *seal.Key, items [][]byte) (out []mark.Text, of []memory.Candidate, err error) {
	for i, item := range items {
		key := ItemKey(k, i)
		text, err := openJSON(key, item)
		key.Zero()
		var it markedItem
		if err == nil {
			err = json.Unmarshal(text, &it)
		}
		if err != nil {
			return nil, nil, &BadItem{Place: i, Err: err}
		}
		t := mark.Text{Rest: it.Item.Text}
		for j, s := range it.Spots {
			spot := mark.Spot{At: s.At}
			for v := range spot.Forms {
				key := formKey(marking, i, j, v)
				spot.Forms[v], err = openForm(key, s.Forms)
				key.Zero()
				if err != nil {
					return nil, nil, &BadItem{Place: i, Err: err}
				}
			}
			t.Spots = append(t.Spots, spot)
		}
		if !inOrder(t.Rest, t.Spots) {
			return nil, nil, &BadItem{Place: i, Err: ErrItem}
		}
		out, of = append(out, t), append(of, it.Item)
	}
	return out, of, nil
}

// Keys are the keys that a buyer gets: the bundle's key and, in a marked bundle, the keys of one
// form at each spot. They are not safe for concurrent use with [Keys.Zero].
type Keys struct {
	Bundle *seal.Key
	Forms  [][]byte // of each item, 32 bytes for each of its spots; nil: the bundle has no marks
}

// Zero erases them.
func (k *Keys) Zero() {
	if k == nil {
		return
	}
	k.Bundle.Zero()
	for _, b := range k.Forms {
		clear(b)
	}
}

// ofItem returns the key of an item, followed by the keys of its forms.
func (k *Keys) ofItem(place int) []byte {
	key := ItemKey(k.Bundle, place)
	defer key.Zero()
	b := key.Bytes()
	if k.Forms != nil {
		b = append(b, k.Forms[place]...)
	}
	return b
}

// OpenItem opens the item at an index of the listing.
func (k *Keys) OpenItem(l *trade.Listing, place int, item []byte) (memory.Candidate, error) {
	keys := k.ofItem(place)
	defer clear(keys)
	return openWith(l, keys, item)
}

// openWith opens an item of a listing with what ofItem returns.
func openWith(l *trade.Listing, keys, item []byte) (m memory.Candidate, err error) {
	if len(keys) < seal.KeySize || l.Marks == 0 && len(keys) != seal.KeySize {
		return m, fmt.Errorf("%w: %d bytes of keys", ErrKey, len(keys))
	}
	key, err := seal.KeyFromBytes(keys[:seal.KeySize])
	if err != nil {
		return m, fmt.Errorf("%w: %v", ErrKey, err)
	}
	defer key.Zero()
	if l.Marks == 0 {
		return OpenItem(key, item)
	}
	text, err := openJSON(key, item)
	if err == nil {
		m, err = openMarked(text, keys[seal.KeySize:])
	}
	return m, checked(&m, err)
}

// wrappedKeys is the form in which the keys of a marked bundle are sealed to a recipient. FORMAT:
// canonical CBOR.
type wrappedKeys struct {
	Key   []byte     `cbor:"1,keyasint"`
	Order trade.Hash `cbor:"2,keyasint"`
	Forms [][]byte   `cbor:"3,keyasint"`
}

// WrapMarked seals the keys of an order's copy of a marked bundle to the order's recipient. spots
// has the number of spots of each item.
func WrapMarked(k, marking *seal.Key, spots []int, recipient string, order trade.Hash) ([]byte, error) {
	r, err := seal.ParseRecipient(recipient)
	if err != nil {
		return nil, fmt.Errorf("order's recipient: %w: %v", trade.ErrForm, err)
	}
	w := wrappedKeys{Key: k.Bytes(), Order: order}
	for i, n := range spots {
		b := []byte{}
		for j := range n {
			key := formKey(marking, i, j, Bit(marking, order, i, j))
			b = append(b, key.Bytes()...)
			key.Zero()
		}
		w.Forms = append(w.Forms, b)
	}
	b := trade.Encode(&w)
	defer clear(b)
	return seal.SealTo(r, b)
}

// readWrapped parses what was unsealed.
func readWrapped(l *trade.Listing, b []byte) (w wrappedKeys, err error) {
	if l.Marks == 0 {
		if len(b) != seal.KeySize+len(w.Order) {
			return w, errors.New("it was made for another order")
		}
		w.Key, w.Order = b[:seal.KeySize], trade.Hash(b[seal.KeySize:])
		return w, nil
	}
	if err := trade.Decode(b, &w, trade.MaxReply); err != nil {
		return w, err
	}
	n := 0
	for _, forms := range w.Forms {
		if len(forms)%seal.KeySize != 0 {
			return w, errors.New("it has a part of a key")
		}
		n += len(forms) / seal.KeySize
	}
	if len(w.Forms) != int(l.Items) || n != int(l.Marks) {
		return w, fmt.Errorf("it has the keys of %d spots in %d items, want %d in %d", n, len(w.Forms), l.Marks, l.Items)
	}
	return w, nil
}

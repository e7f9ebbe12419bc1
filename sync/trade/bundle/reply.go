package bundle

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Question is what a buyer asks, in the form that is sealed to the listing's recipient. It names
// the order, so that nobody else can get the answer with a copy of the sealed question.
//
// FORMAT: u32 big-endian length of its canonical CBOR, the CBOR, zeros up to length.Padded; sealed
// with seal.SealTo.
type Question struct {
	Text  string    `cbor:"1,keyasint"`
	Salt  [16]byte  `cbor:"2,keyasint"` // so that the digest can't be guessed
	Buyer trade.Key `cbor:"3,keyasint"`
	Nonce [16]byte  `cbor:"4,keyasint"` // nonce of the order
	// Recipient belongs to the person whom the text names, if the listing sells the entry to a
	// community: the community's keys are sealed to it. It is empty in a question.
	Recipient string `cbor:"5,keyasint,omitempty"`
}

const domainQuestion = "locket/v1 market question"

// digest returns the digest of the question in its order.
func (q *Question) digest() trade.Hash {
	return sha256.Sum256(append([]byte(domainQuestion+"\x00"), trade.Encode(q)...))
}

// Ask seals a question for a listing that sells answers.
func Ask(l *trade.Offer, text string, buyer trade.Key, nonce [16]byte) (*trade.Question, error) {
	if l.Answers == nil || l.Entry {
		return nil, fmt.Errorf("question: %w: the listing sells no answers", trade.ErrForm)
	}
	if err := trade.Text(text, 1, trade.MaxQuestion, true); err != nil {
		return nil, fmt.Errorf("question: %w", err)
	}
	return sealQuestion(l, &Question{Text: text, Buyer: buyer, Nonce: nonce})
}

// Enter seals who wants to join, for a listing that sells the entry to a community: a name of at
// most [MaxName] bytes, and the recipient to which the community's keys are sealed. The key that is
// admitted is the buyer's.
func Enter(l *trade.Offer, name, recipient string, buyer trade.Key, nonce [16]byte) (*trade.Question, error) {
	if !l.Entry {
		return nil, fmt.Errorf("entry: %w: the listing does not sell the entry to a community", trade.ErrForm)
	}
	q := Question{Text: name, Buyer: buyer, Nonce: nonce, Recipient: recipient}
	if err := q.checkEntry(); err != nil {
		return nil, err
	}
	return sealQuestion(l, &q)
}

// MaxName is the greatest length of the name with which somebody enters a community, in bytes.
const MaxName = 60

func (q *Question) checkEntry() error {
	if err := trade.Text(q.Text, 1, MaxName, false); err != nil {
		return fmt.Errorf("entry: name: %w", err)
	}
	if strings.TrimSpace(q.Text) != q.Text {
		return fmt.Errorf("entry: name: %w: it is blank, or begins or ends with a space", trade.ErrForm)
	}
	if _, err := seal.ParseRecipient(q.Recipient); err != nil {
		return fmt.Errorf("entry: recipient: %w: %v", trade.ErrForm, err)
	}
	return nil
}

func sealQuestion(l *trade.Offer, q *Question) (*trade.Question, error) {
	to, err := seal.ParseRecipient(l.Answers.To)
	if err != nil {
		return nil, fmt.Errorf("question: %w: the listing's recipient: %v", trade.ErrForm, err)
	}
	rand.Read(q.Salt[:])
	sealed, err := seal.SealTo(to, padded(trade.Encode(q)))
	return &trade.Question{Sealed: sealed, Digest: q.digest()}, err
}

// Asker returns the identity that opens the questions for a bundle. It is derived from the bundle's
// key, and is lost with it.
func Asker(k *seal.Key) *seal.Identity {
	return seal.IdentityFromSeed(k.Derive("market questions"))
}

// ReadQuestion opens the question of an order. The error is trade.ErrForm if nobody could answer
// it: it is not sealed to this identity, or was made for another order.
func ReadQuestion(id *seal.Identity, o *trade.Order) (q Question, err error) {
	if o.Question == nil {
		return q, fmt.Errorf("question: %w: the order asks none", trade.ErrForm)
	}
	plain, err := seal.OpenWith(id, o.Question.Sealed)
	if err != nil {
		return q, fmt.Errorf("question: %w: it does not open", trade.ErrForm)
	}
	if err := trade.Decode(unpadded(plain), &q, trade.MaxAsked); err != nil {
		return q, fmt.Errorf("question: %w", err)
	}
	if q.Buyer != o.Buyer || q.Nonce != o.Nonce || q.digest() != o.Question.Digest {
		return q, fmt.Errorf("question: %w: it was sealed for another order", trade.ErrForm)
	}
	if err := trade.Text(q.Text, 1, trade.MaxQuestion, true); err != nil {
		return q, fmt.Errorf("question: %w", err)
	}
	return q, nil
}

// ReadEntry opens a request to join a community, as [ReadQuestion] opens a question.
func ReadEntry(id *seal.Identity, o *trade.Order) (Question, error) {
	q, err := ReadQuestion(id, o)
	if err == nil {
		err = q.checkEntry()
	}
	return q, err
}

// Line is one item that an answer shows, with the proof that it belongs to the listed bundle. Its
// key opens only this item.
type Line struct {
	Place uint32       `cbor:"1,keyasint"` // index, from 0
	Item  []byte       `cbor:"2,keyasint"` // sealed
	Path  []trade.Hash `cbor:"3,keyasint"`
	Key   []byte       `cbor:"4,keyasint"`
}

// sealedReply is an answer in the form that is sealed to the order's recipient. FORMAT: the same as
// for a [Question].
type sealedReply struct {
	Order    trade.Hash `cbor:"1,keyasint"`
	Question Question   `cbor:"2,keyasint"`
	Lines    []Line     `cbor:"3,keyasint"`
}

// Reply is an answer that was opened and checked.
type Reply struct {
	Question string             `json:"question"`
	Places   []int              `json:"places"` // indexes of Items in the bundle, from 0
	Items    []memory.Candidate `json:"items"`
}

// Answer seals the items at some indexes as the answer to an order, the best first. Items that
// would make it too long are left out; sent has those that are in it.
func Answer(s *trade.State, q *Question, k *seal.Key, items [][]byte, places []int) (wrapped []byte, sent []int, err error) {
	to, err := seal.ParseRecipient(s.Order.Recipient)
	if err != nil {
		return nil, nil, fmt.Errorf("order's recipient: %w: %v", trade.ErrForm, err)
	}
	r := sealedReply{Order: s.ID, Question: *q}
	for _, place := range places {
		path, err := trade.Path(items, place)
		if err != nil {
			return nil, nil, err
		}
		key := ItemKey(k, place)
		line := Line{Place: uint32(place), Item: items[place], Path: path, Key: key.Bytes()}
		key.Zero()
		longer := r
		longer.Lines = append(r.Lines[:len(r.Lines):len(r.Lines)], line)
		b, err := seal.SealTo(to, padded(trade.Encode(&longer)))
		if err != nil {
			return nil, nil, err
		}
		if len(longer.Lines) <= trade.MaxLines && len(b) <= trade.MaxReply {
			r, wrapped, sent = longer, b, append(sent, place)
		}
	}
	return wrapped, sent, nil
}

// OpenReply opens the answer to an order, and checks that it answers the question of the order,
// from the listed bundle alone. Every error is [ErrReply], even if it is also trade.ErrRoot or
// [ErrItem], because the buyer is owed another answer.
func OpenReply(id *seal.Identity, s *trade.State) (out Reply, err error) {
	wrong := func(what error) (Reply, error) { return Reply{}, fmt.Errorf("%w: %w", ErrReply, what) }
	plain, err := seal.OpenWith(id, s.Wrapped)
	if err != nil {
		return wrong(errors.New("it does not open"))
	}
	defer clear(plain)
	var r sealedReply
	if err := trade.Decode(unpadded(plain), &r, trade.MaxReply); err != nil {
		return wrong(err)
	}
	if r.Order != s.ID || s.Order.Question == nil || r.Question.digest() != s.Order.Question.Digest {
		return wrong(errors.New("it is to another question"))
	}
	if len(r.Lines) == 0 || len(r.Lines) > trade.MaxLines {
		return wrong(fmt.Errorf("it shows %d items, want 1 to %d", len(r.Lines), trade.MaxLines))
	}
	out.Question = r.Question.Text
	for _, l := range r.Lines {
		place := int(l.Place)
		if slices.Contains(out.Places, place) {
			return wrong(fmt.Errorf("it shows item %d twice", place+1))
		}
		if err := trade.CheckPath(s.Offer.Root, int(s.Offer.Items), place, l.Item, l.Path); err != nil {
			return wrong(err)
		}
		key, err := seal.KeyFromBytes(l.Key)
		if err != nil {
			return wrong(err)
		}
		m, err := OpenItem(key, l.Item)
		key.Zero()
		if err == nil && s.Offer.Counts[string(m.Type)] == 0 {
			err = fmt.Errorf("%w: it is of type %s, of which none was listed", ErrItem, m.Type)
		}
		if err != nil {
			return wrong(&BadItem{Place: place, Err: err})
		}
		out.Places, out.Items = append(out.Places, place), append(out.Items, m)
	}
	return out, nil
}

package trade

import "fmt"

// Answers says that a listing sells answers instead of a copy of its bundle: each of its orders
// asks one question. The limits count items of the bundle; an item counts once, however often it is
// shown. The market can't enforce them; the seller's node does.
type Answers struct {
	To   string `cbor:"1,keyasint"` // questions are sealed to it
	Each uint32 `cbor:"2,keyasint"` // greatest number of items that one buyer is shown, in all answers together
	All  uint32 `cbor:"3,keyasint"` // greatest number of items that all buyers together are shown; keys are free
}

// Limits of a question and its answer, in bytes unless said otherwise.
const (
	MaxQuestion = 1000 // of a question's text
	MaxAsked    = 4 << 10
	MaxLines    = 3        // items that one answer shows
	MaxReply    = 32 << 10 // of a sealed answer
)

// Question is the question of an order. The market can't read it.
type Question struct {
	Sealed []byte `cbor:"1,keyasint"` // sealed to the listing's [Answers.To]
	Digest Hash   `cbor:"2,keyasint"` // digest of the sealed content, so that an arbiter can tell which question was asked
}

func (l *Listing) checkAnswers() error {
	a := l.Answers
	bad := func(format string, args ...any) error {
		return fmt.Errorf("listing: answers: %w: %s", ErrForm, fmt.Sprintf(format, args...))
	}
	switch {
	case l.Entry && (a == nil || l.Items != 1):
		return fmt.Errorf("listing: entry: %w: it is sold as the answer of one item", ErrForm)
	case a == nil:
		return nil
	case l.Period != 0:
		return bad("they are not sold by the period")
	case a.Each == 0 || a.Each > a.All || a.All > l.Items:
		return bad("%d items for each buyer and %d for all, of %d", a.Each, a.All, l.Items)
	}
	if err := Text(a.To, 1, 2048, false); err != nil {
		return fmt.Errorf("listing: answers: to: %w", err)
	}
	return nil
}

func (q *Question) check() error {
	if q != nil && (len(q.Sealed) == 0 || len(q.Sealed) > MaxAsked || q.Digest.IsZero()) {
		return fmt.Errorf("order: question: %w: %d bytes, at most %d", ErrForm, len(q.Sealed), MaxAsked)
	}
	return nil
}

// asks checks that an order asks a question if its listing sells answers, and none if it sells the
// bundle.
func (o *Order) asks(l *Offer) error {
	switch {
	case o.Question == nil && l.Answers != nil:
		return fmt.Errorf("order: question: %w: the listing sells only answers", ErrForm)
	case o.Question != nil && l.Answers == nil:
		return fmt.Errorf("order: question: %w: the listing sells its bundle, and answers nothing", ErrForm)
	}
	return nil
}

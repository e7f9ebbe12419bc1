package market

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// Ask orders an answer to a question, in the same way as [Buyer.Order] orders a bundle. Only
// the seller can read the question.
func (b *Buyer) Ask(ctx context.Context, m *remote.Market, by trade.Party, address string, l *trade.Offer, question string) (*Bought, error) {
	o := trade.Order{Created: b.now().Unix()}
	rand.Read(o.Nonce[:])
	var err error
	if o.Question, err = bundle.Ask(l, question, by.Key, o.Nonce); err != nil {
		return nil, err
	}
	return b.place(ctx, m, by, address, l, o)
}

// EnterQuoted orders the entry to a community for the buyer's key, under a name, in the same
// way as [Buyer.OrderQuoted]. Only the seller can read the name.
func (b *Buyer) EnterQuoted(ctx context.Context, m *remote.Market, by trade.Party, terms *trade.Terms, address string, version trade.Hash, price, name string) (*Bought, error) {
	l, err := quoted(ctx, m, version, price, terms)
	if err != nil {
		return nil, err
	}
	if !l.Entry {
		return nil, fmt.Errorf("listing %s: %w: it does not sell the entry to a community", l.ID(), serve.ErrConflict)
	}
	d, err := b.keys()
	if err != nil {
		return nil, err
	}
	defer d.Zero()
	o := trade.Order{Created: b.now().Unix()}
	rand.Read(o.Nonce[:])
	if o.Question, err = bundle.Enter(l, name, d.Recipient().String(), by.Key, o.Nonce); err != nil {
		return nil, refusal(err)
	}
	return b.place(ctx, m, by, address, l, o)
}

// orderOrAsk orders what a listing sells.
func (b *Buyer) orderOrAsk(ctx context.Context, m *remote.Market, by trade.Party, address string, l *trade.Offer, question string) (*Bought, error) {
	switch {
	case l.Entry:
		return nil, fmt.Errorf("listing %s: %w: it sells the entry to a community (locket market enter)", l.ID(), serve.ErrConflict)
	case l.Answers != nil && question == "":
		return nil, fmt.Errorf("listing %s: %w: it sells answers, and an order asks a question (locket market ask)", l.ID(), serve.ErrConflict)
	case l.Answers == nil && question != "":
		return nil, fmt.Errorf("listing %s: %w: it sells its bundle, and answers nothing (locket market buy)", l.ID(), serve.ErrConflict)
	case question != "":
		return b.Ask(ctx, m, by, address, l, question)
	}
	return b.Order(ctx, m, by, address, l)
}

// answerLimits returns the limits of a listing that sells answers; nil: it sells its bundle,
// or the entry to a community.
func answerLimits(l *trade.Listing) *serve.AnswerLimits {
	if l.Answers == nil || l.Entry {
		return nil
	}
	return &serve.AnswerLimits{Each: int(l.Answers.Each), All: int(l.Answers.All)}
}

// IsComplete reports whether everything that an order delivers is here: the sealed items, or the
// answer.
func (o *Bought) IsComplete() bool {
	return len(o.Items) > 0 || o.State.Order.Question != nil && len(o.State.Wrapped) > 0
}

// identity returns the identity of an order's recipient.
func (b *Buyer) identity(o *Bought) (*seal.Identity, error) {
	d, err := b.keys()
	if err != nil {
		return nil, err
	}
	defer d.Zero()
	if len(o.State.Wrapped) == 0 {
		return nil, fmt.Errorf("order %s: %w: it is %s", o.State.ID, ErrNotDelivered, o.State.Phase)
	}
	if o.State.Order.Buyer != trade.KeyOf(d.Key()) {
		return nil, fmt.Errorf("order %s: %w: it was bought with another key", o.State.ID, memory.ErrInvalid)
	}
	return d.OrderIdentity(o.State.Order.Nonce), nil
}

// Answer opens the answer of an order, and checks that it belongs to the question and to the
// listed bundle. It asks nobody. bundle.ErrReply is a reason for a dispute.
func (b *Buyer) Answer(o *Bought) (bundle.Reply, error) {
	id, err := b.identity(o)
	if err != nil {
		return bundle.Reply{}, err
	}
	defer id.Zero()
	return bundle.OpenReply(id, o.State)
}

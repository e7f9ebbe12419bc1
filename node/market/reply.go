package market

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// What a buyer is told whose price is refunded. It does not say whether the bundle has
// nothing, or has something that may not be shown any more, because that would be an
// answer.
const (
	noAnswer   = "it has no answer that this listing may still give"
	tooMany    = "too many questions in a day"
	unreadable = "the question can't be opened"
)

// reply is this home's answer to one question.
type reply struct {
	question bundle.Question
	places   []int // the items that answer, the best first
	texts    []string
	copies   []copyOf
	wrapped  []byte // the answer, sealed
	why      string // reason for a refund; empty: there is an answer
}

// reply decides how an order is answered. Nothing is recorded or sent. The same order
// always gets the same answer, even after the home was stopped at any point.
func (s *Shop) reply(ctx context.Context, l *listed, st *trade.State) (r reply, err error) {
	if r.why, err = s.withheld(ctx, l); err != nil || r.why != "" {
		r.why = notForSale
		return r, err
	}
	k, err := seal.KeyFromBytes(l.Key)
	if err != nil {
		return r, err
	}
	defer k.Zero()
	id := bundle.Asker(k)
	defer id.Zero()
	if r.question, err = bundle.ReadQuestion(id, &st.Order); err != nil {
		r.why = unreadable
		return r, nil
	}
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return r, err
	}
	shownBefore, shown, err := s.shownTo(ctx, st.Order.Buyer)
	if err != nil {
		return r, err
	}
	switch was := shownBefore.order(st.ID); {
	case was != nil:
		r.places = was.Places
	case shownBefore.tooMany(paidAt(st, s.c.Now())):
		r.why = tooMany
		return r, nil
	default:
		ms, err := bundle.Open(&st.Offer.Listing, &bundle.Keys{Bundle: k}, c.items)
		if err != nil {
			return r, err
		}
		of, err := copiesOf(l.Of, ms)
		if err != nil {
			return r, err
		}
		room := roomOf(st.Offer.Answers, of, shownBefore.Shown, shown.All)
		found, err := answering(ctx, ms, room.may, r.question.Text, s.c.Now())
		if err != nil {
			return r, err
		}
		r.places = room.allowed(found)
	}
	return r, s.sealReply(st, k, l.Of, c.items, &r)
}

// sealReply seals the places of an answer, without those that make it too long.
func (s *Shop) sealReply(st *trade.State, k *seal.Key, of []memory.ID, items [][]byte, r *reply) (err error) {
	r.wrapped, r.places, err = bundle.Answer(st, &r.question, k, items, r.places)
	switch {
	case errors.Is(err, trade.ErrForm): // nobody could open it
		r.why, err = "the order's recipient is not a key", nil
	case err == nil && len(r.places) == 0:
		r.why = noAnswer
	}
	for _, place := range r.places {
		key := bundle.ItemKey(k, place)
		m, oerr := bundle.OpenItem(key, items[place])
		key.Zero()
		c, cerr := copied(of[place], &m)
		err = errors.Join(err, oerr, cerr)
		r.texts, r.copies = append(r.texts, m.Text), append(r.copies, c)
	}
	return err
}

// answer answers the question of an order, or refunds its price. With approve, an answer
// waits for the seller's approval, and so does a refund because there is none: otherwise
// a buyer would see from the time which of the two it is. What it shows is recorded
// before it is sent, so that a crash can't make it count too little.
func (s *Shop) answer(ctx context.Context, m *remote.Market, by trade.Party, l *listed, st *trade.State, approved bool) (serve.Sale, error) {
	r, err := s.reply(ctx, l, st)
	if err != nil {
		return saleOf(st, false), err
	}
	if (r.why == "" || r.why == noAnswer) && l.Approve && !approved {
		v := saleOf(st, true)
		v.Question, v.Answer = r.question.Text, r.texts
		return v, nil
	}
	if r.why == "" || r.why == noAnswer {
		if err := s.noteTold(ctx, st, r.places, r.copies); err != nil {
			return saleOf(st, false), err
		}
	}
	if r.why != "" {
		st, err = s.refund(ctx, m, by, st, r.why)
		return saleOf(st, false), err
	}
	if err := s.c.Bundler.LogSale(ctx, share.DidSell, l.Title, "buyer "+st.Order.Buyer.String()[:8], len(r.places), "an answer"); err != nil {
		return saleOf(st, false), err
	}
	st, err = s.step(ctx, m, by, st, trade.Step{Act: trade.Deliver, Wrapped: r.wrapped})
	v := saleOf(st, false)
	v.Question, v.Answer = r.question.Text, r.texts
	return v, err
}

// answering returns the places of the items that answer a question, the best first; none
// if the answer is not known. Redacted words are in no item, so no question finds them.
// Items that may not be shown are not searched: otherwise the existence of an answer
// would reveal which words they contain.
func answering(ctx context.Context, ms []memory.Candidate, may func(place int) bool, question string, now time.Time) (out []int, err error) {
	index, err := recall.Open(ctx, recall.InMemory{}, recall.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	place := map[memory.ID]int{}
	var docs []recall.Doc
	for i, c := range ms {
		if !c.Expires.IsZero() && !now.Before(c.Expires) || !may(i) {
			continue
		}
		m := memory.Memory{Candidate: c, State: memory.Active, Learnt: now}
		binary.BigEndian.PutUint32(m.ID[:], uint32(i)+1)
		for _, d := range engine.Documents(&m) {
			place[d.ID] = i
			docs = append(docs, d)
		}
	}
	if err := index.Add(docs...); err != nil {
		return nil, err
	}
	found, err := index.Search(ctx, recall.Query{Text: question, Now: now, K: trade.MaxLines, Kinds: []recall.Kind{recall.Memory},
		Holds: func(id memory.ID, p recall.Phrase) bool {
			m := memory.Memory{Candidate: ms[place[id]]}
			return p.In(m.AllText())
		}})
	if err != nil {
		return nil, fmt.Errorf("look for an answer: %w", err)
	}
	if found.Confidence < recall.Unsure {
		return nil, nil
	}
	for _, h := range found.Hits {
		if h.Score >= .65*found.Hits[0].Score { // otherwise it is hardly related to the question, and would be shown for nothing
			out = append(out, place[h.ID])
		}
	}
	return out, nil
}

package trade_test

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

func TestListingOfAnswers(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	good := tradetest.Listing(t, items, tradetest.Answers(t))
	if read, err := trade.ReadListing(good.Signed); err != nil || *read.Answers != *good.Answers {
		t.Fatalf("%v", err)
	}
	for name, change := range map[string]func(*trade.Listing){
		"nothing for each":    func(l *trade.Listing) { l.Answers.Each = 0 },
		"more for one of all": func(l *trade.Listing) { l.Answers.Each = l.Answers.All + 1 },
		"more than there is":  func(l *trade.Listing) { l.Answers.All = l.Items + 1 },
		"to nobody":           func(l *trade.Listing) { l.Answers.To = "" },
		"by the period":       func(l *trade.Listing) { l.Period = trade.MinPeriod },
	} {
		l := good.Listing
		a := *good.Answers
		l.Answers = &a
		change(&l)
		if _, err := trade.SignListing(l, tradetest.Seller); !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	next := good.Listing
	next.Number, next.First, next.Prev, next.Answers = 2, good.Hash, good.Hash, nil
	if err := next.Follows(good); !errors.Is(err, trade.ErrForm) {
		t.Errorf("a bundle after answers: %v", err)
	}
	copies := tradetest.Listing(t, items, nil)
	if err := trade.CheckSent(&good.Listing, items); !errors.Is(err, trade.ErrForm) {
		t.Errorf("items of a bundle that stays: %v", err)
	}
	if err := errors.Join(trade.CheckSent(&good.Listing, nil), trade.CheckSent(&copies.Listing, items)); err != nil {
		t.Error(err)
	}

	question := &trade.Question{Sealed: []byte("sealed"), Digest: trade.Hash{1}}
	order := func(l *trade.Offer, q *trade.Question) (*trade.State, error) {
		b, hash, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Recipient: seal.NewIdentity().Recipient().String(),
			Created: 1, Question: q}, tradetest.Buyer)
		if err != nil {
			return nil, err
		}
		o, _, err := trade.ReadOrder(b)
		if err != nil {
			return nil, err
		}
		return trade.Begin(l, o, hash, 1)
	}
	for name, c := range map[string]struct {
		l  *trade.Offer
		q  *trade.Question
		ok bool
	}{
		"asked":              {good, question, true},
		"bought":             {copies, nil, true},
		"bought where asked": {good, nil, false},
		"asked where sold":   {copies, question, false},
		"asked nothing":      {good, &trade.Question{Digest: trade.Hash{1}}, false},
		"asked too much":     {good, &trade.Question{Sealed: make([]byte, trade.MaxAsked+1), Digest: trade.Hash{1}}, false},
		"without a digest":   {good, &trade.Question{Sealed: []byte("sealed")}, false},
	} {
		s, err := order(c.l, c.q)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok {
			continue
		}
		_, fund := tradetest.Step(t, s, trade.Fund, tradetest.Market, nil)
		if s, err = s.Apply(&fund, 2); err != nil {
			t.Fatal(err)
		}
		_, deliver := tradetest.Step(t, s, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = make([]byte, trade.MaxWrapped+1) })
		if _, err := s.Apply(&deliver, 3); (err == nil) != (c.q != nil) {
			t.Errorf("%s: delivered more than a key: %v", name, err)
		}
	}
}

// The entry to a community is sold as an answer of one item, in every version.
func TestListingOfAnEntry(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	entry := func(l *trade.Listing) {
		tradetest.Answers(t)(l)
		l.Entry, l.Answers.Each, l.Answers.All = true, 1, 1
	}
	good := tradetest.Listing(t, items[:1], entry)
	if read, err := trade.ReadListing(good.Signed); err != nil || !read.Entry {
		t.Fatalf("%v", err)
	}
	for name, change := range map[string]func(*trade.Listing){
		"as a bundle": func(l *trade.Listing) { l.Answers = nil },
		"two items":   func(l *trade.Listing) { l.Items, l.Counts = 2, map[string]uint32{"semantic": 2} },
		"by periods":  func(l *trade.Listing) { l.Period = trade.MinPeriod },
	} {
		l := good.Listing
		change(&l)
		if _, err := trade.SignListing(l, tradetest.Seller); !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	next := good.Listing
	next.Number, next.First, next.Prev, next.Price = 2, good.Hash, good.Hash, 800
	if err := next.Follows(good); err != nil {
		t.Error(err)
	}
	next.Entry = false
	if err := next.Follows(good); !errors.Is(err, trade.ErrForm) {
		t.Errorf("answers after an entry: %v", err)
	}
	if err := trade.CheckSent(&good.Listing, items[:1]); !errors.Is(err, trade.ErrForm) {
		t.Errorf("the link goes to the market: %v", err)
	}
}

package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// delivered returns an order whose key was wrapped.
func delivered(t *testing.T, l *trade.Offer, k *seal.Key) (*trade.State, *seal.Identity) {
	id := seal.NewIdentity()
	_, o, hash := tradetest.Order(t, l, id)
	s, err := trade.Begin(l, o, hash, 1)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := bundle.Wrap(k, o.Recipient, hash)
	if err != nil {
		t.Fatal(err)
	}
	s.Wrapped = wrapped
	return s, id
}

func TestOpen(t *testing.T) {
	items, ms := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	s, id := delivered(t, l, tradetest.Key(t))
	k, err := bundle.Unwrap(id, s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := bundle.Open(&l.Listing, k, items)
	if err != nil || len(got) != len(ms) || got[3].Text != ms[3].Text {
		t.Fatalf("%d items: %v", len(got), err)
	}
	for _, item := range items {
		if strings.Contains(string(item), "omato") {
			t.Error("an item can be read")
		}
	}
	if _, err := bundle.Open(&l.Listing, k, items[1:]); !errors.Is(err, trade.ErrRoot) {
		t.Errorf("an item is missing: %v", err)
	}
	s.ID[0]++
	if _, err := bundle.Unwrap(id, s); !errors.Is(err, bundle.ErrKey) {
		t.Errorf("a key that was wrapped for another order: %v", err)
	}
}

// If a seller delivers another key, or sealed something other than was listed, the buyer can show
// it, and the arbiter decides only by what is shown. If the buyer shows something correct, or
// something of another bundle, this proves nothing.
func TestThreatSellerDeliversAnother(t *testing.T) {
	arbiter := seal.NewIdentity()
	to := arbiter.Recipient().String()
	open := func(b []byte) ([]byte, error) { return seal.OpenWith(arbiter, b) }
	judge := func(s *trade.State, evidence []byte, err error) (bundle.Finding, error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if len(evidence) > trade.MaxEvidence {
			t.Errorf("evidence of %d bytes", len(evidence))
		}
		s.Evidence = evidence
		return bundle.Judge(s, open)
	}
	secret := tradetest.Key(t)
	key := &bundle.Keys{Bundle: secret}
	items, ms := tradetest.Bundle(t)
	honest := tradetest.Listing(t, items, nil)

	s, id := delivered(t, honest, seal.NewKey())
	if _, err := bundle.Unwrap(id, s); !errors.Is(err, bundle.ErrKey) {
		t.Fatalf("another key: %v", err)
	}
	b, err := bundle.ShowKey(s, id, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("another key: %+v, %v", f, err)
	}
	s, id = delivered(t, honest, secret)
	b, err = bundle.ShowKey(s, id, to)
	if f, err := judge(s, b, err); err == nil {
		t.Errorf("the right key, called wrong: %+v", f)
	}
	b, err = bundle.ShowItem(s, key, items, 2, to)
	if f, err := judge(s, b, err); err != nil || f.Broken != "" || f.Item == nil || f.Item.Text != ms[2].Text {
		t.Errorf("an item as it is: %+v, %v", f, err)
	}
	other, err := bundle.Seal(secret, []memory.Candidate{ms[2], ms[0], ms[1], ms[3]})
	if err != nil {
		t.Fatal(err)
	}
	b, err = bundle.ShowItem(s, key, other, 2, to)
	if f, err := judge(s, b, err); !errors.Is(err, trade.ErrRoot) {
		t.Errorf("an item of another bundle: %+v, %v", f, err)
	}

	ms[1].Type = memory.Procedural // listed as semantic
	other, err = bundle.Seal(secret, ms)
	if err != nil {
		t.Fatal(err)
	}
	liar := tradetest.Listing(t, other, nil)
	if _, err := bundle.Open(&liar.Listing, key, other); !errors.Is(err, bundle.ErrItem) {
		t.Errorf("other types than listed: %v", err)
	}
	s, _ = delivered(t, liar, secret)
	b, err = bundle.ShowItem(s, key, other, 1, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("another type: %+v, %v", f, err)
	}

	foreign, err := bundle.Seal(seal.NewKey(), ms)
	if err != nil {
		t.Fatal(err)
	}
	other[0] = foreign[0] // no delivered key opens it
	liar = tradetest.Listing(t, other, nil)
	var bad *bundle.BadItem
	if _, err := bundle.Open(&liar.Listing, key, other); !errors.As(err, &bad) || bad.Place != 0 {
		t.Errorf("an item under another key: %v", err)
	}
	s, id = delivered(t, liar, secret)
	b, err = bundle.ShowSealed(s, id, other, 0, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("an item under another key: %+v, %v", f, err)
	}
	b, err = bundle.ShowSealed(s, id, other, 2, to)
	if f, err := judge(s, b, err); err == nil {
		t.Errorf("an item that opens, called sealed: %+v", f)
	}
}

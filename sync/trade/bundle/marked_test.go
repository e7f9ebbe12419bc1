package bundle_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/mark"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// marked is a marked bundle of a listing.
type marked struct {
	t            *testing.T
	key, marking *seal.Key
	items        [][]byte
	texts        []mark.Text
	spots        []int
	offer        *trade.Offer
}

func newMarked(t *testing.T, change func([]bundle.Marked)) *marked {
	t.Helper()
	m := &marked{t: t, key: tradetest.Key(t), marking: seal.NewKey()}
	var ms []bundle.Marked
	for _, s := range []string{"It's usually dry, and the 3 beds don't drain.", "Somebody left the gate open", "Tea", "番茄每天要浇水。"} {
		text := mark.Find(s)
		m.texts = append(m.texts, text)
		ms = append(ms, bundle.Marked{Item: memory.Candidate{Type: memory.Semantic, Text: text.Rest, Confidence: 1, Owner: memory.Owner{User: "shared"}}, Spots: text.Spots})
	}
	if change != nil {
		change(ms)
	}
	marks := 0
	for _, one := range ms {
		m.spots = append(m.spots, len(one.Spots))
		marks += len(one.Spots)
	}
	var err error
	if m.items, err = bundle.SealMarked(m.key, m.marking, ms); err != nil {
		t.Fatal(err)
	}
	m.offer = tradetest.Listing(t, m.items, func(l *trade.Listing) { l.Marks = uint32(marks) })
	return m
}

// delivered returns an order of it, whose keys were wrapped with a marking key.
func (m *marked) delivered(marking *seal.Key) (*trade.State, *seal.Identity) {
	m.t.Helper()
	id := seal.NewIdentity()
	_, o, hash := tradetest.Order(m.t, m.offer, id)
	s, err := trade.Begin(m.offer, o, hash, 1)
	if err == nil {
		s.Wrapped, err = bundle.WrapMarked(m.key, marking, m.spots, o.Recipient, hash)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return s, id
}

// Each order's copy has the forms of its bits, from the same sealed items; its buyer can't open the
// other forms.
func TestMarkedCopies(t *testing.T) {
	m := newMarked(t, nil)
	var copies []string
	for range 8 {
		s, id := m.delivered(m.marking)
		k, err := bundle.Unwrap(id, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bundle.Open(&m.offer.Listing, k, m.items)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range got {
			want := m.texts[i].WithForms(func(j int) int { return bundle.Bit(m.marking, s.ID, i, j) })
			if got[i].Text != want {
				t.Errorf("item %d: %q, want %q", i, got[i].Text, want)
			}
			text += got[i].Text + "\n"
		}
		copies = append(copies, text)
		if _, _, err := bundle.Forms(m.key, seal.NewKey(), m.items); !errors.Is(err, bundle.ErrKey) {
			t.Errorf("forms without the marking key: %v", err)
		}
	}
	slices.Sort(copies)
	if n := len(slices.Compact(copies)); n < 6 {
		t.Errorf("%d copies of 8 differ", n)
	}
	forms, _, err := bundle.Forms(m.key, m.marking, m.items)
	if err != nil || len(forms) != len(m.texts) {
		t.Fatal(err)
	}
	for i := range forms {
		if w, at := m.texts[i], forms[i]; at.Rest != w.Rest || len(at.Spots) != len(w.Spots) || len(w.Spots) > 0 && at.Spots[0].Forms != w.Spots[0].Forms {
			t.Errorf("item %d: %+v, want %+v", i, at, w)
		}
	}
}

// The seller's mistakes in a marked bundle can be shown to the arbiter, who decides only by that;
// showing something correct proves nothing.
func TestMarkedDisputes(t *testing.T) {
	arbiter := seal.NewIdentity()
	to := arbiter.Recipient().String()
	judge := func(s *trade.State, evidence []byte, err error) (bundle.Finding, error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s.Evidence = evidence
		return bundle.Judge(s, func(b []byte) ([]byte, error) { return seal.OpenWith(arbiter, b) })
	}
	m := newMarked(t, nil)
	s, id := m.delivered(m.marking)
	k, err := bundle.Unwrap(id, s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.ShowItem(s, k, m.items, 0, to)
	if f, err := judge(s, b, err); err != nil || f.Broken != "" || f.Item == nil || f.Item.Text != m.texts[0].WithForms(func(j int) int { return bundle.Bit(m.marking, s.ID, 0, j) }) {
		t.Errorf("an item as it is: %+v, %v", f, err)
	}
	b, err = bundle.ShowKey(s, id, to)
	if f, err := judge(s, b, err); err == nil {
		t.Errorf("the right keys, called wrong: %+v", f)
	}
	b, err = bundle.ShowSealed(s, id, m.items, 0, to)
	if f, err := judge(s, b, err); err == nil {
		t.Errorf("an item that opens, called sealed: %+v", f)
	}
	k.Forms[0][0]++ // this is the buyer's fault
	b, err = bundle.ShowItem(s, k, m.items, 0, to)
	if f, err := judge(s, b, err); err == nil {
		t.Errorf("keys that the buyer changed: %+v", f)
	}

	s, id = m.delivered(seal.NewKey()) // keys of forms that open nothing
	if k, err = bundle.Unwrap(id, s); err != nil {
		t.Fatal(err)
	}
	var bad *bundle.BadItem
	if _, err := bundle.Open(&m.offer.Listing, k, m.items); !errors.As(err, &bad) || bad.Place != 0 || !errors.Is(err, bundle.ErrItem) {
		t.Errorf("wrong keys of forms: %v", err)
	}
	b, err = bundle.ShowSealed(s, id, m.items, 0, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("wrong keys of forms: %+v, %v", f, err)
	}

	m.spots = m.spots[:3] // too few keys
	s, id = m.delivered(m.marking)
	if _, err := bundle.Unwrap(id, s); !errors.Is(err, bundle.ErrKey) {
		t.Errorf("keys of three items: %v", err)
	}
	b, err = bundle.ShowKey(s, id, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("keys of three items: %+v, %v", f, err)
	}

	m = newMarked(t, func(ms []bundle.Marked) { ms[1].Spots[0].At = 500 })
	s, id = m.delivered(m.marking)
	if k, err = bundle.Unwrap(id, s); err != nil {
		t.Fatal(err)
	}
	b, err = bundle.ShowItem(s, k, m.items, 1, to)
	if f, err := judge(s, b, err); err != nil || f.Broken == "" {
		t.Errorf("a spot behind the text: %+v, %v", f, err)
	}
}

// A listing says whether its copies are marked; one that sells answers is not, and the limits of
// unmarked ones stay.
func TestMarkedListing(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil).Listing
	for marks, want := range map[uint32]bool{0: true, 64: true, trade.MaxMarks: true, trade.MaxMarks + 1: false} {
		l.Marks = marks
		if _, err := trade.SignListing(l, tradetest.Seller); (err == nil) != want {
			t.Errorf("%d marks: %v", marks, err)
		}
	}
	l.Marks = 64
	tradetest.Answers(t)(&l)
	if _, err := trade.SignListing(l, tradetest.Seller); !errors.Is(err, trade.ErrForm) {
		t.Errorf("answers with marks: %v", err)
	}
}

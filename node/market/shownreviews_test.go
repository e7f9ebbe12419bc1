package market

import (
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// A listing has more reviews than fit into one answer: those that do not fit are not
// considered hidden, and a missing one that would fit is.
func TestMoreReviewsThanAreShown(t *testing.T) {
	s, garden, _ := newStall(t)
	ann, bob, eve := s.buyer(), s.buyer(), s.buyer()
	oldest := s.buys(ann, garden, 4)
	for range trade.MaxShown - 1 {
		s.buys(ann, garden, 4)
	}
	ok(t, bob.Review(t.Context(), s.buys(bob, garden, 0), 2, "It came late."))
	if v := s.sees(eve, garden, nil); v.Check.Proven != trade.MaxShown-1 || v.Check.Unproven != 1 || v.Check.Hidden != 0 {
		t.Errorf("the newest is not published yet: %+v", v.Check)
	}
	_, err := s.h.Publish(t.Context())
	ok(t, err)
	if v := s.sees(eve, garden, nil); v.Check.Proven != trade.MaxShown || v.Check.Unproven+v.Check.Hidden != 0 {
		t.Errorf("an honest market: %+v", v.Check)
	}
	if v := s.sees(eve, garden, func(v *trade.Shown) { v.Proofs[3].Order, v.Proofs[len(v.Proofs)-1].Receipt = nil, trade.Logged{} }); v.Check.Unproven != 2 || v.Check.Hidden != 0 {
		t.Errorf("shown, with no receipt: %+v", v.Check)
	}
	if v := s.sees(eve, garden, func(v *trade.Shown) { v.Reviews[4], v.Proofs[4] = v.Reviews[5], v.Proofs[5] }); v.Check.Unproven != 1 || v.Check.Hidden == 0 {
		t.Errorf("another in its place: %+v", v.Check)
	}
	if v := s.sees(eve, garden, func(v *trade.Shown) {
		v.Reviews, v.Proofs = append(v.Reviews[:2:2], make([][]byte, trade.MaxShown)...), v.Proofs[:2]
	}); v.Check.Hidden != trade.MaxShown-2 {
		t.Errorf("empty ones in their place: %+v", v.Check)
	}

	look := func(b *Buyer) VerifiedDeal {
		t.Helper()
		v, err := b.Verify(t.Context(), s.url, Verification{})
		if err != nil && !errors.Is(err, ErrHidden) {
			t.Fatal(err)
		}
		return v.Orders[0]
	}
	if d := look(bob); d.Review != reviewShown {
		t.Errorf("the newest: %+v", d)
	}
	first, err := ann.Orders()
	ok(t, err)
	old := slices.IndexFunc(first, func(o *Bought) bool { return o.State.ID == oldest.State.ID })
	for range 2 {
		v, err := ann.Verify(t.Context(), s.url, Verification{})
		if d := v.Orders[old]; err != nil || d.Order != oldest.State.ID || d.Review != "" || d.Waits || d.Hidden {
			t.Errorf("newer ones fill the answer: %+v, %v", d, err)
		}
		s.pass(logWithin)
	}
	for name, lie := range map[string]func(*trade.Shown){
		"empty ones in its place": func(v *trade.Shown) {
			v.Reviews = append(v.Reviews[1:2:2], make([][]byte, trade.MaxShown)...)
			v.Proofs = v.Proofs[1:2]
		},
		"the fifty before it": func(v *trade.Shown) {
			v.Reviews, v.Proofs = append(v.Reviews[1:], v.Reviews[1]), append(v.Proofs[1:], v.Proofs[1])
		},
	} {
		s.liar.lie = lie
		if d := look(bob); d.Review != "" || !d.Waits || d.Hidden {
			t.Errorf("%s, a moment ago: %+v", name, d)
		}
		s.pass(logWithin)
		if d := look(bob); d.Review != "" || !d.Hidden {
			t.Errorf("%s: %+v", name, d)
		}
		s.liar.lie = nil
		look(bob)
	}
}

// The reviews of a listing are not shown if the market does not answer for it, or has no
// log or an old one.
func TestReviewsWithoutAMarketAnswer(t *testing.T) {
	s, garden, kitchen := newStall(t)
	bob := s.buyer()
	s.buys(bob, garden, 1)
	before := s.reads(garden).Log
	s.buys(s.buyer(), kitchen, 1)
	for name, does := range map[string]liar{
		"not found":     {fails: http.StatusNotFound},
		"out of order":  {fails: http.StatusInternalServerError},
		"no log":        {lie: func(v *trade.Shown) { v.Log = nil }},
		"an older log":  {lie: func(v *trade.Shown) { v.Log = before }},
		"another's log": {lie: func(v *trade.Shown) { v.Log = []byte("log.test\n1\n") }},
	} {
		if v, err := bob.Verify(t.Context(), s.url, Verification{}); err != nil || v.Orders[0].Review != reviewShown {
			t.Fatalf("it answers: %+v, %v", v, err)
		}
		*s.liar = does
		v, err := bob.Verify(t.Context(), s.url, Verification{})
		if err != nil || !v.Orders[0].Waits || v.Orders[0].Review != "" || v.Listings[0].Reviews.Error == "" {
			t.Errorf("%s, a moment ago: %+v, %v", name, v, err)
		}
		s.pass(logWithin)
		if v, err = bob.Verify(t.Context(), s.url, Verification{}); !errors.Is(err, ErrHidden) || !v.Orders[0].Hidden {
			t.Errorf("%s for an hour: %+v, %v", name, v, err)
		}
		*s.liar = liar{}
	}
}

// A buyer who was shown a log is not shown an older one, which lacks the newest reviews.
func TestOlderReviewLogIsRefused(t *testing.T) {
	s, garden, _ := newStall(t)
	bob, eve := s.buyer(), s.buyer()
	s.buys(bob, garden, 5)
	older := s.reads(garden)
	s.buys(bob, garden, 1)
	rewind := func(v *trade.Shown) { *v = older }
	if v := s.sees(eve, garden, rewind); v.Check.Error != "" || v.Check.Proven != 1 {
		t.Errorf("who has seen nothing newer: %+v", v.Check)
	}
	if v := s.sees(eve, garden, nil); v.Check.Error != "" || v.Check.Proven != 2 {
		t.Errorf("the newest: %+v", v.Check)
	}
	if v := s.sees(eve, garden, rewind); v.Check.Proven != 0 || !strings.Contains(v.Check.Error, "it came with") {
		t.Errorf("an older one: %+v", v.Check)
	}
	if v := s.sees(eve, garden, nil); v.Check.Error != "" || v.Check.Proven != 2 {
		t.Errorf("the newest again: %+v", v.Check)
	}
	size := int64(len(s.places(t)))
	if v, err := eve.Verify(t.Context(), s.url, Verification{}); err != nil || v.Before != size {
		t.Errorf("verify goes on from %d, %v", v.Before, err)
	}
}

// Reviews from before reviews were numbered get their numbers while the market runs.
func TestUnnumberedReviewsAreNumbered(t *testing.T) {
	s, garden, _ := newStall(t)
	ann := s.buyer()
	o := s.buys(ann, garden, 0)
	signed, _, err := trade.SignReview(trade.Review{Order: o.State.ID, Last: o.State.Last, Stars: 4, At: 1}, party(t, ann))
	ok(t, err)
	id, listing := o.State.ID, garden.ID()
	ok(t, s.h.db.Change(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO reviews (of, listing, at, signed) SELECT $1, n, 1, $2 FROM listings WHERE id = $3`, id[:], signed, listing[:])
		return err
	}))
	if v := s.sees(ann, garden, nil); v.Check.Proven != 0 || v.Check.Unproven != 1 || v.Said[0].Unproven != serve.NotLogged {
		t.Errorf("before: %+v", v.Check)
	}
	ok(t, s.m.Sweep(t.Context()))
	_, err = s.h.Publish(t.Context())
	ok(t, err)
	if v := s.sees(ann, garden, nil); v.Check.Proven != 1 || v.Check.Unproven+v.Check.Hidden != 0 {
		t.Errorf("after: %+v", v.Check)
	}
	s.buys(s.buyer(), garden, 2)
	if v := s.sees(ann, garden, nil); v.Check.Proven != 2 || v.Check.Unproven+v.Check.Hidden != 0 {
		t.Errorf("with the next: %+v", v.Check)
	}
}

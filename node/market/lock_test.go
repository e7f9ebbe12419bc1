package market

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// pending is an order in a buyer's folder, which a test advances.
type pending struct {
	*Buyer
	*tradetest.Deal
	t     *testing.T
	at    string
	items [][]byte
}

func newPending(t *testing.T, address string) *pending {
	t.Helper()
	b := &pending{Buyer: &Buyer{Dir: t.TempDir()}, t: t, at: address}
	ok(t, os.MkdirAll(filepath.Join(b.Dir, ordersDir), 0o700))
	d, err := keyring.ReaderKey(filepath.Join(b.Dir, readerFile))
	ok(t, err)
	b.items, _ = tradetest.Bundle(t)
	nonce := [16]byte{5}
	b.Deal = tradetest.NewDeal(t, tradetest.Listing(t, b.items, nil), trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}, nonce, d.OrderIdentity(nonce).Recipient().String(), 1_800_000_000)
	return b
}

func (b *pending) me() trade.Party {
	b.t.Helper()
	d, err := keyring.ReaderKey(filepath.Join(b.Dir, readerFile))
	ok(b.t, err)
	return trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}
}

// kept writes the order's file in its current state, and returns the order.
func (b *pending) kept() *Bought {
	b.t.Helper()
	o := &Bought{Market: b.at, Chain: b.Chain, Items: b.items}
	ok(b.t, o.Save(b.file(b.State.ID)))
	o, err := Read(b.file(b.State.ID))
	ok(b.t, err)
	return o
}

// While another process advances an order, nothing that the buyer does to it reaches the
// market. What that process did also counts for someone who read the order's file
// earlier.
func TestOrderIsLockedByOneProcess(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) }))
	defer s.Close()
	b := newPending(t, s.URL)
	stale := b.kept()
	b.Deliver()
	o := b.kept()

	held, err := filelock.Take(filepath.Join(b.Dir, ordersDir, "."+o.State.ID.String()+".lock"))
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a call that waits for the lock stops waiting
	for what, do := range map[string]func(*Bought) error{
		"pay":     func(o *Bought) error { return b.Pay(ctx, o, "CODE") },
		"accept":  func(o *Bought) error { return b.Accept(ctx, o) },
		"dispute": func(o *Bought) error { return b.Dispute(ctx, o, 0, "") },
		"cancel":  func(o *Bought) error { return b.Cancel(ctx, o) },
		"review":  func(o *Bought) error { return b.Review(ctx, o, 4, "") },
	} {
		copied := *o
		if err := do(&copied); !errors.Is(err, memory.ErrInUse) {
			t.Errorf("%s while another moves it: %v", what, err)
		}
	}
	ok(t, held.Release())
	if err := b.Pay(t.Context(), stale, "CODE"); err != nil || stale.State.Phase != trade.Delivered {
		t.Errorf("paid again, after another paid it: %v, it is %s", err, stale.State.Phase)
	}
	if asked > 0 {
		t.Errorf("the market was asked %d times", asked)
	}
}

// reviewDesk is a market that notes the reviews it receives, and answers each.
type reviewDesk struct {
	URL    string
	mu     sync.Mutex
	taken  [][]byte
	answer func(http.ResponseWriter)
}

func takesReviews(t *testing.T, answer func(http.ResponseWriter)) *reviewDesk {
	d := &reviewDesk{answer: answer}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/market":
			w.Write(trade.Encode(trade.Terms{Market: tradetest.Market.Key}))
		case "/v1/market/reviews":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			d.mu.Lock()
			d.taken = append(d.taken, body)
			answer := d.answer
			d.mu.Unlock()
			answer(w)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	d.URL = s.URL
	return d
}

func (d *reviewDesk) sent() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taken)
}

func (d *reviewDesk) answers(answer func(http.ResponseWriter)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = answer
}

// The market keeps one review of an order, and the buyer's copy is that same review,
// which is the one sent to another market.
func TestOneReviewOfAnOrder(t *testing.T) {
	s := takesReviews(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) })
	b := newPending(t, s.URL)
	b.Deliver()
	b.Step(trade.Accept, b.me(), nil)
	one, two := b.kept(), b.kept() // as two processes hold it
	ok(t, b.Review(t.Context(), one, 4, "As it says."))
	if err := b.Review(t.Context(), two, 1, "Not as it says."); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("another review: %v", err)
	}
	ok(t, b.Review(t.Context(), two, 4, "As it says.")) // the answer was lost
	kept, err := b.reviewed(b.State.ID)
	ok(t, err)
	if sent := s.sent(); len(sent) != 2 || !slices.Equal(sent[0], sent[1]) || !slices.Equal(sent[0], kept) {
		t.Errorf("%d reviews were sent, and another is kept", len(s.sent()))
	}
}

// A review whose answer was lost is sent again as it was signed, and no other can be
// given in its place. One that the market refuses leaves nothing behind.
func TestReviewWithLostAnswer(t *testing.T) {
	s := takesReviews(t, func(http.ResponseWriter) { panic(http.ErrAbortHandler) }) // the connection drops
	b := newPending(t, s.URL)
	at := time.Unix(1_900_000_000, 0)
	b.Now = func() time.Time { at = at.Add(time.Minute); return at }
	b.Deliver()
	b.Step(trade.Accept, b.me(), nil)
	o := b.kept()
	if err := b.Review(t.Context(), o, 1, ""); err == nil || o.Reviewed {
		t.Fatalf("the answer was lost: %v", err)
	}
	if err := b.Review(t.Context(), b.kept(), 5, ""); !errors.Is(err, serve.ErrConflict) || len(s.sent()) != 1 {
		t.Errorf("another review than was sent: %v", err)
	}
	if o := b.kept(); o.Reviewed {
		t.Error("it is said to be reviewed, and nobody can say it again")
	}
	s.answers(func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) })
	ok(t, b.Review(t.Context(), o, 1, ""))
	kept, err := b.reviewed(b.State.ID)
	ok(t, err)
	if sent := s.sent(); len(sent) != 2 || !slices.Equal(sent[0], sent[1]) || !slices.Equal(sent[0], kept) || !b.kept().Reviewed {
		t.Errorf("%d reviews were sent, and another is kept", len(s.sent()))
	}

	refused := newPending(t, s.URL)
	refused.Deliver()
	refused.Step(trade.Accept, refused.me(), nil)
	s.answers(func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		if err := json.NewEncoder(w).Encode(page.NewProblem(page.Trade, http.StatusConflict, "it has one")); err != nil {
			t.Error(err)
		}
	})
	if err := refused.Review(t.Context(), refused.kept(), 5, ""); !errors.Is(err, remote.ErrTrade) {
		t.Errorf("the market refuses it: %v", err)
	}
	if kept, err := refused.reviewed(refused.State.ID); err != nil || kept != nil || refused.kept().Reviewed {
		t.Errorf("a review that was refused is kept: %v", err)
	}
}

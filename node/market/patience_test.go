package market

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// drips is a market that sends a byte now and then, for ever.
func drips(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte{0})
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// counted is a market that has nothing.
func counted(t *testing.T) (address string, asked *int) {
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { *asked++; http.NotFound(w, r) }))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// A market that never ends its answer holds up neither what was bought elsewhere nor what is for sale there.
func TestThreatMarketThatNeverEnds(t *testing.T) {
	slow := drips(t)
	other, asked := counted(t)
	b := newPending(t, other)
	b.kept()
	b.Patience = time.Second
	for n := range byte(3) {
		d, err := b.keys()
		ok(t, err)
		nonce := [16]byte{n + 50}
		b.Deal = tradetest.NewDeal(t, tradetest.Listing(t, b.items, nil), b.me(), nonce, d.OrderIdentity(nonce).Recipient().String(), 1_800_000_100) // newer, and so asked for first
		b.at = slow
		b.kept()
	}
	if err := b.Fetch(t.Context()); err == nil || *asked != 1 {
		t.Errorf("a buyer: the other market was asked %d times: %v", *asked, err)
	}

	h := openShop(t)
	h.c.Patience = time.Second
	*asked = 0
	h.lists(other, "There", nil, memory.ID{1}, nil)
	h.lists(slow, "Here", nil, memory.ID{2}, nil)
	if _, err := h.Sales(t.Context()); err == nil || *asked != 1 {
		t.Errorf("a seller: the other market was asked %d times: %v", *asked, err)
	}
}

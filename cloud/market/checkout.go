package market

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/sync/trade"
)

// Checkout returns the page on which a buyer pays an order. Nothing is booked before the provider
// reports the payment. The same order gets the same page, for as long as the provider keeps it. how
// is x402 for the address where an agent pays, or empty.
func (m *Market) Checkout(ctx context.Context, id trade.Hash, by trade.Key, how string) (c trade.Checkout, err error) {
	from := m.c.Pages
	if how == x402.Name && m.c.X402 != nil {
		from = m.c.X402
	} else if how != "" || from == nil {
		return c, fmt.Errorf("checkout: %w: this market takes %v", ErrNotFound, m.Terms().Pays)
	}
	chain, err := m.Get(ctx, id, by)
	if err != nil {
		return c, err
	}
	s, err := chain.Replay()
	switch {
	case err != nil:
		return c, err
	case s.Order.Buyer != by:
		return c, fmt.Errorf("checkout: %w", trade.ErrParty)
	case s.Phase != trade.Ordered:
		return c, fmt.Errorf("checkout: %w: it is %s", trade.ErrPhase, s.Phase)
	}
	step, err := from.Begin(ctx, request(s))
	if errors.Is(err, ledger.ErrAmount) {
		return c, fmt.Errorf("checkout: %w: %v", trade.ErrForm, err)
	}
	return trade.Checkout{URL: step.URL}, err
}

// handleMessage handles a message of the provider of pages. A payment becomes a deposit of its payer, and
// funds its order. If that can't be funded any more, the money remains the payer's. Repeating a
// message changes nothing. An error other than [pay.ErrProof] means that the message has to be sent
// again.
func (m *Market) handleMessage(ctx context.Context, proof pay.Proof) error {
	book := pay.Deposits(m.ledger, m.c.Pages.Name())
	var paid []pay.Fact
	err := m.c.Pages.Settle(ctx, proof, func(ctx context.Context, tx *sql.Tx, f pay.Fact) error {
		if f.Kind == pay.Paid {
			paid = append(paid, f)
		}
		return book(ctx, tx, f)
	})
	for _, f := range paid {
		if err == nil {
			err = m.fund(ctx, f)
		}
	}
	return err
}

func (m *Market) fund(ctx context.Context, f pay.Fact) error {
	var id trade.Hash
	if err := id.UnmarshalText([]byte(f.Order)); err != nil {
		return nil // a payment without an order
	}
	err := m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		c, s, err := m.state(ctx, tx, id)
		if err != nil || s.Phase != trade.Ordered || s.Order.Buyer.String() != f.Payer {
			return err
		}
		return m.takeOwnStep(ctx, tx, &c, s, trade.Fund)
	})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrFunds) || errors.Is(err, trade.ErrLate) {
		m.c.Logger.Info("a payment came for an order that can't be funded: the money stays the buyer's", "order", f.Order, "why", err)
		return nil
	}
	return err
}

// MaxEvent is the greatest length of a provider's message, in bytes.
const MaxEvent = 256 << 10

// Pages serves what a provider of pages needs from a market; nil if there is no such provider.
//
//	POST /webhook  the provider's signed messages
//	GET /paid   where its page sends payers after the payment
//	GET /left   where its page sends payers who cancelled
func (m *Market) Pages() http.Handler {
	if m.c.Pages == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxEvent))
		if err != nil {
			http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
			return
		}
		err = m.handleMessage(r.Context(), pay.Proof{Header: r.Header, Body: body})
		switch {
		case errors.Is(err, pay.ErrProof):
			m.c.Logger.Debug("a message that claims to be from the payment provider was refused", "error", err)
			http.Error(w, "this does not prove a payment", http.StatusBadRequest)
		case err != nil:
			m.c.Logger.Error("a message of the payment provider could not be handled; the provider sends it again", "error", err)
			http.Error(w, "it could not be handled", http.StatusInternalServerError)
		}
	})
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, text+"\n")
		}
	}
	mux.HandleFunc("GET /paid", say("Paid. The market holds the price as soon as the payment provider has told it, mostly within seconds. You can close this page; locket market orders says how the order stands."))
	mux.HandleFunc("GET /left", say("Nothing was paid. You can close this page. An order that is not paid lapses within a day; locket market pay ORDER --card pays it."))
	return mux
}

package market

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/sync/trade"
)

// AgentAnswer is the answer to an agent that pays an order by x402.
type AgentAnswer struct {
	Status int         `json:"-"`
	Header http.Header `json:"-"`

	Order       string      `json:"order"`
	Phase       trade.Phase `json:"phase"`
	Payment     string      `json:"payment"` // none, required, refused, pending, unclear or settled
	Transaction string      `json:"transaction,omitempty"`
	Reason      string      `json:"reason,omitempty"`
}

// lastMoment is how many seconds before its end an order can no longer be paid by x402, because the
// network needs some.
const lastMoment = 120

// request is the price of an order.
func request(s *trade.State) pay.Request {
	return pay.Request{Key: s.ID.String(), Payer: s.Order.Buyer.String(), Order: s.ID.String(),
		Money: ledger.Money{Minor: int64(s.Order.Price), Currency: ledger.Currency(s.Order.Currency)}}
}

// Wallet answers an agent that requests an order's address, with or without a payment. pass is the
// address's pass, which [Market.Checkout] told the buyer: whoever has it may pay, and the order
// remains its buyer's. Repeating a payment gives the first answer, and moves no more money. from is
// the address from which the request came.
func (m *Market) Wallet(ctx context.Context, id trade.Hash, pass, from string, h http.Header) (*AgentAnswer, error) {
	if m.c.X402 == nil || !m.c.X402.IsPassOf(id.String(), pass) {
		return nil, fmt.Errorf("order %s: %w", id, ErrNotFound)
	}
	s, err := m.readOrder(ctx, id)
	if err != nil {
		return nil, err
	}
	var failed error
	if s.Phase == trade.Ordered {
		switch {
		case h.Get(x402.FieldSignature) == "":
		case s.Deadline-m.c.Now().Unix() < lastMoment:
			failed = &x402.RefusedError{Reason: "the order lapses in less than two minutes"}
		default:
			r := request(s)
			failed = m.c.X402.Settle(ctx, pay.Proof{Payer: r.Payer, From: from, Header: h, For: &r}, m.funds(x402.Name))
			if s, err = m.readOrder(ctx, id); err != nil {
				return nil, err
			}
		}
	}
	return m.asked(ctx, s, failed)
}

// asked describes the state of a payment.
func (m *Market) asked(ctx context.Context, s *trade.State, failed error) (*AgentAnswer, error) {
	receipt, err := m.c.X402.ReceiptOf(ctx, s.ID.String())
	a := &AgentAnswer{Status: http.StatusOK, Header: http.Header{}, Order: s.ID.String(), Phase: s.Phase, Payment: "none"}
	if s.Phase.Paid() { // only its parties may learn what happened afterwards
		a.Phase = trade.Funded
	}
	if receipt != nil {
		a.Header.Set(x402.FieldResponse, receipt.Header())
		a.Transaction, a.Payment = receipt.Transaction, "settled"
	}
	var refused *x402.RefusedError
	switch {
	case errors.Is(err, x402.ErrUnclear):
		a.Status, a.Payment, a.Reason = http.StatusAccepted, "unclear", err.Error()
		return a, nil
	case errors.Is(err, x402.ErrPending), errors.Is(failed, x402.ErrPending):
		a.Status, a.Payment, a.Reason = http.StatusAccepted, "pending", x402.ErrPending.Error()
		a.Header.Set("Retry-After", "10")
		if receipt == nil { // a moment ago it was another payment's
			a.Header.Set(x402.FieldResponse, m.c.X402.PendingReceipt().Header())
		}
		return a, nil
	case err != nil:
		return nil, err
	case s.Phase != trade.Ordered || receipt != nil: // including an order whose end no sweep has handled yet
		if !s.Phase.Paid() { // money that came too late belongs to the buyer
			a.Status = http.StatusConflict
		}
		return a, nil
	case errors.Is(failed, x402.ErrFacilitator):
		m.c.Logger.Error("a payment by x402 was not verified; nothing was sent", "error", failed)
		a.Status, a.Reason = http.StatusServiceUnavailable, x402.ErrFacilitator.Error()
		a.Header.Set("Retry-After", "10")
		return a, nil
	case errors.Is(failed, pay.ErrTries):
		a.Status, a.Payment, a.Reason = http.StatusTooManyRequests, "refused", pay.ErrTries.Error()
		a.Header.Set("Retry-After", "600")
		return a, nil
	case errors.As(failed, &refused):
		a.Payment, a.Reason = "refused", refused.Reason
	case errors.Is(failed, pay.ErrUsed):
		a.Payment, a.Reason = "refused", pay.ErrUsed.Error()
	case failed != nil:
		return nil, failed
	default:
		a.Payment = "required"
	}
	required, err := m.c.X402.Required(request(s), a.Reason)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", trade.ErrForm, err)
	}
	a.Status = http.StatusPaymentRequired
	a.Header.Set(x402.FieldRequired, required.Header())
	return a, nil
}

// readOrder reads an order without locking it.
func (m *Market) readOrder(ctx context.Context, id trade.Hash) (s *trade.State, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		var buyer []byte
		if err := one(tx.QueryRowContext(ctx, `SELECT buyer FROM orders WHERE id = $1`, id[:]), &buyer); err != nil {
			return fmt.Errorf("order %s: %w", id, err)
		}
		c, _, err := m.read(ctx, tx, id, trade.Key(buyer))
		if err == nil {
			s, err = c.Replay()
		}
		return err
	})
	return s, err
}

// funds books a payment and funds its order in one transaction. If the order can't be funded, the
// money remains its buyer's.
func (m *Market) funds(provider string) pay.Book {
	book := pay.Deposits(m.ledger, provider)
	return func(ctx context.Context, tx *sql.Tx, f pay.Fact) error {
		if f.Order == "" { // another payment may have funded it
			return book(ctx, tx, f)
		}
		left := func(why error) {
			m.c.Logger.Info("a payment came for an order that can't be funded: the money stays the buyer's", "order", f.Order, "why", why)
		}
		var id trade.Hash
		if err := id.UnmarshalText([]byte(f.Order)); err != nil {
			return err
		}
		c, err := m.chain(ctx, tx, id) // first, because a payment from a balance locks the order, then the accounts
		if err != nil && !unfit(err) {
			return err
		}
		var s *trade.State
		if err == nil {
			s, err = c.Replay()
		}
		if err != nil {
			left(err)
			return book(ctx, tx, f)
		}
		if err := book(ctx, tx, f); err != nil || s.Phase != trade.Ordered {
			return err
		}
		if _, err := tx.ExecContext(ctx, `SAVEPOINT funding`); err != nil {
			return err
		}
		if err = m.takeOwnStep(ctx, tx, &c, s, trade.Fund); !unfit(err) {
			return err
		}
		left(err)
		_, err = tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT funding`)
		return err
	}
}

// unfit reports whether an error is about an order, and not about the database: a retry would give
// the same error.
func unfit(err error) bool {
	return slices.ContainsFunc([]error{trade.ErrForm, trade.ErrSignature, trade.ErrParty, trade.ErrPhase, trade.ErrLate, trade.ErrChain, trade.ErrPrice, trade.ErrRoot,
		ErrNotFound, ErrEnded, ErrVersion, ErrFunds, ErrEarly, ErrFull, ledger.ErrFunds, ledger.ErrHolder, ledger.ErrAmount, ledger.ErrAccount},
		func(one error) bool { return errors.Is(err, one) })
}

// wallets refuses an amount that can't be paid out to an address.
func (m *Market) wallets(to string, money ledger.Money) error {
	if m.c.X402 == nil {
		return fmt.Errorf("to: %w: this market pays out only by vouchers", trade.ErrForm)
	}
	if err := m.c.X402.Payable(to, money); err != nil {
		return fmt.Errorf("to: %w: %v", trade.ErrForm, err)
	}
	return nil
}

// Open lists what waits for the operator, as [x402.Provider.Waiting] does.
func (m *Market) Open(ctx context.Context) ([]trade.Open, error) {
	out := []trade.Open{}
	if m.c.X402 == nil {
		return out, nil
	}
	all, err := m.c.X402.Waiting(ctx)
	for _, o := range all {
		v := trade.Open{Payout: o.Payout, Order: o.Order, Address: o.Address, Minor: o.Money.Minor, Currency: string(o.Money.Currency), Amount: o.Amount, Transaction: o.Tx, Reason: o.Reason, At: o.At, By: o.By, Network: o.Network, Asset: o.Asset}
		if err := v.ID.UnmarshalText([]byte(o.ID)); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, err
}

// CloseOpen records the operator's decision. A payment that was settled is booked by [Market.Run].
func (m *Market) CloseOpen(ctx context.Context, c trade.Closed) error {
	if m.c.X402 == nil {
		return fmt.Errorf("%s: %w", c.ID, ErrNotFound)
	}
	err := m.c.X402.Resolve(ctx, c.ID.String(), c.Transaction, c.Together)
	if errors.Is(err, x402.ErrNone) {
		return fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	return err
}

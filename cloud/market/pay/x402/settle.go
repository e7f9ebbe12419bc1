package x402

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/internal/wait"
)

// A payment's states. Only a booked one is money.
//
//	sent  → settled  the facilitator or the operator says so
//	sent  → refused  at the first try, for a reason that is found before anything is broadcast
//	        → unclear  the verification says that it was used before it was sent
//	sent  → unclear  the nonce is used, the balance too small, the answer contradicts the payment, or the authorization has ended without an answer
//	unclear → settled   by a later answer of the facilitator
//	unclear → settled, refused   the operator says so
//	refused → settled  the operator says so; another payment may have paid the order, so this is only the buyer's money (extra)
//	settled → booked    with the deposit, in one transaction
const (
	sent    = "sent"
	unclear = "unclear"
	refused = "refused"
	settled = "settled"
	booked  = "booked"
)

// grace is how many seconds after an authorization's end the facilitator is still asked about it.
const grace = 600

// lease is for how many seconds only one process asks the facilitator.
const lease = int64(settleTime/time.Second) + 30

// row is a payment in the tables.
type row struct {
	id, order, buyer, payer, state, tx, reason string
	request                                    []byte
	money                                      ledger.Money
	validBefore, tries, busy, next, extra      int64
}

const columns = `id, of, buyer, payer, state, tx, reason, request, minor, currency, valid_before, tries, busy, next, extra`

func scan(s interface{ Scan(...any) error }) (*row, error) {
	r := &row{}
	var request string
	err := s.Scan(&r.id, &r.order, &r.buyer, &r.payer, &r.state, &r.tx, &r.reason, &request, &r.money.Minor, &r.money.Currency, &r.validBefore, &r.tries, &r.busy, &r.next, &r.extra)
	r.request = []byte(request)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// find returns a payment by its id, or an order's payment that was not refused; nil if there is
// none.
func (p *Provider) find(ctx context.Context, id, order string) (r *row, err error) {
	err = p.db.Read(ctx, func(tx *sql.Tx) error {
		r, err = scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM x402_payments WHERE id = $1 OR of = $2 AND state <> 'refused' AND extra = 0`, id, order))
		return err
	})
	return r, err
}

// Settle implements [pay.Provider]: the proof is a request with [FieldSignature], and For is what
// it pays. It waits for the facilitator, even if the agent does not. In addition to the errors of
// [pay.Provider] it returns [ErrPending], [ErrUnclear], [ErrFacilitator] and [pay.ErrTries].
func (p *Provider) Settle(ctx context.Context, proof pay.Proof, book pay.Book) error {
	if err := p.collect(context.WithoutCancel(ctx), proof, book); err != nil {
		return fmt.Errorf("take payment by x402: %w", err)
	}
	return nil
}

func (p *Provider) collect(ctx context.Context, proof pay.Proof, book pay.Book) error {
	if proof.For == nil {
		return &RefusedError{"it does not say what it pays"}
	}
	m, err := p.read(proof.Header, *proof.For)
	if err != nil {
		return err
	}
	was, err := p.find(ctx, m.id, "")
	if err != nil {
		return err
	}
	if was == nil {
		if err := m.fresh(p.c.Now().Unix()); err != nil {
			return err
		}
		other, err := p.find(ctx, "", proof.For.Order)
		if err != nil {
			return err
		}
		if other != nil && other.id != m.id {
			return ErrPending // this one is not sent
		}
		leave, err := p.pace.enter(ctx, proof.From, proof.For.Payer, p.c.Now())
		if err != nil {
			return err
		}
		refused := p.verify(ctx, m)
		leave(refused != nil)
		var why *RefusedError
		if refused == nil {
			was, err = p.reserve(ctx, m, *proof.For, outcome{state: sent})
		} else if errors.As(refused, &why) && strings.Contains(why.Reason, "nonce_already_used") { // it was settled elsewhere, or cancelled
			was, err = p.reserve(ctx, m, *proof.For, outcome{state: unclear, reason: why.Reason})
		} else if was, err = p.find(ctx, m.id, ""); err == nil && was == nil { // a concurrent call with the same payment may have settled it meanwhile
			err = refused
		}
		if err != nil {
			return err
		}
	}
	if was.order != proof.For.Order || was.buyer != proof.For.Payer || was.money != proof.For.Money {
		return fmt.Errorf("%w: the authorization pays another order", pay.ErrUsed)
	}
	return p.advance(ctx, m.id, book)
}

// reserve stores a payment before it is sent, or because it may be settled already. If the order
// has another payment, this one is never sent.
func (p *Provider) reserve(ctx context.Context, m *payment, r pay.Request, o outcome) (was *row, err error) {
	err = p.db.Change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO x402_payments (id, of, buyer, minor, currency, payer, request, valid_before, state, reason, at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
			m.id, r.Order, r.Payer, r.Money.Minor, r.Money.Currency, m.auth.From, string(m.request), m.validBefore, o.state, o.reason, p.c.Now().Unix()); err != nil {
			return err
		}
		if was, err = scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM x402_payments WHERE id = $1`, m.id)); err != nil || was != nil {
			return err
		}
		return ErrPending // another payment pays the order
	})
	return was, err
}

// advance moves a payment as far as possible now.
func (p *Provider) advance(ctx context.Context, id string, book pay.Book) error {
	for {
		r, err := p.find(ctx, id, "")
		if err != nil || r == nil {
			return errors.Join(err, fmt.Errorf("payment %s is not here", id))
		}
		now := p.c.Now().Unix()
		switch {
		case r.state == booked && r.extra > 0:
			return &RefusedError{"its money is the buyer's at the market"}
		case r.state == booked:
			return nil
		case r.state == settled:
			return p.book(ctx, r, book)
		case r.state == refused:
			return &RefusedError{reasonOr(r.reason)}
		case r.state == unclear:
			return ErrUnclear
		case r.busy > now: // another process asks about it
			if !wait.For(ctx, 100*time.Millisecond) {
				return ctx.Err()
			}
		case r.next > now:
			return ErrPending
		default:
			if err := p.send(ctx, r, now); err != nil {
				return err
			}
		}
	}
}

// send asks the facilitator to settle, unless another process is doing so, and stores the
// answer.
func (p *Provider) send(ctx context.Context, r *row, now int64) error {
	if !p.begins() { // it will be sent after the next start
		return ErrPending
	}
	defer p.sending.Done()
	mine := false
	err := p.db.Change(ctx, func(tx *sql.Tx) error {
		n, err := tables.Affected(tx.ExecContext(ctx, `UPDATE x402_payments SET tries = tries + 1, busy = $2 WHERE id = $1 AND state = 'sent' AND tries = $3 AND busy <= $4`, r.id, now+lease, r.tries, now))
		mine = n > 0
		return err
	})
	if err != nil || !mine {
		return err
	}
	o := p.settle(ctx, r)
	return p.db.Change(ctx, func(tx *sql.Tx) error {
		if o.state == settled {
			var others int
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM x402_payments WHERE tx = $1 AND id <> $2 AND state IN ('settled', 'booked')`, o.tx, r.id).Scan(&others); err != nil {
				return err
			}
			if others > 0 {
				o.state, o.reason = unclear, "the facilitator names a transaction that it named before"
			}
		}
		next := int64(0)
		if o.state == sent {
			next = p.c.Now().Unix() + backoff(r.tries)
		}
		// Another process may have marked it unclear meanwhile; that it was settled takes
		// precedence.
		n, err := tables.Affected(tx.ExecContext(ctx, `UPDATE x402_payments SET state = $2, tx = $3, reason = $4, busy = 0, next = $5 WHERE id = $1
			AND (state = 'sent' OR state = 'unclear' AND $6 = 1)`, r.id, o.state, o.tx, o.reason, next, one(o.state == settled)))
		if err != nil || n > 0 {
			return err
		}
		p.c.Logger.Warn("x402: an answer came after the outcome of the payment was known already", "payment", r.id, "order", r.order, "answer", o.state, "transaction", o.tx, "reason", o.reason)
		_, err = tx.ExecContext(ctx, `UPDATE x402_payments SET tx = $2 WHERE id = $1 AND tx = '' AND state IN ('unclear', 'refused')`, r.id, o.tx)
		return err
	})
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

type outcome struct{ state, tx, reason string }

// final are reasons for which a facilitator refuses before it broadcasts anything (@x402/evm,
// exact/facilitator; specs/x402-specification-v2.md, section 9).
var final = []string{"invalid_exact_evm_signature", "invalid_exact_evm_payload_signature", "invalid_exact_evm_payload_authorization_valid_after",
	"invalid_exact_evm_payload_authorization_value_mismatch", "invalid_exact_evm_payload_authorization_value", "invalid_exact_evm_recipient_mismatch",
	"invalid_exact_evm_payload_recipient_mismatch", "invalid_exact_evm_scheme", "invalid_exact_evm_network_mismatch", "invalid_exact_evm_missing_eip712_domain",
	"invalid_network", "invalid_scheme", "unsupported_scheme", "invalid_payload", "invalid_payment_requirements", "invalid_x402_version"}

// after are reasons that it also gives if the payment was settled before: the balance is reduced by
// it, and its time is over.
var after = []string{"nonce_already_used", "insufficient_funds", "insufficient_balance", "authorization_valid_before"}

func isAfter(reason string) bool {
	return slices.ContainsFunc(after, func(s string) bool { return strings.Contains(reason, s) })
}

// settle asks the facilitator, and evaluates its answer.
func (p *Provider) settle(ctx context.Context, r *row) outcome {
	s, err := p.ask(ctx, "/settle", r.request, settleTime)
	o := outcome{sent, r.tx, ""}
	if hash.MatchString(s.Transaction) {
		o.tx = strings.ToLower(s.Transaction)
	}
	var asked struct{ PaymentRequirements requirements }
	err = errors.Join(err, json.Unmarshal(r.request, &asked))
	switch {
	case err != nil:
		o.reason = short(err.Error())
	case s.Success == nil || *s.Success && s.status != http.StatusOK:
		o.reason = fmt.Sprintf("the facilitator answers %d, and neither yes nor no", s.status)
	case *s.Success:
		o.state = settled
		switch {
		case !hash.MatchString(s.Transaction):
			o.state, o.reason = unclear, "the facilitator names no transaction"
		case s.Network != asked.PaymentRequirements.Network:
			o.state, o.reason = unclear, "the facilitator names another network"
		case s.Payer != nil && !strings.EqualFold(*s.Payer, r.payer):
			o.state, o.reason = unclear, "the facilitator names another payer"
		case s.Amount != nil && *s.Amount != asked.PaymentRequirements.Amount:
			o.state, o.reason = unclear, "the facilitator names another amount"
		}
	case isAfter(s.ErrorReason):
		o.state, o.reason = unclear, short(s.ErrorReason)
	case r.tries == 0 && s.Transaction == "" && slices.Contains(final, s.ErrorReason) && slices.Contains([]int{200, 400, 402}, s.status):
		o.state, o.reason = refused, short(s.ErrorReason)
	default:
		o.reason = reasonOr(s.ErrorReason)
	}
	if o.state == sent && p.c.Now().Unix() > r.validBefore+grace {
		o.state = unclear
	}
	return o
}

// book books a payment that was settled.
func (p *Provider) book(ctx context.Context, r *row, book pay.Book) error {
	order := r.order
	if r.extra > 0 {
		order = ""
	}
	return p.db.Change(ctx, func(tx *sql.Tx) error {
		if err := book(ctx, tx, pay.Fact{Kind: pay.Paid, Key: r.id, Payer: r.buyer, Order: order, Money: r.money}); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE x402_payments SET state = 'booked' WHERE id = $1 AND state = 'settled'`, r.id)
		return err
	})
}

// ReceiptOf returns the receipt of an order's payment that was not refused. It returns nil if there is
// none, and [ErrPending] or [ErrUnclear] if the outcome is not known yet.
func (p *Provider) ReceiptOf(ctx context.Context, order string) (*Receipt, error) {
	r, err := p.find(ctx, "", order)
	if err != nil || r == nil {
		return nil, err
	}
	a := &Receipt{Success: r.state == booked, Payer: r.payer, Transaction: r.tx, Network: p.c.Network}
	switch r.state {
	case booked:
		return a, nil
	case unclear:
		a.ErrorReason = "settlement_unclear"
		return a, ErrUnclear
	}
	a.ErrorReason = "settlement_pending"
	return a, ErrPending
}

// PendingReceipt is the receipt of a payment that is on its way.
func (p *Provider) PendingReceipt() Receipt {
	return Receipt{ErrorReason: "settlement_pending", Network: p.c.Network}
}

// Package stripe takes payments through Stripe Checkout, on a page of Stripe, and pays sellers by
// transfers to their connected accounts. No card number passes the market.
//
// It uses four calls of Stripe's API over net/http (docs.stripe.com/api), and receives signed
// webhooks (docs.stripe.com/webhooks#verify-manually).
package stripe

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// Name is the provider's account in the ledger.
const Name = "stripe"

// Version is the version of Stripe's API for which this is written; the account's own may differ.
const Version = "2026-08-26.dahlia"

// ErrPending: a payout was requested and Stripe did not report the result. Repeating the call finds
// out.
var ErrPending = errors.New("stripe did not say whether it paid")

// currencies are those whose minor units are the same at Stripe (docs.stripe.com/currencies has
// those that differ, such as ISK).
var currencies = []ledger.Currency{"AUD", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "JPY", "NOK", "NZD", "PLN", "SEK", "SGD", "USD"}

// Config is the operator's account at Stripe.
type Config struct {
	Key     string // secret: sk_live_… or sk_test_…, or a restricted one
	Webhook string // secret that signs webhooks: whsec_…
	Success string // the market's page after a payment
	Cancel  string // … and after the payer cancelled
	Title   string // title on Stripe's page; empty: "Market"
	API     string // empty: https://api.stripe.com
	HTTP    *http.Client
	Now     func() time.Time // nil: this machine's clock
}

// Provider implements [pay.Provider].
type Provider struct {
	db *tables.DB
	c  Config
}

var _ pay.Provider = (*Provider)(nil)

// New makes the provider for an account at Stripe.
func New(db *tables.DB, c Config) (*Provider, error) {
	if !strings.Contains(c.Key, "_live_") && !strings.Contains(c.Key, "_test_") {
		return nil, errors.New("stripe: the key is not a secret key: want sk_live_… or sk_test_…")
	}
	if c.Webhook == "" {
		return nil, errors.New("stripe: the secret of webhooks is missing: want whsec_…")
	}
	for _, page := range []string{c.Success, c.Cancel} {
		if u, err := url.Parse(page); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("stripe: %q is not the address of a page", page)
		}
	}
	c.API = cmp.Or(c.API, "https://api.stripe.com")
	c.Title = cmp.Or(c.Title, "Market")
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Provider{db, c}, nil
}

func (p *Provider) Name() string { return Name }

// live reports whether the key moves real money.
func (p *Provider) live() bool { return strings.Contains(p.c.Key, "_live_") }

func coin(m ledger.Money) error {
	if !slices.Contains(currencies, m.Currency) || m.Minor < 1 || m.Minor > ledger.MaxAmount {
		return fmt.Errorf("%w: %s: want an amount in one of %v", ledger.ErrAmount, m, currencies)
	}
	return nil
}

// Begin implements [pay.Provider]: it returns the address of a page of Stripe.
func (p *Provider) Begin(ctx context.Context, r pay.Request) (pay.Step, error) {
	if err := coin(r.Money); err != nil {
		return pay.Step{}, fmt.Errorf("begin payment by Stripe: %w", err)
	}
	var s struct{ ID, URL string }
	err := p.call(ctx, http.MethodPost, "/v1/checkout/sessions", "begin "+r.Key, url.Values{
		"mode":                                   {"payment"},
		"success_url":                            {p.c.Success},
		"cancel_url":                             {p.c.Cancel},
		"line_items[0][quantity]":                {"1"},
		"line_items[0][price_data][currency]":    {strings.ToLower(string(r.Money.Currency))},
		"line_items[0][price_data][unit_amount]": {strconv.FormatInt(r.Money.Minor, 10)},
		"line_items[0][price_data][product_data][name]": {p.c.Title},
		// Stripe returns these with the payment, and with later events about it.
		"payment_intent_data[metadata][payer]": {r.Payer},
		"payment_intent_data[metadata][order]": {r.Order},
	}, &s)
	if err != nil {
		return pay.Step{}, fmt.Errorf("begin payment by Stripe: %w", err)
	}
	return pay.Step{URL: s.URL, Say: "Pay " + r.Money.String() + " on the page of Stripe."}, nil
}

// intent is the part of a PaymentIntent that this package reads.
type intent struct {
	ID             string
	Status         string
	AmountReceived int64 `json:"amount_received"`
	Currency       string
	Livemode       bool
	Metadata       struct{ Payer, Order string }
}

// Settle implements [pay.Provider]: the proof is a webhook, unchanged. The state of the payment is
// read from Stripe, so the order in which webhooks come does not matter. If Stripe can't be asked,
// the error is not [pay.ErrProof], and Stripe sends the webhook again.
func (p *Provider) Settle(ctx context.Context, proof pay.Proof, book pay.Book) error {
	facts, err := p.facts(ctx, proof)
	if err == nil && len(facts) > 0 {
		err = p.db.Change(ctx, func(tx *sql.Tx) error {
			for _, f := range facts {
				if err := book(ctx, tx, f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("take webhook of Stripe: %w", err)
	}
	return nil
}

func (p *Provider) facts(ctx context.Context, proof pay.Proof) ([]pay.Fact, error) {
	if err := verify(p.c.Webhook, proof.Header.Get("Stripe-Signature"), proof.Body, p.c.Now()); err != nil {
		return nil, err
	}
	var e struct {
		Type     string
		Livemode bool
		Data     struct {
			Object struct {
				ID            string
				PaymentIntent string `json:"payment_intent"`
				Amount        int64
				Currency      string
				Status        string
			}
		}
	}
	if err := json.Unmarshal(proof.Body, &e); err != nil {
		return nil, fmt.Errorf("%w: %v", pay.ErrProof, err)
	}
	if e.Livemode != p.live() {
		return nil, fmt.Errorf("%w: the webhook and the key do not match: one of them is for tests", pay.ErrProof)
	}
	o := e.Data.Object
	kind, key := pay.Paid, o.PaymentIntent
	switch e.Type {
	case "payment_intent.succeeded":
		o.PaymentIntent, key = o.ID, o.ID
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
	case "refund.created", "refund.updated", "charge.refund.updated":
		if o.Status != "succeeded" {
			return nil, nil
		}
		kind, key = pay.Reversed, o.ID
	case "charge.dispute.funds_withdrawn":
		kind, key = pay.Reversed, o.ID
	default:
		return nil, nil // an event that is of no interest here
	}
	if o.PaymentIntent == "" {
		return nil, nil // not a payment page of this package: it stores a card, begins a subscription or is free
	}
	if !strings.HasPrefix(o.PaymentIntent, "pi_") || strings.ContainsAny(o.PaymentIntent, "/?#%") {
		return nil, fmt.Errorf("%w: it names the payment %q", pay.ErrProof, o.PaymentIntent)
	}
	var i intent
	if err := p.call(ctx, http.MethodGet, "/v1/payment_intents/"+o.PaymentIntent, "", nil, &i); err != nil {
		return nil, err
	}
	if i.Metadata.Payer == "" || i.Livemode != p.live() {
		return nil, nil // not begun here: the operator's account takes other payments, too
	}
	f := pay.Fact{Kind: kind, Key: key, Payer: i.Metadata.Payer, Order: i.Metadata.Order,
		Money: ledger.Money{Minor: o.Amount, Currency: ledger.Currency(strings.ToUpper(o.Currency))}}
	if kind == pay.Paid {
		if i.Status != "succeeded" { // a page was filled in; the money comes later, or never
			return nil, nil
		}
		f.Money = ledger.Money{Minor: i.AmountReceived, Currency: ledger.Currency(strings.ToUpper(i.Currency))}
	}
	return []pay.Fact{f}, coin(f.Money)
}

// Payout implements [pay.Provider]: to is a connected account, acct_…, and the result is the id of
// the transfer.
func (p *Provider) Payout(ctx context.Context, key, to string, m ledger.Money) (string, error) {
	id, err := p.payout(ctx, key, to, m)
	if err != nil {
		return "", fmt.Errorf("pay out by Stripe: %w", err)
	}
	return id, nil
}

func (p *Provider) payout(ctx context.Context, key, to string, m ledger.Money) (string, error) {
	if err := coin(m); err != nil {
		return "", err
	}
	var was struct {
		to, id, declined string
		m                ledger.Money
	}
	first := false
	err := p.db.Change(ctx, func(tx *sql.Tx) error {
		n, err := tables.Affected(tx.ExecContext(ctx, `INSERT INTO stripe_transfers (key, payee, minor, currency) VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO NOTHING`, key, to, m.Minor, m.Currency))
		if err != nil {
			return err
		}
		first = n > 0
		return tx.QueryRowContext(ctx, `SELECT payee, minor, currency, transfer, declined FROM stripe_transfers WHERE key = $1`, key).
			Scan(&was.to, &was.m.Minor, &was.m.Currency, &was.id, &was.declined)
	})
	switch {
	case err != nil:
		return "", err
	case was.to != to || was.m != m:
		return "", fmt.Errorf("%w: %s to %s", ledger.ErrKey, was.m, was.to)
	case was.declined != "":
		return "", fmt.Errorf("%w: %s", pay.ErrDeclined, was.declined)
	case was.id != "":
		return was.id, nil
	}
	// Stripe forgets a key after a day, but never its transfers.
	var id string
	if !first {
		if id, err = p.find(ctx, key); err != nil {
			return "", err
		}
	}
	if id == "" {
		var t struct{ ID string }
		err = p.call(ctx, http.MethodPost, "/v1/transfers", "transfer "+key, url.Values{"amount": {strconv.FormatInt(m.Minor, 10)},
			"currency": {strings.ToLower(string(m.Currency))}, "destination": {to}, "transfer_group": {key}}, &t)
		id = t.ID
	}
	declined := ""
	if errors.Is(err, pay.ErrDeclined) {
		declined = err.Error()
	} else if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPending, err)
	}
	return id, errors.Join(err, p.db.Change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE stripe_transfers SET transfer = $2, declined = $3 WHERE key = $1`, key, id, declined)
		return err
	}))
}

// find returns the transfer that was made under a key, if there is one.
func (p *Provider) find(ctx context.Context, key string) (string, error) {
	var all struct{ Data []struct{ ID string } }
	err := p.call(ctx, http.MethodGet, "/v1/transfers?"+url.Values{"transfer_group": {key}, "limit": {"1"}}.Encode(), "", nil, &all)
	if err != nil || len(all.Data) == 0 {
		return "", err
	}
	return all.Data[0].ID, nil
}

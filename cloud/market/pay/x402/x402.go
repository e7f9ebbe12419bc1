// Package x402 takes payments of agents by x402, version 2 (x402.org). An agent requests a
// resource, gets 402 with the price, and repeats the request with an authorization that it signed
// (EIP-3009, the scheme "exact" on EVM networks). A facilitator, a service that the operator names,
// verifies the authorization and makes the network move the money.
//
// This is only the resource server. It does not talk to a network or check its signatures; it
// checks everything that an authorization says. The signature covers payer, payee and amount, but
// no order: an authorization is bound to an order by the first request that brings it, which the
// tables record.
//
// A facilitator may lose an answer after the money moved. So its requests are stored before they
// are sent, and repeated with the same bytes. If nobody can tell the outcome, it is [ErrUnclear]:
// the operator looks on the network, and decides. Nothing is booked before the facilitator or the
// operator confirms that it was settled.
package x402

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// Name is the provider's account in the ledger.
const Name = "x402"

// Errors that callers can tell apart, in addition to those of package pay.
var (
	// ErrPending: the facilitator has an authorization and did not report the outcome yet. It is
	// asked again; nobody needs to pay again.
	ErrPending = errors.New("the payment is on its way")
	// ErrUnclear: it is unknown whether the money moved, until the operator looks.
	ErrUnclear = errors.New("it is not clear whether the payment was settled: the operator has to look into it")
	// ErrFacilitator: it can't be asked, or its answer is invalid. Nothing was sent to be settled.
	ErrFacilitator = errors.New("the facilitator can't be asked")
)

// RefusedError says why a payment was not taken, in the facilitator's words if it refused. It is a
// [pay.ErrProof].
type RefusedError struct{ Reason string }

func (r *RefusedError) Error() string { return pay.ErrProof.Error() + ": " + r.Reason }

// Unwrap makes it [pay.ErrProof].
func (r *RefusedError) Unwrap() error { return pay.ErrProof }

// maxTimeout is for how many seconds an authorization has to be valid.
const maxTimeout = 300

// Config says which payments the operator takes, and through which facilitator.
type Config struct {
	Facilitator string // URL; https, or this machine
	Token       string // "Authorization: Bearer" for the facilitator; may be empty
	PayTo       string // address that is paid
	Network     string // eip155:8453
	Asset       string // address of the token's contract
	AssetName   string // the token's name in its signatures (EIP-712): "USD Coin"
	AssetVer    string // … and its version: "2"
	Decimals    int    // of the token; e.g. 6
	Currency    ledger.Currency
	Base        string // URL of this relay, as agents reach it
	Secret      []byte // for the addresses of orders; 32 bytes
	HTTP        *http.Client
	Now         func() time.Time // nil: this machine's clock
	Logger      *slog.Logger     // nil: nothing is logged
}

// Provider implements [pay.Provider].
type Provider struct {
	db     *tables.DB
	c      Config
	digits int // digits of the currency
	pace   *pace

	mu      sync.Mutex // guards closed, and ensures that nothing is added to sending afterwards
	closed  bool
	sending sync.WaitGroup
}

var _ pay.Provider = (*Provider)(nil)

var (
	address = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	hash    = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)
	chain   = regexp.MustCompile(`^eip155:[1-9][0-9]{0,17}$`)
)

// New checks the configuration, without asking anybody.
func New(db *tables.DB, c Config) (*Provider, error) {
	for what, u := range map[string]string{"facilitator": c.Facilitator, "market": c.Base} {
		if err := safe(u); err != nil {
			return nil, fmt.Errorf("x402: address of the %s: %w", what, err)
		}
	}
	digits, err := c.Currency.Digits()
	switch {
	case err != nil:
		return nil, fmt.Errorf("x402: %w", err)
	case !address.MatchString(c.PayTo) || !address.MatchString(c.Asset):
		return nil, fmt.Errorf("x402: the payee and the asset have to be addresses, 0x and 40 hexadecimal characters, but are %.60q and %.60q", c.PayTo, c.Asset)
	case !chain.MatchString(c.Network):
		return nil, fmt.Errorf("x402: network: %.40q: want eip155: and a number", c.Network)
	case c.Decimals < 0 || c.Decimals > 36:
		return nil, fmt.Errorf("x402: decimals: %d: want 0 to 36", c.Decimals)
	case c.AssetName == "" || c.AssetVer == "":
		return nil, errors.New("x402: the asset's name and version are missing: without them no agent can sign")
	case len(c.Secret) != 32:
		return nil, errors.New("x402: the secret has 32 bytes")
	}
	c.Facilitator, c.Base = strings.TrimRight(c.Facilitator, "/"), strings.TrimRight(c.Base, "/")
	if c.HTTP == nil {
		c.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Provider{db: db, c: c, digits: digits, pace: newPace()}, nil
}

// Close stops further settlements, and waits until the running requests to the facilitator are
// answered and stored, little longer than their timeout. The database has to be closed after it.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { p.sending.Wait(); close(done) }()
	end := time.NewTimer(settleTime + keepTime)
	defer end.Stop()
	select {
	case <-done:
		return nil
	case <-end.C:
		return errors.New("x402: an answer of the facilitator could not be saved: it is asked again after the next start")
	}
}

// begins reports whether something may still be sent. If so, the caller has to call sending.Done.
func (p *Provider) begins() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.sending.Add(1)
	}
	return !p.closed
}

// safe allows https, and http only to this machine.
func safe(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%.80q: want https://HOST", raw)
	}
	if u.Scheme == "https" || u.Scheme == "http" && clientaddr.Loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%.80q: want https://, or http:// to this machine", raw)
}

func (p *Provider) Name() string { return Name }

// Amount converts m to units of the asset, exactly.
func (p *Provider) Amount(m ledger.Money) (string, error) {
	if m.Currency != p.c.Currency || m.Minor < 1 || m.Minor > ledger.MaxAmount {
		return "", fmt.Errorf("%w: %s: by x402 this market accepts only %s", ledger.ErrAmount, m, p.c.Currency)
	}
	ten := big.NewInt(10)
	n := new(big.Int).Mul(big.NewInt(m.Minor), new(big.Int).Exp(ten, big.NewInt(int64(p.c.Decimals)), nil))
	n, rest := n.QuoRem(n, new(big.Int).Exp(ten, big.NewInt(int64(p.digits)), nil), new(big.Int))
	if rest.Sign() != 0 {
		return "", fmt.Errorf("%w: %s has no exact amount in an asset of %d decimals", ledger.ErrAmount, m, p.c.Decimals)
	}
	return n.String(), nil
}

// pass is the secret part of an order's address: only somebody who was told it sees the price and
// pays.
func (p *Provider) pass(order string) string {
	h := hmac.New(sha256.New, p.c.Secret)
	h.Write([]byte("x402 order\x00" + order))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// IsPassOf reports whether a pass belongs to an order.
func (p *Provider) IsPassOf(order, pass string) bool {
	return hmac.Equal([]byte(p.pass(order)), []byte(pass))
}

// Begin implements [pay.Provider]: it returns the order's address, and the header of its answer
// 402.
func (p *Provider) Begin(_ context.Context, r pay.Request) (pay.Step, error) {
	required, err := p.Required(r, "")
	if err != nil {
		return pay.Step{}, fmt.Errorf("begin payment by x402: %w", err)
	}
	return pay.Step{URL: p.resource(r.Order), Header: http.Header{"Payment-Required": {encode(required)}},
		Say: "Pay " + r.Money.String() + " with a client for x402."}, nil
}

func (p *Provider) resource(order string) string {
	return p.c.Base + "/v1/market/orders/" + order + "/x402?pass=" + p.pass(order)
}

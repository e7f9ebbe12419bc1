package x402test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Side is a facilitator, and the network behind it. It refuses what the one of @x402/evm 2.27.0
// refuses, with its reasons.
type Side struct {
	URL string

	mu    sync.Mutex
	funds map[string]*big.Int // by address, in lower case
	used  map[string]string   // transaction by nonce
	open  map[string]string   // transactions by signature that were broadcast without a receipt

	// How many of the next settlements go that way.
	Lose    int // it is settled, and the answer is lost
	Drop    int // nothing is settled, and there is no answer
	Pending int // it is broadcast, and the network is slow
	// Refuse is the reason why the next settlement is refused, with Status if it is not 0; nothing
	// is settled.
	Refuse string
	Status int
	// ChangeAnswer changes the next answers; it may be nil. It is called with the path.
	ChangeAnswer func(path string, answer map[string]any)
	// BeforeSettle is called before a settlement, without a lock; it may be nil.
	BeforeSettle func()
	settles      int
}

// New serves until the test ends.
func New(tb testing.TB) *Side {
	s := &Side{funds: map[string]*big.Int{}, used: map[string]string{}, open: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /supported", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"kinds": []any{map[string]any{"x402Version": 2, "scheme": "exact", "network": Network}}, "extensions": []string{}, "signers": map[string]any{}})
	})
	mux.HandleFunc("POST /verify", func(w http.ResponseWriter, r *http.Request) {
		q, ok := read(w, r)
		if !ok {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		a := map[string]any{"isValid": true, "payer": q.from()}
		if why := s.refuses(q); why != "" {
			a["isValid"], a["invalidReason"] = false, why
		}
		if s.ChangeAnswer != nil {
			s.ChangeAnswer("/verify", a)
		}
		answer(w, a)
	})
	mux.HandleFunc("POST /settle", s.settle)
	h := httptest.NewServer(mux)
	tb.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Fund gives units of the token to an address.
func (s *Side) Fund(address string, units int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(address, big.NewInt(units))
}

func (s *Side) add(address string, n *big.Int) {
	address = strings.ToLower(address)
	if s.funds[address] == nil {
		s.funds[address] = new(big.Int)
	}
	s.funds[address].Add(s.funds[address], n)
}

// BalanceOf returns how many units an address has.
func (s *Side) BalanceOf(address string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.funds[strings.ToLower(address)]; n != nil {
		return n.Int64()
	}
	return 0
}

// SettleCount returns how often it was asked to settle.
func (s *Side) SettleCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settles
}

// Set changes the fields under the lock.
func (s *Side) Set(f func(*Side)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// Cancel uses up a nonce without moving money (EIP-3009, cancelAuthorization).
func (s *Side) Cancel(from, nonce string) {
	s.Set(func(s *Side) { s.used[strings.ToLower(from+nonce)] = "cancelled" })
}

type asked struct {
	X402Version    int
	PaymentPayload struct {
		X402Version int
		Accepted    struct{ Scheme, Network string }
		Payload     struct {
			Signature     string
			Authorization Authorization
		}
	}
	PaymentRequirements struct {
		Scheme, Network, Amount, Asset, PayTo string
		MaxTimeoutSeconds                     int
		Extra                                 map[string]string
	}
}

func (q *asked) from() string { return q.PaymentPayload.Payload.Authorization.From }
func (q *asked) nonce() string {
	return strings.ToLower(q.from() + q.PaymentPayload.Payload.Authorization.Nonce)
}

func read(w http.ResponseWriter, r *http.Request) (*asked, bool) {
	q := &asked{}
	d := json.NewDecoder(r.Body)
	if err := d.Decode(q); err != nil || q.X402Version != 2 || q.PaymentPayload.X402Version != 2 {
		http.Error(w, `{"error":"Missing paymentPayload or paymentRequirements"}`, http.StatusBadRequest)
		return nil, false
	}
	return q, true
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuses returns why a payment is refused, in the order of @x402/evm; empty: it is not.
func (s *Side) refuses(q *asked) string {
	a, want := q.PaymentPayload.Payload.Authorization, q.PaymentRequirements
	if q.PaymentPayload.Accepted.Scheme != "exact" || want.Scheme != "exact" {
		return "invalid_exact_evm_scheme"
	}
	if want.Extra["name"] == "" || want.Extra["version"] == "" {
		return "invalid_exact_evm_missing_eip712_domain"
	}
	if q.PaymentPayload.Accepted.Network != want.Network || want.Network != Network {
		return "invalid_exact_evm_network_mismatch"
	}
	sum, err := digest(a, want.Network, want.Asset, want.Extra["name"], want.Extra["version"])
	if err != nil || !strings.EqualFold(signer(sum, q.PaymentPayload.Payload.Signature), a.From) {
		return "invalid_exact_evm_signature"
	}
	if !strings.EqualFold(a.To, want.PayTo) {
		return "invalid_exact_evm_recipient_mismatch"
	}
	number := func(v string) *big.Int {
		n, _ := new(big.Int).SetString(v, 10)
		return n
	}
	now := time.Now().Unix()
	switch {
	case number(a.ValidBefore).Cmp(big.NewInt(now+6)) < 0:
		return "invalid_exact_evm_payload_authorization_valid_before"
	case number(a.ValidAfter).Cmp(big.NewInt(now)) > 0:
		return "invalid_exact_evm_payload_authorization_valid_after"
	case number(a.Value).Cmp(number(want.Amount)) != 0:
		return "invalid_exact_evm_payload_authorization_value_mismatch"
	case !strings.EqualFold(want.Asset, Asset):
		return "asset_not_deployed_contract"
	case want.Extra["name"] != Token:
		return "invalid_exact_evm_token_name_mismatch"
	case want.Extra["version"] != Version:
		return "invalid_exact_evm_token_version_mismatch"
	case s.used[q.nonce()] != "":
		return "invalid_exact_evm_nonce_already_used"
	case s.funds[strings.ToLower(a.From)] == nil || s.funds[strings.ToLower(a.From)].Cmp(number(a.Value)) < 0:
		return "invalid_exact_evm_insufficient_balance"
	}
	return ""
}

func (s *Side) settle(w http.ResponseWriter, r *http.Request) {
	q, ok := read(w, r)
	if !ok {
		return
	}
	if s.BeforeSettle != nil {
		s.BeforeSettle()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settles++
	p := q.PaymentPayload.Payload
	a := map[string]any{"success": false, "payer": q.from(), "transaction": "", "network": Network}
	sum := sha256.Sum256([]byte(q.nonce()))
	tx := "0x" + hex.EncodeToString(sum[:])
	was := s.open[p.Signature]
	switch why := s.refuses(q); {
	case s.Drop > 0:
		s.Drop--
		panic(http.ErrAbortHandler)
	case was != "":
		a["success"], a["transaction"] = true, was
		delete(s.open, p.Signature)
	case why != "":
		a["errorReason"] = why
	case s.Refuse != "":
		a["errorReason"], s.Refuse = s.Refuse, ""
		if s.Status != 0 {
			w.WriteHeader(s.Status)
		}
	default:
		value, _ := new(big.Int).SetString(p.Authorization.Value, 10)
		s.add(p.Authorization.From, new(big.Int).Neg(value))
		s.add(p.Authorization.To, value)
		s.used[q.nonce()] = tx
		a["success"], a["transaction"] = true, tx
	}
	if s.Lose > 0 {
		s.Lose--
		panic(http.ErrAbortHandler)
	}
	if s.Pending > 0 && a["success"] == true {
		s.Pending--
		s.open[p.Signature] = fmt.Sprint(a["transaction"])
		a["success"], a["errorReason"] = false, "settlement_pending"
	}
	if s.ChangeAnswer != nil {
		s.ChangeAnswer("/settle", a)
	}
	answer(w, a)
}

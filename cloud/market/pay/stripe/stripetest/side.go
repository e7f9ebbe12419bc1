// Package stripetest is Stripe's counterpart in tests.
package stripetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
)

// Side stands for Stripe in tests. Stripe's own stripe-mock decides which requests Stripe would
// refuse. It stores nothing, so Side stores what is begun, paid and transferred, with Stripe's
// rules for idempotency keys.
type Side struct {
	mock *server.StubServer
	URL  string

	mu      sync.Mutex
	said    map[string]string // request by idempotency key
	answers map[string]string
	intents map[string]map[string]any
	pages   map[string]string // intent by the address of a page

	Transfers []url.Values    // transfers that were made
	Fails     int             // how many of the next transfers are made without an answer
	Accounts  map[string]bool // the sellers' accounts at Stripe
}

var loaded = sync.OnceValues(func() (*server.StubServer, error) {
	spec, err := server.LoadSpec(embedded.OpenAPISpec, "")
	if err != nil {
		return nil, err
	}
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	if err != nil {
		return nil, err
	}
	return server.NewStubServer(fixtures, spec, true, false) // it refuses another version of the API
})

// New serves until the test ends.
func New(tb testing.TB) *Side {
	mock, err := loaded()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Side{mock: mock, said: map[string]string{}, answers: map[string]string{}, intents: map[string]map[string]any{}, pages: map[string]string{}, Accounts: map[string]bool{"acct_eve": true}}
	h := httptest.NewServer(s)
	tb.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Side) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	checked := r.Clone(r.Context())
	checked.Body = io.NopCloser(strings.NewReader(string(body)))
	rec := httptest.NewRecorder()
	s.mock.HandleRequest(rec, checked)
	if rec.Code != http.StatusOK {
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		return
	}
	form, _ := url.ParseQuery(string(body))
	if r.Method == http.MethodPost {
		key, request := r.Header.Get("Idempotency-Key"), r.URL.Path+"?"+form.Encode()
		if was, ok := s.said[key]; key == "" || ok && was != request {
			refuse(w, 400, "idempotency_error", "", "Keys for idempotent requests can only be used with the same parameters they were first used with.")
			return
		} else if ok {
			_, _ = io.WriteString(w, s.answers[key])
			return
		}
		s.said[key] = request
		answer := s.post(w, r.URL.Path, form)
		s.answers[key] = answer
		_, _ = io.WriteString(w, answer)
		return
	}
	if id, ok := strings.CutPrefix(r.URL.Path, "/v1/payment_intents/"); ok {
		i, ok := s.intents[id]
		if !ok {
			refuse(w, 404, "invalid_request_error", "resource_missing", "No such payment_intent: '"+id+"'")
			return
		}
		_ = json.NewEncoder(w).Encode(i)
		return
	}
	found := []any{}
	for n, t := range s.Transfers {
		if t.Get("transfer_group") == r.URL.Query().Get("transfer_group") {
			found = append(found, map[string]any{"id": fmt.Sprint("tr_", n)})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": found})
}

func (s *Side) post(w http.ResponseWriter, path string, form url.Values) string {
	if path == "/v1/transfers" {
		if !s.Accounts[form.Get("destination")] {
			return refuse(w, 400, "invalid_request_error", "resource_missing", "No such destination: '"+form.Get("destination")+"'")
		}
		s.Transfers = append(s.Transfers, form)
		if s.Fails > 0 {
			s.Fails--
			panic(http.ErrAbortHandler) // the transfer is made, and the answer lost
		}
		return fmt.Sprintf(`{"id": "tr_%d"}`, len(s.Transfers)-1)
	}
	id := fmt.Sprint("pi_", len(s.intents))
	amount, _ := strconv.Atoi(form.Get("line_items[0][price_data][unit_amount]"))
	s.intents[id] = map[string]any{"id": id, "status": "requires_payment_method", "amount": amount, "amount_received": 0, "currency": form.Get("line_items[0][price_data][currency]"),
		"livemode": false, "metadata": map[string]string{"payer": form.Get("payment_intent_data[metadata][payer]"), "order": form.Get("payment_intent_data[metadata][order]")}}
	page := "https://checkout.stripe.com/c/pay/cs_test_" + id
	s.pages[page] = id
	return fmt.Sprintf(`{"id": "cs_test_%s", "url": "%s"}`, id, page)
}

func refuse(w http.ResponseWriter, status int, kind, code, message string) string {
	raw, _ := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "code": code, "message": message}})
	w.WriteHeader(status)
	return string(raw)
}

// Intent returns the payment of a page.
func (s *Side) Intent(page string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages[page]
}

// Forget drops the idempotency keys, as Stripe does after a day.
func (s *Side) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.said)
	clear(s.answers)
}

// Pay fills in the page, and returns the payment.
func (s *Side) Pay(page string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.pages[page]
	s.intents[id]["status"], s.intents[id]["amount_received"] = "succeeded", s.intents[id]["amount"]
	return id
}

// Event is a webhook signed with Secret now.
func Event(kind string, object map[string]any) pay.Proof {
	raw, _ := json.Marshal(map[string]any{"id": "evt_1", "object": "event", "type": kind, "livemode": false, "data": map[string]any{"object": object}})
	return Signed(raw, Secret, time.Now())
}

// Secret signs webhooks.
const Secret = "whsec_test"

// Signed is a webhook with a body, signed at the given time.
func Signed(body []byte, secret string, at time.Time) pay.Proof {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%d.%s", at.Unix(), body)
	header := http.Header{}
	header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s,v0=00", at.Unix(), hex.EncodeToString(h.Sum(nil))))
	return pay.Proof{Header: header, Body: body}
}

// Completed reports that a page was filled in.
func Completed(intent string) pay.Proof {
	return Event("checkout.session.completed", map[string]any{"id": "cs_test_" + intent, "payment_intent": intent, "payment_status": "paid"})
}

// Transferred returns the amount of a transfer.
func (s *Side) Transferred(id string) ledger.Money {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "tr_"))
	minor, _ := strconv.ParseInt(s.Transfers[n].Get("amount"), 10, 64)
	return ledger.Money{Minor: minor, Currency: ledger.Currency(strings.ToUpper(s.Transfers[n].Get("currency")))}
}

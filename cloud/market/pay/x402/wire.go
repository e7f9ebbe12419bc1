package x402

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
)

// The wire is that of x402 version 2 (specs/x402-specification-v2.md and
// specs/transports-v2/http.md of github.com/coinbase/x402, and @x402/core 2.27.0).

// Headers of requests and answers: base64 of JSON.
const (
	FieldRequired  = "Payment-Required"  // in an answer 402: PaymentRequired
	FieldSignature = "Payment-Signature" // in a request: what the agent signed
	FieldResponse  = "Payment-Response"  // in an answer: [Receipt]
)

// MaxSignature is the greatest length of the header with a payment, in bytes. It leaves 4 KiB to
// the other headers: a relay refuses a request whose head has more than 16 KiB.
const MaxSignature = 12 << 10

// maxAnswer is how many bytes of a facilitator's answer are read.
const maxAnswer = 64 << 10

// Timeouts of the facilitator's answers. For settling it waits for the network.
const (
	verifyTime = 20 * time.Second
	settleTime = 60 * time.Second
	keepTime   = 5 * time.Second // to store the answer
)

type resource struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
}

type requirements struct {
	Scheme            string            `json:"scheme"`
	Network           string            `json:"network"`
	Amount            string            `json:"amount"`
	Asset             string            `json:"asset"`
	PayTo             string            `json:"payTo"`
	MaxTimeoutSeconds int               `json:"maxTimeoutSeconds"`
	Extra             map[string]string `json:"extra"`
}

// PaymentRequired is the content of an answer 402, in its header and its body.
type PaymentRequired struct {
	X402Version int            `json:"x402Version"`
	Error       string         `json:"error"`
	Resource    resource       `json:"resource"`
	Accepts     []requirements `json:"accepts"`
}

type authorization struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Value       string `json:"value"`
	ValidAfter  string `json:"validAfter"`
	ValidBefore string `json:"validBefore"`
	Nonce       string `json:"nonce"`
}

type exact struct {
	Signature     string        `json:"signature"`
	Authorization authorization `json:"authorization"`
}

type payload struct {
	X402Version int          `json:"x402Version"`
	Accepted    requirements `json:"accepted"`
	Payload     exact        `json:"payload"`
}

// Receipt is the result of a payment: the protocol's SettlementResponse.
type Receipt struct {
	Success     bool   `json:"success"`
	ErrorReason string `json:"errorReason,omitempty"`
	Payer       string `json:"payer,omitempty"`
	Transaction string `json:"transaction"`
	Network     string `json:"network"`
}

// Header encodes the receipt for [FieldResponse].
func (r Receipt) Header() string { return encode(r) }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of its fields can be encoded
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Required makes the demand for an order's price. why is empty for the first request.
func (p *Provider) Required(r pay.Request, why string) (*PaymentRequired, error) {
	amount, err := p.Amount(r.Money)
	if err != nil {
		return nil, err
	}
	why = cmp.Or(why, "PAYMENT-SIGNATURE header is required")
	return &PaymentRequired{X402Version: 2, Error: why, Resource: resource{URL: p.resource(r.Order), Description: "An order of a market.", MimeType: "application/json"},
		Accepts: []requirements{p.accepts(amount, r.Order)}}, nil
}

// accepts describes what is demanded. The facilitator is not told the order.
func (p *Provider) accepts(amount, order string) requirements {
	extra := map[string]string{"name": p.c.AssetName, "version": p.c.AssetVer}
	if order != "" {
		extra["order"] = order
	}
	return requirements{Scheme: "exact", Network: p.c.Network, Amount: amount, Asset: p.c.Asset, PayTo: p.c.PayTo, MaxTimeoutSeconds: maxTimeout, Extra: extra}
}

// Header encodes the header of an answer 402.
func (r *PaymentRequired) Header() string { return encode(r) }

// payment is what an agent sent. All of it is checked except its time and signature.
type payment struct {
	id                      string
	auth                    authorization
	validAfter, validBefore int64
	request                 []byte // for the facilitator
}

// signature has 65 bytes; a contract's (EIP-1271, EIP-6492) is longer.
var signature = regexp.MustCompile(`^0x[0-9a-fA-F]{130}(?:[0-9a-fA-F]{2})*$`)

// read reads the payment of a request. It encodes the facilitator's request anew, so that both
// sides read the same.
func (p *Provider) read(head http.Header, r pay.Request) (*payment, error) {
	raw := head.Get(FieldSignature)
	if raw == "" || len(raw) > MaxSignature {
		return nil, &RefusedError{fmt.Sprintf("the header PAYMENT-SIGNATURE has %d bytes: want 1 to %d", len(raw), MaxSignature)}
	}
	text, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		return nil, &RefusedError{"the header PAYMENT-SIGNATURE is not base64"}
	}
	var in struct {
		X402Version int             `json:"x402Version"`
		Resource    *resource       `json:"resource"`
		Accepted    json.RawMessage `json:"accepted"`
		Payload     exact           `json:"payload"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, &RefusedError{"the header PAYMENT-SIGNATURE is not a payment: " + short(err.Error())}
	}
	want, err := p.Required(r, "")
	if err != nil {
		return nil, err
	}
	asked := want.Accepts[0]
	a := in.Payload.Authorization
	switch {
	case in.X402Version != 2:
		return nil, &RefusedError{"invalid_x402_version"}
	case in.Resource != nil && in.Resource.URL != want.Resource.URL:
		return nil, &RefusedError{"the payment is for another resource"}
	case !same(in.Accepted, asked):
		return nil, &RefusedError{"accepted is not what was asked for"}
	case !address.MatchString(a.From) || !address.MatchString(a.To) || !hash.MatchString(a.Nonce) || !signature.MatchString(in.Payload.Signature):
		return nil, &RefusedError{"payload is not a signed authorization of EIP-3009"}
	case !strings.EqualFold(a.To, asked.PayTo):
		return nil, &RefusedError{"invalid_exact_evm_recipient_mismatch"}
	case a.Value != asked.Amount:
		return nil, &RefusedError{"invalid_exact_evm_payload_authorization_value_mismatch"}
	}
	m := &payment{auth: a}
	after, wrong := strconv.ParseUint(a.ValidAfter, 10, 62)
	before, bad := strconv.ParseUint(a.ValidBefore, 10, 62)
	if wrong != nil || bad != nil {
		return nil, &RefusedError{"validAfter and validBefore are seconds"}
	}
	m.validAfter, m.validBefore = int64(after), int64(before)
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join([]string{p.c.Network, p.c.Asset, a.From, a.Nonce}, " "))))
	m.id = hex.EncodeToString(sum[:])
	offered := p.accepts(asked.Amount, "")
	m.request, err = json.Marshal(struct {
		X402Version         int          `json:"x402Version"`
		PaymentPayload      payload      `json:"paymentPayload"`
		PaymentRequirements requirements `json:"paymentRequirements"`
	}{2, payload{2, offered, in.Payload}, offered})
	return m, err
}

// same reports whether what an agent says that it accepted is what it was asked for.
func same(raw json.RawMessage, asked requirements) bool {
	var got, want any
	b, err := json.Marshal(asked)
	if err == nil {
		err = errors.Join(json.Unmarshal(b, &want), json.Unmarshal(raw, &got))
	}
	return err == nil && reflect.DeepEqual(got, want)
}

// slack is how far an agent's clock may be behind, in seconds.
const slack = 600

// fresh checks an authorization's time. Six seconds are left for a block, as in the facilitator of
// @x402/evm.
func (m *payment) fresh(now int64) error {
	switch {
	case m.validBefore < now+6:
		return &RefusedError{"invalid_exact_evm_payload_authorization_valid_before"}
	case m.validBefore > now+maxTimeout+slack:
		return &RefusedError{fmt.Sprintf("validBefore is more than %d seconds ahead", maxTimeout+slack)}
	case m.validAfter > now:
		return &RefusedError{"invalid_exact_evm_payload_authorization_valid_after"}
	}
	return nil
}

// said is a facilitator's answer to either question. Numbers and texts must have their types;
// missing fields are nil.
type said struct {
	IsValid       *bool   `json:"isValid"`
	InvalidReason string  `json:"invalidReason"`
	Success       *bool   `json:"success"`
	ErrorReason   string  `json:"errorReason"`
	Payer         *string `json:"payer"`
	Transaction   string  `json:"transaction"`
	Network       string  `json:"network"`
	Amount        *string `json:"amount"`
	status        int
}

// ask asks the facilitator. After an error, the facilitator may still have done what it was asked.
func (p *Provider) ask(ctx context.Context, path string, request []byte, limit time.Duration) (s said, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	method := http.MethodPost
	if request == nil {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, p.c.Facilitator+path, bytes.NewReader(request))
	if err != nil {
		return s, err
	}
	r.Header.Set("Content-Type", "application/json")
	if p.c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+p.c.Token)
	}
	a, err := p.c.HTTP.Do(r)
	if err != nil {
		return s, err
	}
	defer a.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer+1))
	if err != nil {
		return s, err
	}
	s.status = a.StatusCode
	if len(raw) > maxAnswer {
		return s, fmt.Errorf("it answers %s with more than %d bytes", a.Status, maxAnswer)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("it answers %s, and no JSON of x402: %s", a.Status, short(err.Error()))
	}
	return s, nil
}

// verify asks whether a payment would be settled.
func (p *Provider) verify(ctx context.Context, m *payment) error {
	s, err := p.ask(ctx, "/verify", m.request, verifyTime)
	switch {
	case err != nil:
		return fmt.Errorf("%w: verify: %v", ErrFacilitator, err)
	case s.IsValid == nil || *s.IsValid && s.status != http.StatusOK:
		return fmt.Errorf("%w: verify: it answers %d, and neither yes nor no", ErrFacilitator, s.status)
	case !*s.IsValid:
		return &RefusedError{reasonOr(s.InvalidReason)}
	case s.Payer != nil && !strings.EqualFold(*s.Payer, m.auth.From):
		return fmt.Errorf("%w: verify: it names another payer", ErrFacilitator)
	}
	return nil
}

func reasonOr(s string) string {
	if s = short(s); s == "" {
		return "the facilitator refused it"
	}
	return s
}

// short makes a stranger's text short and safe enough for a header, a table and a log.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}

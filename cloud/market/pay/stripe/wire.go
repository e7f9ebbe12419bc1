package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
)

// tolerance is how far a webhook's time may be from this machine's, as in Stripe's own libraries.
// Stripe signs again whatever it sends again.
const tolerance = 5 * time.Minute

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 1 << 20

// verify checks a webhook's signature: an HMAC-SHA-256 of the time, a point and the body. There are
// several v1 while the secret is being changed.
func verify(secret, header string, body []byte, now time.Time) error {
	var at string
	var sums [][]byte
	for part := range strings.SplitSeq(header, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch k {
		case "t":
			at = v
		case "v1":
			if raw, err := hex.DecodeString(v); err == nil {
				sums = append(sums, raw)
			}
		}
	}
	sec, err := strconv.ParseInt(at, 10, 64)
	if err != nil || len(sums) == 0 || len(sums) > 10 {
		return fmt.Errorf("%w: it is not signed", pay.ErrProof)
	}
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(at + "."))
	h.Write(body)
	want := h.Sum(nil)
	if !slices.ContainsFunc(sums, func(s []byte) bool { return hmac.Equal(s, want) }) {
		return fmt.Errorf("%w: its signature is wrong", pay.ErrProof)
	}
	if drift := now.Sub(time.Unix(sec, 0)).Abs(); drift > tolerance {
		return fmt.Errorf("%w: its signature was made %s away from now", pay.ErrProof, drift.Round(time.Second))
	}
	return nil
}

// final are Stripe's permanent errors (docs.stripe.com/error-codes).
var final = []string{"account_invalid", "resource_missing", "parameter_invalid_empty", "parameter_unknown", "amount_too_large", "amount_too_small",
	"insufficient_capabilities_for_transfer", "transfers_not_allowed", "account_closed"}

// call calls Stripe. A permanent error is [pay.ErrDeclined].
func (p *Provider) call(ctx context.Context, method, path, key string, form url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, p.c.API+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.c.Key)
	r.Header.Set("Stripe-Version", Version)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		sum := sha256.Sum256([]byte(key)) // Stripe's limit is 255 characters
		r.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:]))
	}
	a, err := p.c.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("ask Stripe: %w", err)
	}
	defer a.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("ask Stripe: %w", err)
	}
	if a.StatusCode != http.StatusOK {
		var e struct {
			Error struct{ Type, Code, Message string }
		}
		_ = json.Unmarshal(raw, &e) // it may be somebody else's page
		err := fmt.Errorf("stripe answers %s: %s %s: %s", a.Status, e.Error.Type, e.Error.Code, e.Error.Message)
		if slices.Contains(final, e.Error.Code) {
			return fmt.Errorf("%w: %w", pay.ErrDeclined, err)
		}
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read Stripe's answer: %w", err)
	}
	return nil
}

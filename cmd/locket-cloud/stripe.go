package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/stripe"
	markettables "github.com/locket-dev/locket/cloud/market/tables"
)

// stripeFlags are an operator's account at Stripe, with which buyers pay by card.
type stripeFlags struct {
	key, webhook string // files
	page         string // this relay, as a browser reaches it
	api          string
}

func (s *stripeFlags) flags(fl *pflag.FlagSet) {
	fl.StringVar(&s.key, "market-stripe-key", "", "`file` with a secret key of Stripe, sk_live_… or sk_test_…, so that buyers can pay by card on Stripe's page")
	fl.StringVar(&s.webhook, "market-stripe-webhook", "", "`file` with the secret of Stripe's webhook, whsec_…, whose endpoint is PAGE/v1/market/stripe/webhook")
	fl.StringVar(&s.page, "market-page", "", "`URL` of this relay for buyers' browsers, to which Stripe returns, and where agents pay: https://relay.example")
	fl.StringVar(&s.api, "market-stripe-api", "https://api.stripe.com", "`URL` of Stripe's API; another for tests")
}

func (s *stripeFlags) check() error {
	if s.key == "" && s.webhook == "" {
		return nil
	}
	if u, err := url.Parse(s.page); s.key == "" || s.webhook == "" || err != nil || u.Host == "" {
		return fmt.Errorf("%w: --market-stripe-key FILE, --market-stripe-webhook FILE and --market-page URL are needed together", errUsage)
	}
	return nil
}

// open returns payments by Stripe, or nil if they are not configured.
func (s *stripeFlags) open(db *markettables.DB) (pay.Provider, error) {
	if s.key == "" {
		return nil, nil
	}
	key, err := os.ReadFile(s.key)
	if err != nil {
		return nil, fmt.Errorf("read Stripe's key: %w", err)
	}
	webhook, err := os.ReadFile(s.webhook)
	if err != nil {
		return nil, fmt.Errorf("read the secret of Stripe's webhook: %w", err)
	}
	base := strings.TrimRight(s.page, "/") + "/v1/market/stripe"
	p, err := stripe.New(db, stripe.Config{Key: strings.TrimSpace(string(key)), Webhook: strings.TrimSpace(string(webhook)), Success: base + "/paid", Cancel: base + "/left", API: strings.TrimRight(s.api, "/")})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return p, nil
}

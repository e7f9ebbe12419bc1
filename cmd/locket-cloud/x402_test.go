package main

import (
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// marketArgs are the flags of a market with an arbiter, and the file of its key.
func marketArgs(t *testing.T) (args []string, key string) {
	t.Helper()
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	dir := t.TempDir()
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "arbiter"), []byte(arbiter), 0o600),
			os.WriteFile(filepath.Join(dir, "market.key"), hex.AppendEncode(nil, tradetest.MarketKey.Seed()), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--data", dir, "--open", "--market", "--market-arbiter", filepath.Join(dir, "arbiter"), "--market-name", "market.test"}, filepath.Join(dir, "market.key")
}

func TestX402Flags(t *testing.T) {
	args, _ := marketArgs(t)
	all := map[string]string{"--market-page": "https://relay.example", "--market-x402-facilitator": "https://facilitator.example",
		"--market-x402-pay-to": x402test.PayTo, "--market-x402-asset": x402test.Asset}
	for _, c := range []struct {
		flag, value string // empty: not given
		code        int
		says        string
	}{
		{"--market-page", "", exitUsage, "need each other"},
		{"--market-x402-facilitator", "", exitUsage, "need each other"},
		{"--market-x402-pay-to", "", exitUsage, "need each other"},
		{"--market-x402-asset", "", exitUsage, "need each other"},
		{"--market-x402-facilitator", "http://facilitator.example", exitUsage, "https://"},
		{"--market-x402-facilitator", "https://name:secret@facilitator.example", exitUsage, "https://HOST"},
		{"--market-page", "http://relay.example", exitUsage, "https://"},
		{"--market-x402-pay-to", "0x1", exitUsage, "40 hexadecimal characters"},
		{"--market-x402-asset", "USDC", exitUsage, "40 hexadecimal characters"},
		{"--market-x402-network", "solana:mainnet", exitUsage, "eip155:"},
		{"--market-x402-currency", "DOGE", exitUsage, "DOGE"},
		{"--market-x402-decimals", "37", exitUsage, "0 to 36"},
		{"--market-x402-asset-name", "", exitUsage, "name and version"},
		{"--market-x402-token", filepath.Join(t.TempDir(), "absent"), exitFailed, "facilitator's token"},
	} {
		given := append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
		for flag, value := range all {
			if flag != c.flag {
				given = append(given, flag, value)
			}
		}
		if c.value != "" || strings.HasSuffix(c.flag, "name") {
			given = append(given, c.flag, c.value)
		}
		if code, out, errs := say(t, given...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s %q: %d: %s%s", c.flag, c.value, code, out, errs)
		}
	}
}

// A facilitator gives an impossible answer about a payment, which the operator then has to close.
// Nonsense is refused, and a valid answer of the operator funds the order, once.
func TestX402SettledByHand(t *testing.T) {
	args, key := marketArgs(t)
	side, agent := x402test.New(t), x402test.NewWallet("agent")
	side.Fund(agent.Address, 100_000_000)
	taking := append(args[:len(args):len(args)], "--market-page", "http://127.0.0.1:7440", "--market-x402-facilitator", side.URL, "--market-x402-pay-to", x402test.PayTo,
		"--market-x402-asset", x402test.Asset, "--market-x402-asset-name", x402test.Token, "--market-x402-network", x402test.Network, "--market-x402-currency", "EUR")
	p := start(t, taking...)
	defer func() { stop(t, p) }()
	operate := func(want int, says string, more ...string) string {
		t.Helper()
		code, out, errs := say(t, append([]string{"market", "x402", "--at", p.url, "--market-key", key}, more...)...)
		if code != want || !strings.Contains(out+errs, says) {
			t.Fatalf("%q: %d, want %d and %q: %s%s", more, code, want, says, out, errs)
		}
		return out
	}
	if out := operate(exitDone, ""); out != "" {
		t.Errorf("what waits at first: %s", out)
	}
	url, state := ordered(t, p)
	side.Set(func(s *x402test.Side) {
		s.ChangeAnswer = func(path string, a map[string]any) {
			if path == "/settle" {
				a["network"] = "eip155:1"
			}
		}
	})
	head := visit(t, url, nil, http.StatusPaymentRequired)
	payment := agent.Pay(t, head, nil)
	visit(t, url, payment, http.StatusAccepted)
	id, _, _ := strings.Cut(operate(exitDone, "5.00 EUR from "+agent.Address), " ")

	stop(t, p) // a relay that no longer takes payments does not forget the open one
	code, _, errs := say(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	if code != exitUsage || !strings.Contains(errs, "1 payments and 0 payouts by x402 are still open") || !strings.Contains(errs, "locket-cloud market x402") {
		t.Fatalf("without a facilitator: %d %s", code, errs)
	}
	p = start(t, append(taking, "--listen", strings.TrimPrefix(p.url, "http://"))...)

	tx := "0x" + strings.Repeat("ab", 32)
	for _, half := range [][]string{{id}, {"--never"}, {"--transaction", tx}, {id, "--transaction", tx, "--never"}} {
		operate(exitUsage, "--transaction HASH and --never need an ID", half...)
	}
	operate(exitUsage, "", "nonsense", "--never")
	operate(exitUsage, "one payment at a time", id, id, "--never")
	operate(exitFailed, "64 hexadecimal characters", id, "--transaction", "0xab")
	operate(exitFailed, "is still valid", id, "--never")
	operate(exitFailed, "waits", strings.Repeat("0", 64), "--never")
	other := filepath.Join(t.TempDir(), "other.key")
	if err := os.WriteFile(other, []byte(strings.Repeat("09", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := say(t, "market", "x402", id, "--never", "--at", p.url, "--market-key", other); code != exitFailed {
		t.Errorf("another key closes it: %d", code)
	}
	operate(exitDone, id)
	if s := state(); s != trade.Ordered {
		t.Fatalf("the order is %s before the operator said anything", s)
	}
	for range 2 {
		operate(exitDone, "", id, "--transaction", tx)
	}
	operate(exitFailed, "", id, "--never")
	visit(t, url, payment, http.StatusOK)
	if s, out := state(), operate(exitDone, ""); s != trade.Funded || out != "" {
		t.Errorf("the order is %s, and there waits %q", s, out)
	}
	if n := side.SettleCount(); n != 1 {
		t.Errorf("%d settlements were asked for", n)
	}
}

// ordered makes an order of 5.00 EUR, and returns the address where an agent pays it and its state.
func ordered(t *testing.T, p *process) (url string, state func() trade.Phase) {
	t.Helper()
	party := func(n byte) *remote.Market {
		r, err := remote.New(p.url, remote.Option{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r.Market(tradetest.Party(n).Key, httpsig.KeySigner(tradetest.PartyKey(n)))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	buyer := party(3)
	items, _ := tradetest.Bundle(t)
	listing := tradetest.Listing(t, items, nil)
	must(party(2).Publish(t.Context(), listing, items))
	signed, _, id := tradetest.Order(t, listing, seal.NewIdentity())
	_, _, err := buyer.Order(t.Context(), signed)
	must(err)
	page, err := buyer.Checkout(t.Context(), id, "x402")
	must(err)
	return strings.Replace(page.URL, "http://127.0.0.1:7440", p.url, 1), func() trade.Phase {
		t.Helper()
		_, s, err := buyer.Get(t.Context(), id)
		must(err)
		return s.Phase
	}
}

// visit asks for an order's address, as agents do.
func visit(t *testing.T, url string, h http.Header, want int) http.Header {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h != nil {
		r.Header = h.Clone()
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode != want {
		t.Fatalf("%s, want %d", a.Status, want)
	}
	return a.Header
}

// Several payouts of one transaction are closed together. One that was closed before does not hold
// back the others.
func TestX402ClosedTogether(t *testing.T) {
	a, b := strings.Repeat("aa", 32), strings.Repeat("bb", 32)
	all, err := closedBy([]string{a, b}, "0x1")
	if err != nil || len(all) != 2 || !all[0].Together || !all[1].Together || all[1].ID.String() != b {
		t.Errorf("%+v, %v", all, err)
	}
	if one, err := closedBy([]string{a}, "0x1"); err != nil || one[0].Together {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := closedBy([]string{a, "b"}, "0x1"); !errors.Is(err, errUsage) {
		t.Errorf("%v", err)
	}
}

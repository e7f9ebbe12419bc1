package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/internal/testing/freeport"
)

// answered is the answer that npm's x402 client got.
type answered struct {
	Status                      int
	Phase, Payment, Transaction string
	Receipt                     struct {
		Success            bool
		Payer, Transaction string
	}
}

// payer runs npm's x402 client with a wallet, which pays up to a sum. The second result is its
// standard error.
func payer(t *testing.T, w *x402test.Wallet, url, most string) (a answered, errs string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "x402.mjs", url, most)
	cmd.Dir, cmd.Env = "clients", append(os.Environ(), "AGENT_KEY="+w.Secret())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		mustParse(t, string(out), &a)
	} else if said.Len() == 0 {
		t.Fatal(err)
	}
	return a, said.String()
}

// A buyer orders, and an agent with a wallet pays at the order's address with npm's clients,
// unmodified. The seller delivers, and the buyer opens what was bought.
func TestX402FromNPM(t *testing.T) {
	npm(t, "@x402/fetch/package.json")
	side, poor, agent := x402test.New(t), x402test.NewWallet("poor"), x402test.NewWallet("agent")
	side.Fund(agent.Address, 20_000_000)
	_, arbiter := keyed(t)
	buyer, _ := keyed(t)
	listen := freeport.Addr(t)
	market, _ := newMarket(t, filepath.Join(t.TempDir(), "market.key"), arbiter, "--listen", listen, "--market-page", "http://"+listen, "--market-x402-facilitator", side.URL,
		"--market-x402-pay-to", x402test.PayTo, "--market-x402-asset", x402test.Asset, "--market-x402-asset-name", x402test.Token, "--market-x402-network", x402test.Network)
	seller := newHome(t)
	for _, line := range sold {
		seller.must("add", "--plain", line, "--tag", "garden")
	}
	var listing struct{ ID string }
	seller.mustJSON(&listing, "market", "publish", "--tag", "garden", "--redact", "names", "--category", "garden", "--language", "en", "--sample", "Beans want poles.",
		"--price", "5.00 USD", "--yes", "--title", "A year in a garden", "--at", market.url)
	var o struct{ Order, Page string }
	buyer.mustJSON(&o, "market", "buy", listing.ID, "--x402", "--yes", "--at", market.url)

	if a, errs := payer(t, agent, o.Page, "$1"); errs == "" {
		t.Errorf("the client pays more than its limit: %+v", a)
	}
	if a, _ := payer(t, poor, o.Page, "$6"); a.Status != 402 || a.Payment != "refused" {
		t.Errorf("a wallet without money: %+v", a)
	}
	if n := side.BalanceOf(x402test.PayTo); n != 0 {
		t.Fatalf("%d were moved before anybody paid", n)
	}
	paid, errs := payer(t, agent, o.Page, "$6")
	if paid.Status != 200 || paid.Phase != "funded" || !paid.Receipt.Success || !strings.EqualFold(paid.Receipt.Payer, agent.Address) {
		t.Fatalf("%+v\n%s", paid, errs)
	}
	if again, _ := payer(t, agent, o.Page, "$6"); again != paid {
		t.Errorf("asked again: %+v, and first %+v", again, paid)
	}
	if n := side.BalanceOf(x402test.PayTo); n != 5_000_000 {
		t.Errorf("%d were moved", n)
	}
	seller.must("market", "sales")
	if text := buyer.must("market", "open", o.Order); !strings.Contains(text, sold[0]) {
		t.Errorf("what was bought: %s", text)
	}
}

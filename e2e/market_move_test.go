package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// readCAR reads a bundle's file with a reader from npm.
func readCAR(t *testing.T, file string) (found struct {
	Root              string
	Version, Blocks   int
	Items             []int
	Market            string
	Signer, Signature int
	Bought            bool
	Steps             int
}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "car.mjs", file)
	cmd.Dir = "clients"
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	mustParse(t, string(out), &found)
	return found
}

// A market dies with everything that it had, without notice to its seller and buyer. The seller
// continues at another one with the orders and reviews, once they say that the first is gone. The
// buyer opens what was bought without any market. Third-party tools read the bundle's file, but
// nothing of its content.
func TestThreatMarketHoldsHostage(t *testing.T) {
	npm(t, "@ipld/car/package.json")
	_, arbiter := keyed(t)
	buyer, _ := keyed(t)
	first, vouchers := newMarket(t, filepath.Join(t.TempDir(), "market.key"), arbiter)
	second, _ := newMarket(t, filepath.Join(t.TempDir(), "market.key"), arbiter)

	seller := newHome(t)
	for _, line := range sold {
		seller.must("add", "--plain", line, "--tag", "garden")
	}
	var listing struct{ ID string }
	seller.mustJSON(&listing, "market", "publish", "--tag", "garden", "--redact", "names", "--category", "garden", "--language", "en", "--sample", "Beans want poles.",
		"--price", "5.00 EUR", "--yes", "--title", "A year in a garden", "--at", first.url)
	var o order
	buyer.mustJSON(&o, "market", "buy", listing.ID, "--voucher", vouchers("1")[0], "--yes", "--at", first.url)
	seller.must("market", "sales")
	opened := buyer.must("market", "open", o.Order)
	buyer.must("market", "accept", o.Order, "--yes")
	seller.must("market", "sales") // updates its copy of the order's end

	dir := t.TempDir()
	bought, offered := filepath.Join(dir, "bought.car"), filepath.Join(dir, "offered.car")
	buyer.must("market", "export", o.Order, bought)
	seller.must("market", "export", listing.ID[:10], offered)
	for file, isBought := range map[string]bool{bought: true, offered: false} {
		found := readCAR(t, file)
		blocks := len(sold) + 2 // the root and the listing
		if isBought {
			blocks++
		}
		if found.Version != 1 || found.Blocks != blocks || len(found.Items) != len(sold) || found.Market != first.url || found.Bought != isBought ||
			found.Signer != 32 || found.Signature != 64 || isBought && found.Steps != 3 {
			t.Errorf("%s: %+v", file, found)
		}
	}
	clean(t, dir)

	// The first market is gone, with everything that it had.
	first.kill()
	if err := os.RemoveAll(first.dir); err != nil {
		t.Fatal(err)
	}
	for _, say := range []string{"--dry-run", "--abandon"} { // shown, or asked without an answer
		out, errs, _ := seller.try("market", "move", "--to", second.url, say)
		if !strings.Contains(out+errs, "A year in a garden") || !strings.Contains(out+errs, "money") {
			t.Errorf("move %s says %s%s", say, out, errs)
		}
	}
	if found := seller.must("market", "search", "garden", "--at", second.url); strings.Contains(found, "A year in a garden") {
		t.Fatalf("moved without a yes: %s", found)
	}
	seller.must("market", "move", "--to", second.url, "--abandon", "--yes")
	buyer.must("market", "move", "--to", second.url, "--yes")
	second.kill()

	// Both are gone. In an empty home, the file and the key are enough.
	heir := &home{t: t, dir: t.TempDir()}
	raw, err := os.ReadFile(filepath.Join(buyer.dir, "reader", "reader.key"))
	if err == nil {
		err = os.MkdirAll(filepath.Join(heir.dir, "reader"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(heir.dir, "reader", "reader.key"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := heir.must("market", "open", bought); again != opened {
		t.Errorf("from the file alone:\n%s", again)
	}
	other, _ := keyed(t)
	if _, errs, code := other.try("market", "open", bought); code == 0 || !strings.Contains(errs, "another key") {
		t.Errorf("opened by another: exit %d, %s", code, errs)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.car")
	if raw, err = os.ReadFile(bought); err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(damaged, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := heir.try("market", "open", damaged); code == 0 || !strings.Contains(errs, "damaged") {
		t.Errorf("a damaged file: exit %d, %s", code, errs)
	}
}

// moves continues at the second market, after the first has died.
func (s *story) moves() {
	t := s.t
	to := []string{"--to", s.second.url, "--yes"}
	if out, _, code := s.seller.try(append([]string{"market", "move"}, to...)...); code == 0 || !strings.Contains(out, "--abandon") {
		t.Errorf("moved away from a market that does not answer: exit %d, %s", code, out)
	}
	for range 2 { // the second time there is nothing left to do
		s.seller.must(append([]string{"market", "move", "--abandon"}, to...)...)
		out, errs, _ := s.buyer.try(append([]string{"market", "move"}, to...)...)
		if strings.Count(out, "  moved") != 1 || !strings.Contains(errs, "not everything was moved") { // the other listing was withdrawn
			t.Errorf("the buyer's move: %s%s", out, errs)
		}
	}
	found := s.seller.must("market", "search", "garden", "--at", s.second.url)
	if strings.Count(found, "Each day in a garden") != 1 {
		t.Fatalf("listed twice, or not at all: %s", found)
	}
	var now struct {
		ID     string
		Sold   int
		Before []struct{ Sold, Reviews int }
	}
	s.buyer.mustJSON(&now, "market", "search", "garden", "--at", s.second.url)
	shown := s.buyer.must("market", "show", now.ID, "--at", s.second.url)
	s.buyer.mustJSON(&now, "market", "show", now.ID, "--at", s.second.url)
	if now.Sold != 0 || len(now.Before) != 1 || now.Before[0].Sold != 1 || now.Before[0].Reviews != 1 || !strings.Contains(shown, "It grew.") {
		t.Errorf("after the move: %+v\n%s", now, shown)
	}
	other, _ := keyed(t) // it is sold there as before
	o := s.is(other, "funded", "market", "buy", now.ID, "--voucher", s.there("1")[0], "--yes", "--at", s.second.url)
	s.seller.must("market", "sales")
	if opened := other.must("market", "open", o); !strings.Contains(opened, sold[1]) {
		t.Errorf("bought after the move:\n%s", opened)
	}
}

package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
)

// readCAR has the reader from npm read a bundle's file.
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

// cleanDatabase searches all that a database holds for what was sold, in text and in
// bytes.
func cleanDatabase(t *testing.T, url string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	low := bytes.ToLower(out)
	if !bytes.Contains(low, []byte("a year in a garden")) && !bytes.Contains(low, []byte(hex.EncodeToString([]byte("A year in a garden")))) {
		t.Fatal("the dump lacks the listing: it would show nothing")
	}
	for _, line := range sold {
		for _, w := range append(strings.Fields(line), line) {
			if len(w) <= 6 {
				continue
			}
			if bytes.Contains(low, []byte(strings.ToLower(w))) || bytes.Contains(low, []byte(hex.EncodeToString([]byte(w)))) {
				t.Errorf("%q can be read in the database", w)
			}
		}
	}
}

// A market dies with all that it had. Its seller goes on at another one, on PostgreSQL,
// with the orders and reviews; its buyer opens what was bought without any market; and
// tools of others read the bundle's file, and nothing in it.
func TestThreatMarketHoldsHostage(t *testing.T) {
	npm(t, "@ipld/car/package.json")
	_, key := keyed(t)
	buyer, _ := keyed(t)
	market := func(flags ...string) (r *relay, vouchers []string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "market.key")
		r = newRelay(t, append(flags, "--open", "--market", "--market-key", file, "--market-arbiter", key, "--market-name", "market.test")...)
		return r, strings.Fields(cloud(t, "market", "vouchers", "--at", r.url, "--market-key", file, "--batch", "may", "--count", "1", "--each", "6.00 EUR"))
	}
	first, paid := market()

	seller := newHome(t)
	for _, line := range sold {
		seller.must("add", "--plain", line, "--tag", "garden")
	}
	var listing struct{ ID string }
	seller.mustJSON(&listing, "market", "publish", "--tag", "garden", "--redact", "names", "--category", "garden", "--language", "en", "--sample", "Beans want poles.",
		"--price", "5.00 EUR", "--yes", "--title", "A year in a garden", "--at", first.url)
	var o order
	buyer.mustJSON(&o, "market", "buy", listing.ID, "--voucher", paid[0], "--yes", "--at", first.url)
	seller.must("market", "sales")
	opened := buyer.must("market", "open", o.Order)
	buyer.must("market", "accept", o.Order, "--yes")
	buyer.must("market", "review", o.Order, "--stars", "4", "--text", "As it says.")
	seller.must("market", "sales") // its copy of how the order ended

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

	// The first market is gone, with all that it had.
	first.kill()
	clean(t, first.dir)
	if err := os.RemoveAll(first.dir); err != nil {
		t.Fatal(err)
	}
	var cluster pgtest.Cluster
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	database := cluster.Database(t)
	cloud(t, "migrate", "up", "--db", database)
	second, paid := market("--db", database, "--blobs", "file://"+t.TempDir())
	if out, _, code := seller.try("market", "move", "--to", second.url, "--yes"); code == 0 || !strings.Contains(out, "--abandon") {
		t.Errorf("moved away from a market that does not answer: exit %d, %s", code, out)
	}
	for _, say := range []string{"--dry-run", "--abandon"} { // shown, or asked and not answered
		out, errs, _ := seller.try("market", "move", "--to", second.url, say)
		if !strings.Contains(out+errs, "A year in a garden") || !strings.Contains(out+errs, "Money") {
			t.Errorf("move %s says %s%s", say, out, errs)
		}
	}
	if found := seller.must("market", "search", "garden", "--at", second.url); strings.Contains(found, "A year in a garden") {
		t.Fatalf("moved without a yes: %s", found)
	}
	for range 2 { // the second time there is nothing left to do
		seller.must("market", "move", "--to", second.url, "--abandon", "--yes")
		buyer.must("market", "move", "--to", second.url, "--yes")
	}
	found := seller.must("market", "search", "garden", "--at", second.url)
	if strings.Count(found, "A year in a garden") != 1 {
		t.Fatalf("listed twice, or not at all: %s", found)
	}
	var now struct {
		ID     string
		Sold   int
		Before []struct{ Sold, Reviews int }
	}
	buyer.mustJSON(&now, "market", "search", "garden", "--at", second.url)
	shown := buyer.must("market", "show", now.ID, "--at", second.url)
	buyer.mustJSON(&now, "market", "show", now.ID, "--at", second.url)
	if now.Sold != 0 || len(now.Before) != 1 || now.Before[0].Sold != 1 || now.Before[0].Reviews != 1 || !strings.Contains(shown, "As it says.") {
		t.Errorf("after the move: %+v\n%s", now, shown)
	}

	// It is sold there as before.
	other, _ := keyed(t)
	other.mustJSON(&o, "market", "buy", now.ID, "--voucher", paid[0], "--yes", "--at", second.url)
	seller.must("market", "sales")
	if again := other.must("market", "open", o.Order); again != opened {
		t.Errorf("bought after the move:\n%s", again)
	}
	cleanDatabase(t, database)
	second.kill()

	// Both are gone. The file and the key are enough, in an empty home.
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

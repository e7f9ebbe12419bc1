package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sold is what the seller's memories say: the bundle of the market's story.
var sold = []string{"Tomatoes want water at the root and never on leaves", "The greenhouse door sticks when it rains", "Basil grows well beside the peppers"}

// order is what locket market prints of one.
type order struct {
	Order, Phase, Back, Paid string
	Waits                    bool
}

// keyed gives a home that is only a key, and the key's file.
func keyed(t *testing.T) (*home, string) {
	h := &home{t: t, dir: t.TempDir()}
	file := filepath.Join(h.dir, "public.key")
	if err := os.WriteFile(file, []byte(h.must("share", "key")), 0o600); err != nil {
		t.Fatal(err)
	}
	return h, file
}

// One story: a seller with a node, a buyer who is only a key, an arbiter, and an
// operator who holds nothing that can be read; at the end the operator is dead, and
// the buyer reads on.
func TestThreatOperatorReadsBundle(t *testing.T) {
	arbiter, key := keyed(t)
	buyer, _ := keyed(t)
	marketKey, witnessKey := filepath.Join(t.TempDir(), "market.key"), filepath.Join(t.TempDir(), "market.key")
	keys := func(file, kind string) string {
		t.Helper()
		for line := range strings.Lines(cloud(t, "market", "keys", "--market-key", file, "--market-name", "market.test", "--witness-name", "other.test")) {
			if k, is := strings.CutPrefix(line, kind+" "); is {
				return strings.TrimSpace(k)
			}
		}
		t.Fatalf("no %s key", kind)
		return ""
	}
	other := newRelay(t, "--open", "--market-key", witnessKey, "--witness", keys(marketKey, "log"), "--witness-name", "other.test")
	r := newRelay(t, "--open", "--market", "--market-key", marketKey, "--market-arbiter", key, "--market-fee", "10", "--market-name", "market.test",
		"--market-witness", other.url+" "+keys(witnessKey, "witness"))
	at := []string{"--at", r.url}
	vouchers := strings.Fields(cloud(t, "market", "vouchers", "--at", r.url, "--market-key", marketKey, "--batch", "may", "--count", "4", "--each", "6.00 EUR"))

	seller := newHome(t)
	for _, line := range sold {
		seller.must("add", "--plain", line, "--tag", "garden")
	}
	publish := append([]string{"market", "publish", "--tag", "garden", "--redact", "names,places,times=month", "--category", "garden", "--language", "en",
		"--sample", "Beans want poles.", "--price", "5.00 EUR", "--yes", "--title"}, "A year in a garden")
	var listing struct{ ID string }
	seller.mustJSON(&listing, append(publish, at...)...)
	if _, errs, code := seller.try(append(append(publish[:len(publish)-1:len(publish)-1], "\x1b[2J"), at...)...); code == 0 || !strings.Contains(errs, "title") {
		t.Errorf("a title that steers a terminal: exit %d, %s", code, errs)
	}
	found := buyer.must(append([]string{"market", "search", "gardens"}, at...)...)
	if !strings.Contains(found, listing.ID[:10]) || !strings.Contains(found, "5.00 EUR") {
		t.Fatalf("search: %s", found)
	}
	if shown := buyer.must(append([]string{"market", "show", listing.ID[:10]}, at...)...); !strings.Contains(shown, "Beans want poles.") {
		t.Fatalf("show: %s", shown)
	}

	buy := func(code string) string {
		t.Helper()
		var o order
		buyer.mustJSON(&o, append([]string{"market", "buy", listing.ID, "--voucher", code, "--yes"}, at...)...)
		if o.Phase != "funded" {
			t.Fatalf("paid, and %s", o.Phase)
		}
		return o.Order
	}
	if _, errs, code := buyer.try(append([]string{"market", "buy", listing.ID, "--most", "4.00 EUR", "--yes"}, at...)...); code == 0 || !strings.Contains(errs, "nothing was ordered") {
		t.Errorf("over what one would pay: exit %d, %s", code, errs)
	}
	first := buy(vouchers[0])
	if _, errs, code := buyer.try("market", "open", first); code == 0 || !strings.Contains(errs, "not delivered") {
		t.Errorf("opened before it was delivered: exit %d, %s", code, errs)
	}
	seller.must("market", "sales")
	opened := buyer.must("market", "open", first)
	for _, line := range sold {
		if !strings.Contains(opened, line) {
			t.Errorf("%q is not in what was bought:\n%s", line, opened)
		}
	}
	is := func(o order, phase string) {
		t.Helper()
		if o.Phase != phase {
			t.Fatalf("it is %s, want %s", o.Phase, phase)
		}
	}
	var o order
	buyer.mustJSON(&o, "market", "accept", first, "--yes")
	is(o, "accepted")
	buyer.must("market", "review", first, "--stars", "4", "--text", "As it says.")
	if shown := buyer.must(append([]string{"market", "show", listing.ID}, at...)...); !strings.Contains(shown, "As it says.") || !strings.Contains(shown, "sold 1") {
		t.Errorf("after the review: %s", shown)
	}

	// What was bought answers: with the key alone, and in a node's search.
	const question = "when do tomatoes want water"
	if out := buyer.must("share", "search", question); !strings.Contains(out, sold[0]) || !strings.Contains(out, "bought from seller") {
		t.Errorf("what was bought does not answer:\n%s", out)
	}
	neighbour := newHome(t)
	neighbour.mustJSON(&o, append([]string{"market", "buy", listing.ID, "--voucher", vouchers[3], "--yes"}, at...)...)
	lent := o.Order
	seller.must("market", "sales")
	neighbour.must("market", "open", lent)
	for _, ask := range []string{"search", "ask", "context"} {
		if out := neighbour.must(ask, question); !strings.Contains(out, sold[0]) || !strings.Contains(out, "from seller") && !strings.Contains(out, "shared by seller") {
			t.Errorf("%s does not say what was bought, and from whom:\n%s", ask, out)
		}
	}
	if out, _, _ := neighbour.try("list"); strings.Contains(out, sold[0]) {
		t.Errorf("what was bought became the wearer's own:\n%s", out)
	}
	seller.must("market", "refund", lent, "--reason", "It was the wrong year.")
	neighbour.must("market", "orders")
	if out := neighbour.must("search", question); strings.Contains(out, sold[0]) {
		t.Errorf("the price came back, and it answers:\n%s", out)
	}

	second := buy(vouchers[1])
	seller.mustJSON(&o, "market", "refund", second, "--reason", "I was wrong.")
	is(o, "refunded")
	third := buy("") // what came back
	seller.must("market", "deliver", third)
	buyer.must("market", "open", third)
	buyer.mustJSON(&o, "market", "dispute", third, "--item", "2", "--reason", "The door is not a garden.")
	is(o, "disputed")
	disputes := arbiter.must(append([]string{"market", "disputes"}, at...)...)
	if shown := strings.Count(disputes, "the item says"); shown != 1 {
		t.Errorf("the arbiter is shown %d items:\n%s", shown, disputes)
	}
	arbiter.mustJSON(&o, append([]string{"market", "decide", third, "--refund", "2.00 EUR", "--reason", "Half of it is."}, at...)...)
	is(o, "settled")
	earned := strings.TrimSpace(seller.must(append([]string{"market", "payout", "--earned", "--amount", "7.20 EUR"}, at...)...)) // 5.00 and 3.00, less a tenth
	if len(earned) < 20 {
		t.Errorf("a voucher: %q", earned)
	}

	// The wearer forgets; what is for sale may not be sold any more.
	fourth := buy(vouchers[2])
	seller.must("forget", "--query", "greenhouse", "--yes")
	seller.must("market", "sales")
	orders := buyer.must("market", "orders")
	if !strings.Contains(orders, "refunded") {
		t.Errorf("%s after the memories were forgotten:\n%s", fourth, orders)
	}
	if found := buyer.must(append([]string{"market", "search", "gardens"}, at...)...); strings.Contains(found, listing.ID[:10]) {
		t.Errorf("still for sale: %s", found)
	}

	// The log has what was bought, and another operator has seen it.
	var verified string
	until(t, "the log with the receipts", func() bool {
		wait(3 * time.Second) // it is published every ten seconds
		verified = buyer.must(append([]string{"market", "verify"}, at...)...)
		return strings.Count(verified, "with its receipt") == 2 // those that ended with a key
	})
	if !strings.Contains(verified, "Witness other.test at "+other.url+" cosigned it, and has seen") || strings.Contains(verified, "MISSING") {
		t.Errorf("verify: %s", verified)
	}

	saved := filepath.Join(buyer.dir, "garden.bought")
	buyer.must("market", "open", first, "--save", saved)
	r.kill()
	if again := buyer.must("market", "open", saved); again != opened {
		t.Errorf("with the operator dead:\n%s", again)
	}
	if _, errs, code := arbiter.try("market", "open", saved); code == 0 || !strings.Contains(errs, "another key") {
		t.Errorf("opened by another: exit %d, %s", code, errs)
	}
	clean(t, r.dir)
	clean(t, filepath.Join(buyer.dir, "reader"))
}

// clean searches every file of a folder for what was sold.
func clean(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		low := bytes.ToLower(b)
		for _, line := range sold {
			for _, w := range append(strings.Fields(strings.ToLower(line)), strings.ToLower(line)) {
				if len(w) > 6 && bytes.Contains(low, []byte(w)) {
					t.Errorf("%q can be read in %s", w, path)
				}
			}
		}
		return nil
	})
	if err != nil || files < 2 {
		t.Fatalf("%d files in %s: %v", files, dir, err)
	}
}

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// at makes a home sync with a relay.
func (h *home) at(r *relay) *home {
	h.t.Helper()
	f, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString("[sync]\nrelay = \"" + r.url + "\"\n")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return h
}

// Somebody pays to enter a community, by commands only: the fee is held until the owner's home has
// let the key in, and somebody who is not let in does not pay.
func TestCommunityEntryFee(t *testing.T) {
	_, arbiter := keyed(t)
	r, vouchers := newMarket(t, filepath.Join(t.TempDir(), "market.key"), arbiter)
	owner, ann, bo := newHome(t).at(r), newHome(t).at(r), newHome(t).at(r)
	owner.must("community", "new", "Gardeners", "--as", "Mei")
	var listing struct{ ID string }
	owner.mustJSON(&listing, "market", "publish", "--entry", "Gardeners", "--title", "Gardeners of Lane 128", "--category", "garden", "--language", "en", "--price", "5.00 EUR", "--yes")
	if shown := ann.must("market", "show", listing.ID); !strings.Contains(shown, "the entry to a community") {
		t.Errorf("show: %s", shown)
	}
	if _, errs, code := ann.try("market", "buy", listing.ID, "--yes"); code == 0 || !strings.Contains(errs, "market enter") {
		t.Errorf("buy: exit %d, %s", code, errs)
	}
	codes := vouchers("2")
	enter := func(h *home, code string) string {
		t.Helper()
		_, errs, exit := h.try("market", "enter", listing.ID, "--as", "Ann", "--most", "5.00 EUR", "--voucher", code, "--yes", "--wait", "1s")
		_, id, ok := strings.Cut(errs, "Ordered and paid 5.00 EUR: ")
		if exit != 0 || !ok {
			t.Fatalf("enter: exit %d, %s", exit, errs)
		}
		return id[:10]
	}
	anns := enter(ann, codes[0])
	if _, errs, code := ann.try("market", "open", anns); code == 0 || !strings.Contains(errs, "has not delivered") {
		t.Errorf("open before being let in: exit %d, %s", code, errs)
	}
	if sales := owner.must("market", "sales"); !strings.Contains(sales, "Ann, whose key has the words") {
		t.Errorf("sales: %s", sales)
	}
	opened := ann.must("market", "open", anns)
	i := strings.Index(opened, r.url+"/#")
	if i < 0 {
		t.Fatalf("open: %s", opened)
	}
	link := strings.Fields(opened[i:])[0]
	if _, errs, code := bo.try("community", "join", link); code == 0 {
		t.Errorf("who paid nothing joined: %s", errs)
	}
	ann.must("community", "join", link, "--name", "Club")
	if shown := ann.must("community", "show", "Club"); !strings.Contains(shown, "entry     for 5.00 EUR at "+r.url) || !strings.Contains(shown, "Ann") {
		t.Errorf("community show: %s", shown)
	}
	var o order
	if ann.mustJSON(&o, "market", "accept", anns, "--yes"); o.Phase != "accepted" {
		t.Errorf("accept: %+v", o)
	}
	bos := enter(bo, codes[1]) // with a name that is taken
	owner.must("market", "sales")
	bo.must("market", "orders")
	if _, errs, code := bo.try("market", "open", bos); code == 0 || !strings.Contains(errs, "refunded") {
		t.Errorf("open of what was refused: exit %d, %s", code, errs)
	}
	if has := bo.must("market", "balance"); !strings.Contains(has, "6.00 EUR") {
		t.Errorf("balance of who was refused: %s", has)
	}
	owner.must("market", "payout", "--earned", "--amount", "5.00 EUR")
}

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// subscription is a subscription in the output of locket market renew.
type subscription struct{ Listing, Most, Last, Why string }

// ordersOf returns the ids of a listing's orders.
func (h *home) ordersOf(listing string) (out []string) {
	h.t.Helper()
	for line := range strings.Lines(h.must("--json", "market", "orders", "--offline")) {
		var o struct{ Order, Listing string }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			h.t.Fatalf("%v: %s", err, line)
		}
		if o.Listing == listing {
			out = append(out, o.Order)
		}
	}
	return out
}

// A subscription by commands: each period is bought once and opened, up to a price, a number and a
// time. After it was ended, the buyer keeps the earlier periods, and gets no more.
func TestSubscribeByCommand(t *testing.T) {
	_, arbiter := keyed(t)
	buyer, _ := keyed(t)
	market, vouchers := newMarket(t, filepath.Join(t.TempDir(), "market.key"), arbiter)
	seller := newHome(t)
	publish := func(line, price string, flags ...string) (listing struct{ ID string }) {
		t.Helper()
		tag := strings.ToLower(strings.Fields(line)[0])
		seller.must("add", "--plain", line, "--tag", tag)
		seller.mustJSON(&listing, append([]string{"market", "publish", "--tag", tag, "--category", "garden", "--language", "en", "--price", price, "--yes", "--title", "Each day in a garden", "--at", market.url}, flags...)...)
		return listing
	}
	once := publish("Beans want poles", "2.00 EUR")
	grows := publish(sold[0], "2.00 EUR", "--every-days", "1")

	subscribe := func(listing string, flags ...string) []string {
		return append([]string{"market", "subscribe", listing, "--at", market.url}, flags...)
	}
	for want, args := range map[string][]string{
		"--most PRICE is missing":   subscribe(grows.ID, "--yes"),
		"no periods":                subscribe(once.ID, "--most", "5.00 EUR", "--yes"),
		"more than you allow":       subscribe(grows.ID, "--most", "1.99 EUR", "--yes"),
		"you allow USD":             subscribe(grows.ID, "--most", "5.00 USD", "--yes"),
		"one period at least":       subscribe(grows.ID, "--most", "5.00 EUR", "--periods", "0", "--yes"),
		"nothing was ordered":       subscribe(grows.ID, "--most", "5.00 EUR"), // nobody agreed
		"--until":                   subscribe(grows.ID, "--most", "5.00 EUR", "--until", "soon", "--yes"),
		"8 characters":              {"market", "unsubscribe", "abc"},
		"subscription to 00000000:": {"market", "unsubscribe", "00000000"},
	} {
		if out, errs, code := buyer.try(args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, want %q: %s%s", args, code, want, out, errs)
		}
	}
	if out, errs, code := buyer.try("market", "renew"); code != 0 || !strings.Contains(out+errs, "No subscriptions") {
		t.Errorf("after what was refused: exit %d, %s%s", code, out, errs)
	}

	// is checks the subscription, what was done, and what is left.
	is := func(last, why, left string, args ...string) {
		t.Helper()
		var s subscription
		buyer.mustJSON(&s, args...)
		if has := strings.TrimSpace(buyer.must("market", "balance", "--at", market.url)); s.Listing != grows.ID || s.Last != last || s.Why != why || has != left {
			t.Errorf("%v: %s (%s), %s left; want %s (%s), %s", args, s.Last, s.Why, has, last, why, left)
		}
	}
	opens := func(line string, n int) (order string) {
		t.Helper()
		seller.must("market", "sales")
		all := buyer.ordersOf(grows.ID)
		if len(all) != n {
			t.Fatalf("%d periods were ordered, want %d", len(all), n)
		}
		for _, o := range all {
			if out, _, code := buyer.try("market", "open", o); code == 0 && strings.Contains(out, line) {
				order = o
			}
		}
		if order == "" {
			t.Fatalf("%q can't be opened", line)
		}
		return order
	}
	renew := []string{"market", "renew"}
	if _, errs, code := buyer.try(subscribe(grows.ID, "--most", "2.00 EUR", "--yes")...); code == 0 || !strings.Contains(errs, "is not paid (locket market deposit)") {
		t.Errorf("without money: exit %d, %s", code, errs)
	}
	buyer.must("market", "deposit", "--voucher", vouchers("1")[0], "--at", market.url)
	is("wait", "this period is paid", "4.00 EUR", renew...)
	is("wait", "this period is paid", "4.00 EUR", renew...)
	first := opens(sold[0], 1)

	early := []string{"market", "publish", "--tag", "beans", "--category", "garden", "--language", "en", "--price", "2.00 EUR", "--yes", "--title", "Each day in a garden", "--replaces", grows.ID}
	if _, errs, code := seller.try(early...); code == 0 || !strings.Contains(errs, "seconds are left") {
		t.Errorf("a period before its time: exit %d, %s", code, errs)
	}
	market.dayLater()
	seller.must("market", "sales") // sends the period again that came too early
	is("wait", "this period is paid", "2.00 EUR", renew...)
	second := opens("Beans want poles", 2)

	market.dayLater()
	publish(sold[2], "1.50 EUR", "--replaces", grows.ID)
	is("wait", "the periods come faster than the listing says", "2.00 EUR", renew...)
	market.dayLater()
	publish(sold[1], "3.00 EUR", "--replaces", grows.ID)
	is("lapse", "it costs more than you allow", "2.00 EUR", renew...)
	is("end", "2 periods are paid", "2.00 EUR", subscribe(grows.ID, "--most", "4.00 EUR", "--periods", "2", "--yes")...)
	is("end", "2 periods are paid", "2.00 EUR", renew...)
	is("end", "its time is over", "2.00 EUR", subscribe(grows.ID, "--most", "4.00 EUR", "--until", "2026-01-01", "--yes")...)
	is("wait", "the periods come faster than the listing says", "2.00 EUR", subscribe(grows.ID, "--most", "4.00 EUR", "--yes")...)
	is("end", "you ended it", "2.00 EUR", "market", "unsubscribe", grows.ID[:10])
	is("end", "you ended it", "2.00 EUR", renew...)

	// What was bought stays, without the market; nothing of the later periods is there.
	market.kill()
	for order, line := range map[string]string{first: sold[0], second: "Beans want poles"} {
		if out := buyer.must("market", "open", order); !strings.Contains(out, line) {
			t.Errorf("what was bought:\n%s", out)
		}
	}
	if n := len(buyer.ordersOf(grows.ID)); n != 2 {
		t.Errorf("%d periods, want 2", n)
	}
}

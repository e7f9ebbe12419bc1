package console

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// publish lists texts of a home at a market, by the command, and returns the listing.
func publish(t *testing.T, home string, c *serve.Client, at, title string, flags ...string) serve.Listing {
	t.Helper()
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "Medlars are eaten when they are brown.", Infer: &infer, Tags: []string{"fruit"}}); err != nil {
		t.Fatal(err)
	}
	out, err := command(home, append([]string{"--json", "market", "publish", "--at", at, "--tag", "fruit", "--category", "garden", "--language", "en", "--sample", "Pears.", "--price", "2.00 EUR", "--title", title, "--yes"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	return read[serve.Listing](t, out)
}

// read decodes the JSON object that a command printed.
func read[T any](t *testing.T, out string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err, out)
	}
	return v
}

func run(t *testing.T, home string, args ...string) string {
	t.Helper()
	out, err := command(home, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tries are the looks in which a page of the market is tested besides the plain one.
var tries = []look{{"zh-CN", 360, 740, true}, {"en-GB", 360, 740, false}, {"zh-CN", 1440, 1000, false}, {"en-GB", 1440, 1000, true}}

// looks runs the checks of every page on a page. If act is given, it leads to the part that is
// checked.
func looks(t *testing.T, home, name, path, until string, act func(b *tab)) {
	t.Helper()
	for _, l := range tries {
		b := openAt(t, l, linkOf(t, home).URL)
		b.visit(path, until)
		if act != nil {
			act(b)
		}
		b.settled()
		b.fits(name)
		if l.width == 360 {
			b.within(name, ".panel")
		}
		b.accessible(name)
		b.shoot(name + "-" + l.String())
	}
}

// downloads makes a tab store its downloads, and returns the folder.
func (b *tab) downloads() string {
	b.t.Helper()
	dir := b.t.TempDir()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		whole := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		return cdbrowser.SetDownloadBehavior(cdbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir).WithBrowserContextID(b.own).Do(whole)
	}))
	return dir
}

// saved waits for a file that a tab downloads, and returns its name. A browser gives the file
// its name once it is complete.
func saved(t *testing.T, pattern string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) > 1 {
			t.Fatal(list, err)
		}
		if len(list) == 1 {
			return list[0]
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			t.Fatalf("%s is not downloaded", pattern)
		}
	}
}

// A growing listing is subscribed to by keyboard. Without money the first period waits; with a
// voucher it is paid on request; the subscription can be ended. The delivery is saved as a file,
// which opens without the market.
func TestSubscribe(t *testing.T) {
	at, vouchers := serveMarket(t)
	shop, seller := ownHome(t)
	own, _ := ownHome(t)
	const title = "Fruit <b>each</b> month"
	listing := publish(t, shop, seller, at, title, "--every-days", "30")
	offer := "/market/" + listing.ID.String() + "?market=" + at

	b := openAt(t, plain, linkOf(t, own).URL)
	b.visit(offer, "[data-act=agree]")
	b.press("[data-act=agree]")
	b.press("[data-act=subscribe]")
	b.do(chromedp.WaitVisible("dialog [name=most]"))
	b.says("every 30 days")
	b.accessible("subscribe")
	b.shoot("subscribe")
	fill := func(most string) {
		b.do(chromedp.Evaluate(`document.querySelector("dialog [name=most]").value = `+quoted(most)+`; document.querySelector("dialog [name=periods]").value = "3"; document.querySelector("dialog [name=until]").value = "2099-01-31"`, nil),
			chromedp.Focus("dialog [name=most]"), chromedp.KeyEvent(kb.Enter))
	}
	fill("1.00 EUR")
	b.says("which is more than you allow")
	fill("2.50 EUR")
	b.do(chromedp.WaitNotPresent("dialog"), chromedp.WaitVisible(".subscriptions li"))
	b.says("If your balance at the market is too low, add a voucher")
	b.says("2.50 EUR at most, 0 of 3 periods paid")
	b.says("until 31 Jan 2099")
	b.do(chromedp.ScrollIntoView(".subscriptions"))
	b.accessible("subscriptions-unpaid")
	b.shoot("subscriptions-unpaid")

	b.press(".purse summary")
	b.do(chromedp.WaitVisible(".purse [name=voucher]"), chromedp.SendKeys(".purse [name=voucher]", vouchers[0]), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".purse .sum")?.innerText.includes("6.00 EUR")`)
	b.press("[data-act=renew]")
	b.says("1 of 3 periods paid")
	b.says("This period is paid.")
	b.until(`!document.querySelector("[data-act=renew]").disabled`)
	b.press("[data-act=renew]") // pays nothing twice
	b.until(`!document.querySelector("[data-act=renew]").disabled`)
	b.until(`document.querySelector(".subscriptions li").innerText.includes("1 of 3 periods paid")`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(".purse .sum"))
	b.until(`document.querySelector(".purse .sum").innerText.includes("4.00 EUR")`)

	if _, err := seller.Sales(t.Context()); err != nil { // the node does this by itself each minute
		t.Fatal(err)
	}
	dir := b.downloads()
	b.do(chromedp.WaitVisible(".orders li a"), chromedp.Click(".orders li a"), chromedp.WaitVisible("[data-act=car]"))
	b.settled()
	b.shoot("order-file")
	b.press("[data-act=car]")
	order := strings.TrimPrefix(js[string](b, "location.pathname"), "/market/order/")
	file := saved(t, filepath.Join(dir, order[:10]+".car"))
	if out := run(t, own, "market", "open", file); !strings.Contains(out, "Medlars are eaten when they are brown.") {
		t.Errorf("the file holds %s", out)
	}
	if out, err := command(shop, "market", "open", file); err == nil {
		t.Errorf("another key opens the file: %s", out)
	}

	for _, bad := range []string{hostile, strings.Repeat("W", 30000)} {
		evil := openAt(t, look{"en-GB", 360, 740, false}, linkOf(t, own).URL)
		evil.spoil(bad, []string{"title", "why", "market", "most"})
		evil.visit("/market", ".subscriptions li")
		evil.settled()
		evil.harmless("subscriptions")
	}
	looks(t, own, "subscribe", offer, "[data-act=subscribe]", func(b *tab) {
		b.press("[data-act=subscribe]")
		b.do(chromedp.WaitVisible("dialog [name=most]"))
	})
	show := func(b *tab) {
		b.do(chromedp.Evaluate(`document.querySelector(".subscriptions").scrollIntoView()`, nil))
	}
	looks(t, own, "subscriptions", "/market?market="+at, ".subscriptions li", show)

	b.visit("/market", ".subscriptions .danger")
	b.press(".subscriptions .danger")
	b.do(chromedp.WaitVisible("dialog .danger"))
	b.says("What you bought stays yours.")
	b.accessible("unsubscribe")
	b.press("dialog .danger")
	b.do(chromedp.WaitNotPresent("dialog"))
	b.until(`document.querySelector(".subscriptions .badge").innerText === "ended" && !document.querySelector("[data-act=renew]")`)
	if out := run(t, own, "--json", "market", "renew"); !strings.Contains(out, `"last":"end"`) {
		t.Errorf("it goes on: %s", out)
	}
}

// The arbiter whom a market names decides its disputes; nobody else sees them.
func TestDecideDispute(t *testing.T) {
	judge, _ := ownHome(t)
	at := startMarket(t, marketHow{arbiter: read[serve.GivenKey](t, run(t, judge, "--json", "share", "key")).Key})
	shop, seller := ownHome(t)
	listing := publish(t, shop, seller, at.url, "Forgotten fruit")
	buyer, _ := reader(t)
	bought := func(voucher string) string {
		t.Helper()
		o := read[serve.Purchase](t, run(t, buyer, "--json", "market", "buy", listing.ID.String(), "--voucher", voucher, "--yes", "--at", at.url)).Order.String()
		if _, err := seller.Sales(t.Context()); err != nil {
			t.Fatal(err)
		}
		run(t, buyer, "market", "open", o)
		run(t, buyer, "market", "dispute", o, "--item", "1", "--reason", "It is of <i>pears</i>.")
		return o
	}
	order := bought(at.vouchers[0])

	path := "/market?market=" + at.url
	other := openAt(t, plain, linkOf(t, shop).URL)
	other.visit(path, ".offers li")
	other.settled()
	if js[bool](other, `!!document.querySelector(".disputes")`) {
		t.Error("the seller is shown what the arbiter is to decide")
	}

	b := openAt(t, plain, linkOf(t, judge).URL)
	b.visit(path, "[data-act=agree]")
	b.press("[data-act=agree]")
	b.do(chromedp.WaitVisible(".disputes li"))
	b.says("It is of <i>pears</i>.")
	b.says("Medlars are eaten when they are brown.")
	b.settled()
	b.accessible("disputes")
	b.do(chromedp.ScrollIntoView(".disputes"))
	b.shoot("disputes")
	looks(t, judge, "disputes", path, ".disputes li", func(b *tab) { b.do(chromedp.Evaluate(`document.querySelector(".disputes").scrollIntoView()`, nil)) })
	for _, bad := range []string{hostile, strings.Repeat("W", 30000)} {
		evil := openAt(t, look{"en-GB", 360, 740, false}, linkOf(t, judge).URL)
		evil.spoil(bad, []string{"title", "says", "text", "broken", "nothing"})
		evil.visit(path, ".disputes li")
		evil.settled()
		evil.harmless("disputes")
	}
	b.press(".disputes .button")
	b.do(chromedp.WaitVisible("dialog [value=part]"), chromedp.Click("dialog [value=part]"), chromedp.WaitVisible("dialog [name=amount]"))
	b.says("You can't take it back.")
	b.accessible("decide")
	b.do(chromedp.SendKeys("dialog [name=amount]", "9.00 EUR"), chromedp.SendKeys("dialog [name=reason]", "The item is as listed, the title is not."), chromedp.Click("dialog .solid"))
	b.says("want all, none, or up to 2.00 EUR")
	b.shoot("decide")
	b.do(chromedp.SetValue("dialog [name=amount]", "0.50 EUR"), chromedp.Click("dialog .solid"), chromedp.WaitNotPresent("dialog"))
	b.says("Decided. Both can read why.")
	b.says("No disputes.")
	if o := read[serve.Purchase](t, run(t, buyer, "--json", "market", "orders")); o.Order.String() != order || o.Phase != trade.Settled || o.Back != "0.50 EUR" || !strings.Contains(o.Reason, "the title is not") {
		t.Errorf("the buyer has %+v", o)
	}
}

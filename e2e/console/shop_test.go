package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// A bundle is listed by keyboard in one home, and bought, opened, accepted and reviewed in
// another; a second order is disputed, a third one cancelled.
func TestSellAndBuy(t *testing.T) {
	market := startMarket(t, marketHow{})
	at, vouchers := market.url, market.vouchers
	shop, seller := ownHome(t)
	own, bought := ownHome(t)
	infer := false
	for _, text := range []string{"Quinces want a warm wall.", "Medlars are eaten when they are brown."} {
		if _, err := seller.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer, Tags: []string{"fruit"}}); err != nil {
			t.Fatal(err)
		}
	}
	sell := openAt(t, plain, linkOf(t, shop).URL)
	sell.palette("sell something")
	sell.do(chromedp.WaitVisible(".sharer [name=query]"), chromedp.Focus(".sharer [name=query]"), chromedp.KeyEvent("quinces medlars warm wall brown"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=price]"))
	sell.accessible("sell")
	sell.do(chromedp.Focus("[name=title]"), chromedp.KeyEvent("Forgotten <b>fruit</b>"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("What to do with quinces."),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Garden"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Medlars <i>want</i> patience."),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("3.00 EUR"))
	sell.shoot("sell")
	sell.do(chromedp.Click(".sharer summary"), chromedp.SendKeys("[name=market]", at), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("[name=times]"), chromedp.Click(".sharer form .solid"), chromedp.WaitVisible(".two-views tbody tr"))
	sell.says("nobody can take that back")
	sell.accessible("sell-look")
	sell.do(chromedp.ScrollIntoView(".sharer > footer"))
	sell.shoot("sell-look")
	sell.do(chromedp.Focus(".sharer > footer .solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".market .rows li"))
	sell.says("It is for sale.")
	sell.until(`new URLSearchParams(location.search).get("market") === ` + quoted(at))

	b := openAt(t, plain, linkOf(t, own).URL)
	b.palette("the market")
	b.says("no relay whose market it could use")
	b.shoot("shop-none")
	b.do(chromedp.WaitVisible("[name=market]"), chromedp.SendKeys("[name=market]", at), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".offers li a"))
	b.do(chromedp.Focus("[name=q]"), chromedp.KeyEvent("fruit"), chromedp.KeyEvent(kb.Enter))
	b.until(`location.search.includes("q=fruit") && document.querySelector(".offers li a")`)
	b.do(chromedp.Click(".facets .chip"))
	b.until(`document.querySelector(".facets .chip[aria-pressed=true]") && document.querySelectorAll(".offers li").length === 1`)
	b.settled()
	b.accessible("shop")
	b.shoot("shop")
	b.do(chromedp.Focus(".offers li a"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".offer blockquote"))
	b.says("personal use, not to be passed on")
	b.settled()
	b.accessible("offer")
	b.shoot("offer")
	listing := js[string](b, "location.pathname")

	b.do(chromedp.Focus("[data-act=buy]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog [name=voucher]"))
	b.says("nobody can get it back for you")
	b.accessible("buy")
	b.shoot("buy")
	b.do(chromedp.SendKeys("dialog [name=voucher]", vouchers[0]), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".order .next"))
	b.says("The seller delivers it")
	first := strings.TrimPrefix(js[string](b, "location.pathname"), "/market/order/")
	if _, err := seller.Sales(t.Context()); err != nil { // the node does this by itself each minute
		t.Fatal(err)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(".came li"))
	b.says("Medlars are eaten when they are brown.")
	b.settled()
	b.accessible("order")
	b.shoot("order")
	b.do(chromedp.Focus(".next .solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .solid"))
	b.says("You can't get that back.")
	b.do(chromedp.Focus("dialog .solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent("dialog"))
	b.says("The seller is paid. You can review it.")
	b.do(chromedp.Click(".next .actions button"), chromedp.WaitVisible("dialog [name=text]"), chromedp.SendKeys("dialog [name=text]", "True of medlars."), chromedp.Click("dialog .solid"), chromedp.WaitNotPresent("dialog"))
	b.says("Your review is published.")
	b.until(`![...document.querySelectorAll(".next .actions button")].some(x => x.innerText === "Write a review")`)
	b.do(chromedp.Click(`.next a[href^="/market/"]`), chromedp.WaitVisible(".offer .rows li"))
	b.says("True of medlars.")
	b.says("Locket could not check these reviews") // the market has not published its log
	b.until(`!document.querySelector(".offer .rows .badge")`)
	if _, err := market.log.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(".offer .rows .badge"))
	b.until(`document.querySelector(".offer .rows .badge").textContent === "checked" && !document.body.innerText.includes("could not check")`)
	b.settled()
	b.accessible("reviews")

	// By mouse: the second is paid from the rest of the voucher, and disputed.
	b.press("[data-act=buy]")
	b.do(chromedp.WaitVisible("dialog [value=funds]:checked"))
	b.says("3.00 EUR")
	b.do(chromedp.Click("dialog .solid"), chromedp.WaitVisible(".order .next"))
	if _, err := seller.Sales(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(".next .danger"))
	b.press(".next .danger")
	b.do(chromedp.WaitVisible("dialog [name=reason]"))
	b.accessible("dispute")
	b.do(chromedp.SendKeys("dialog [name=reason]", "It is of pears."), chromedp.Click("dialog .solid"), chromedp.WaitNotPresent("dialog"))
	b.says("The arbiter decides")

	// An invalid voucher leaves an unpaid order, which is cancelled.
	b.visit(listing+"?market="+url.QueryEscape(at), "[data-act=buy]")
	b.press("[data-act=buy]")
	b.do(chromedp.WaitVisible("dialog [name=voucher]"), chromedp.SendKeys("dialog [name=voucher]", "AAAAA-BBBBB"), chromedp.Click("dialog .solid"), chromedp.WaitVisible(".order .next .danger"))
	b.says("Pay or cancel it.")
	b.shoot("order-unpaid")
	b.press(".next .danger")
	b.press("dialog .danger")
	b.do(chromedp.WaitNotPresent("dialog"))
	b.says("It was never paid")

	// By card, nothing is paid before the provider confirms it, and its page is never taken from a link.
	b.visit(listing+"?market="+url.QueryEscape(at), "[data-act=buy]")
	b.press("[data-act=buy]")
	b.do(chromedp.WaitVisible("dialog [value=card]"), chromedp.Click("dialog [value=card]"), chromedp.Click("dialog .solid"), chromedp.WaitVisible(`.next a[href^="https://checkout.stripe.com/"]`))
	b.settled()
	b.shoot("order-card")
	if js[bool](b, `document.body.innerText.includes("Now the seller has to deliver")`) {
		t.Error("the page says that the order is paid before the market was told")
	}
	b.visit(js[string](b, "location.pathname")+"?page="+url.QueryEscape("https://stranger.example/"), ".next .solid")
	b.settled()
	if js[bool](b, `document.documentElement.outerHTML.includes("stranger.example")`) {
		t.Error("the page leads to where a link says")
	}
	b.do(chromedp.Click(".next [value=card]"), chromedp.Click(".next form .solid"), chromedp.WaitVisible(`.next a[href^="https://checkout.stripe.com/"]`))
	b.press(".next .danger")
	b.press("dialog .danger")
	b.do(chromedp.WaitNotPresent("dialog"))
	b.says("It was never paid")

	// The seller withdraws the earnings from the market where they were made.
	sell.press("[data-act=payout]")
	sell.until(`document.querySelector(".market .earned")?.innerText.includes("EUR")`)
	sell.do(chromedp.WaitVisible(".market [name=amount]"), chromedp.SendKeys(".market [name=amount]", "3.00 EUR"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".market code"))

	log := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, shop).URL)
	log.visit("/sharing", ".policy")
	log.until(`/买家 [0-9a-f]{8}/.test(document.body.innerText)`)

	// A voucher is paid in, and the money withdrawn again.
	b.visit("/market?market="+url.QueryEscape(at), ".purse summary")
	b.press(".purse summary") // content that loads above it would move it away from the mouse
	b.do(chromedp.WaitVisible(".purse [name=voucher]"), chromedp.SendKeys(".purse [name=voucher]", vouchers[1]), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".purse .sum")?.innerText.includes("6.00 EUR")`)
	b.press(".purse details:nth-of-type(2) summary")
	b.do(chromedp.WaitVisible(".purse [name=amount]"), chromedp.SendKeys(".purse [name=amount]", "6.00 EUR"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".purse code"))
	b.settled()
	b.accessible("market-orders")
	b.do(chromedp.ScrollIntoView(".orders"))
	b.shoot("orders")

	out, err := command(own, "--json", "market", "orders", "--offline")
	if err != nil {
		t.Fatal(err)
	}
	var phases []trade.Phase
	for line := range strings.Lines(out) {
		var o serve.Purchase
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err, line)
		}
		phases = append(phases, o.Phase)
	}
	slices.Sort(phases)
	if !slices.Equal(phases, []trade.Phase{trade.Accepted, trade.Disputed, trade.Expired, trade.Expired}) {
		t.Errorf("the orders are %q", phases)
	}
	if g, err := bought.GivenShares(t.Context()); err != nil || len(g) == 0 {
		t.Errorf("what was bought answers in no search: %+v, %v", g, err)
	}

	// A listing with periods says so.
	sell.visit("/market/sell", ".sharer [name=query]")
	sell.do(chromedp.SendKeys(".sharer [name=query]", "quinces warm wall"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=price]"),
		chromedp.SendKeys("[name=title]", "Fruit each month"), chromedp.SendKeys("[name=categories]", "garden"), chromedp.SendKeys("[name=sample]", "Pears."), chromedp.SendKeys("[name=price]", "1.00 EUR"),
		chromedp.Click(".sharer summary"), chromedp.SendKeys("[name=market]", at), chromedp.Focus("[name=every]"), chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)), chromedp.KeyEvent("30"))
	sell.until(`document.querySelector("[name=every]").value === "30"`)
	sell.says("without showing it to you first")
	sell.shoot("sell-every")
	sell.do(chromedp.Focus("[name=price]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=times]"), chromedp.Click(".sharer form .solid"), chromedp.WaitVisible(".two-views tbody tr"))
	sell.press(".sharer > footer .solid")
	sell.says("It is for sale.")
	b.visit("/market?market="+url.QueryEscape(at)+"&q=month", ".offers li a")
	b.says("30 days per period")
	b.press(".offers li a")
	b.do(chromedp.WaitVisible(".offer .subscription"))
	b.do(chromedp.WaitVisible("[data-act=subscribe]"))
	b.accessible("subscription")
	b.shoot("subscription")

	for _, l := range []look{{"zh-CN", 360, 740, true}, {"en-GB", 360, 740, false}, {"zh-CN", 1440, 1000, true}} {
		phone := openAt(t, l, linkOf(t, own).URL)
		for _, p := range []struct{ name, path, until string }{
			{"shop", "/market?market=" + url.QueryEscape(at), ".offers li"}, {"offer", listing + "?market=" + url.QueryEscape(at), ".offer blockquote"}, {"order", "/market/order/" + first, ".came li"}} {
			phone.visit(p.path, p.until)
			phone.settled()
			phone.fits(p.name)
			phone.accessible(p.name)
			phone.shoot(p.name + "-" + l.String())
		}
	}
	for _, bad := range []string{hostile, strings.Repeat("W", 30000)} {
		evil := openAt(t, look{"en-GB", 360, 740, false}, linkOf(t, own).URL)
		evil.spoil(bad, []string{"title", "description", "sample", "text", "why", "reason", "licence", "terms", "categories", "languages", "redaction", "value", "market", "seller", "by", "broken"})
		for _, path := range []string{"/market?market=" + url.QueryEscape(at), listing + "?market=" + url.QueryEscape(at), "/market/order/" + first} {
			evil.visit(path, "main .panel")
			evil.settled()
			evil.harmless(path)
		}
	}
}

// A listing gets a next version on the page, filled in from the current one. Its order id, its
// market and its buyers stay.
func TestNextVersion(t *testing.T) {
	market := startMarket(t, marketHow{})
	shop, seller := ownHome(t)
	first := publish(t, shop, seller, market.url, "Forgotten <b>fruit</b>", "--licence", "to cook by")
	infer := false
	if _, err := seller.Add(t.Context(), serve.AddRequest{Text: "Quinces want a warm wall.", Infer: &infer, Tags: []string{"fruit"}}); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, shop).URL)
	b.visit("/market", `.market a[href*="replaces="]`)
	b.settled()
	b.press(`.market a[href*="replaces="]`)
	b.do(chromedp.WaitVisible(".sharer [name=query]"), chromedp.SendKeys(".sharer [name=query]", "quinces medlars warm wall brown"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=price]"))
	b.says("This is the next version.")
	if got := js[string](b, `["title", "categories", "languages", "sample", "price", "licence"].map(n => document.querySelector("[name=" + n + "]").value).join("|")`); got != "Forgotten <b>fruit</b>|garden|en|Pears.|2.00 EUR|to cook by" {
		t.Error(got)
	}
	if js[bool](b, `!!document.querySelector("[name=market], [name=every]")`) {
		t.Error("the next version asks where it is sold, or how often")
	}
	b.settled()
	b.accessible("next version")
	b.shoot("next-version")
	b.do(chromedp.Evaluate(`document.querySelector("[name=price]").select()`, nil), chromedp.SendKeys("[name=price]", "4.00 EUR"), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("[name=times]"), chromedp.Click(".sharer form .solid"), chromedp.WaitVisible(".two-views tbody tr"))
	b.press(".sharer > footer .solid")
	b.says("It is for sale.")
	b.says("version 2")
	looks(t, shop, "own-listing", "/market", `.market a[href*="replaces="]`, nil)
	list, err := seller.Listings(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != first.ID || list[0].Number != 2 || list[0].Price != "4.00 EUR" || list[0].Items != 2 || list[0].Market != market.url {
		t.Errorf("%+v, %v", list, err)
	}
	b.visit("/market/sell?replaces=0000", ".empty")
}

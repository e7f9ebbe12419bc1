package console

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// A buyer asks and pays for a question on the page of a listing that sells answers. The seller
// sees the question with the proposed answer and sends it; the buyer reads the answer.
func TestAskASeller(t *testing.T) {
	market := startMarket(t, marketHow{})
	shop, seller := ownHome(t)
	own, _ := ownHome(t)
	infer := false
	for _, text := range []string{"Quinces want a warm wall.", "Medlars are eaten when they are brown."} {
		if _, err := seller.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer, Tags: []string{"fruit"}}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := seller.PublishListing(t.Context(), serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"fruit"}}, Market: market.url, Title: "Ask about fruit", Categories: []string{"garden"}, Languages: []string{"en"},
		Price: "0.50 EUR", Approve: true, Answers: &serve.ListingAnswers{Each: 50, All: 100}})
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, own).URL)
	b.palette("the market")
	b.do(chromedp.WaitVisible("[name=market]"), chromedp.SendKeys("[name=market]", market.url), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".offers li a"))
	b.do(chromedp.Click(".offers li a"), chromedp.WaitVisible("[data-act=buy]"))
	b.says("It sells answers, not a copy.")
	b.says("show you at most 1 of its memories, and all buyers at most 2")
	b.press("[data-act=buy]")
	b.do(chromedp.WaitVisible("dialog [name=question]"), chromedp.SendKeys("dialog [name=question]", "when are medlars eaten?"), chromedp.WaitVisible("dialog [name=voucher]"))
	b.settled()
	b.accessible("ask-seller")
	b.shoot("ask-seller")
	b.do(chromedp.SendKeys("dialog [name=voucher]", market.vouchers[0]), chromedp.Click("dialog .solid"), chromedp.WaitVisible(".order .next"))
	b.says("The seller delivers it")

	sell := openAt(t, plain, linkOf(t, shop).URL)
	sell.visit("/market?market="+url.QueryEscape(market.url), "[data-act=sales]")
	sell.press("[data-act=sales]")
	sell.says("when are medlars eaten?")
	sell.says("Medlars are eaten when they are brown.")
	if sales, err := seller.Sales(t.Context()); err != nil || len(sales) != 1 || !sales[0].Waits || sales[0].Listing != l.ID {
		t.Fatalf("%+v, %v", sales, err)
	} else if _, err := seller.SettleSale(t.Context(), serve.SaleRequest{Order: sales[0].Order.String(), Act: serve.DeliverSale}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(".came li"))
	b.says("Medlars are eaten when they are brown.")
	b.says("It replies to your question")
	if js[bool](b, `document.body.innerText.includes("Quinces") || !!document.querySelector("[data-act=car]")`) {
		t.Error("the order shows more than its answer")
	}
}

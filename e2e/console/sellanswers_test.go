package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// Answers are listed from the console, with the limits that the seller chose there.
func TestSellAnswers(t *testing.T) {
	market := startMarket(t, marketHow{})
	shop, seller := ownHome(t)
	infer := false
	for i := range 10 {
		if _, err := seller.Add(t.Context(), serve.AddRequest{Text: fmt.Sprintf("Quinces of tree %d want a warm wall.", i+20), Infer: &infer, Tags: []string{"fruit"}}); err != nil {
			t.Fatal(err)
		}
	}
	b := openAt(t, plain, linkOf(t, shop).URL)
	b.palette("sell something")
	b.do(chromedp.WaitVisible(".sharer [name=query]"), chromedp.Focus(".sharer [name=query]"), chromedp.KeyEvent("quinces tree warm wall"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=price]"),
		chromedp.SendKeys("[name=title]", "Ask about quinces"), chromedp.SendKeys("[name=categories]", "garden"), chromedp.SendKeys("[name=price]", "0.20 EUR"),
		chromedp.Focus("[name=answers]"), chromedp.KeyEvent(" "), chromedp.WaitVisible("[name=each]"), chromedp.Focus("[name=each]"), chromedp.KeyEvent(strings.Repeat(kb.ArrowUp, 10)))
	b.accessible("sell-answers")
	b.do(chromedp.Click(".sharer summary"), chromedp.WaitVisible("[name=market]"), chromedp.WaitNotPresent("[name=every]"), chromedp.SendKeys("[name=market]", market.url), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("[name=times]"), chromedp.Click(".sharer form .solid"), chromedp.WaitVisible(".two-views tbody tr"))
	b.do(chromedp.Focus(".sharer > footer .solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".market .rows li"))
	list, err := seller.Listings(t.Context())
	if err != nil || len(list) != 1 || list[0].Answers == nil || list[0].Marks != 0 || list[0].Answers.Each != list[0].Items*20/100 || list[0].Answers.All != list[0].Items/2 {
		t.Errorf("%+v, %v", list, err)
	}
}
